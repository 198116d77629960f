"""Standard-input problems about things that are connected: friends, roads, families, tasks."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "most_friends",
        "easy",
        """
        Read n and m on one line (1 <= n <= 100, 0 <= m <= 1000), then m lines with two different people, each a
        number from 1 to n, who are friends. A friendship may be listed twice, also the other way round. Print the
        person with the most friends; of several, the smallest number.
        """,
        """
        3 2|1 2|2 3 => 2
        2 0 => 1
        4 3|4 1|4 2|4 3 => 4
        3 3|1 2|2 3|3 1 => 1
        4 3|3 4|3 4|1 2 => 1
        5 4|5 4|5 3|2 1|2 3 => 2
        3 3|2 3|3 2|1 3 => 3
        4 4|1 2|2 1|1 2|3 4 => 1
        5 5|1 2|1 2|1 2|4 3|4 5 => 4
        3 1|3 2 => 2
        """,
        reference="""
        n, m = map(int, input().split())
        friends = [set() for _ in range(n + 1)]
        for _ in range(m):
            a, b = map(int, input().split())
            friends[a].add(b)
            friends[b].add(a)
        print(max(range(1, n + 1), key=lambda person: len(friends[person])))
        """,
        partial=[
            """
            n, m = map(int, input().split())
            count = [0] * (n + 1)
            for _ in range(m):
                a, b = map(int, input().split())
                count[a] += 1
                count[b] += 1
            print(count.index(max(count[1:]), 1))
            """,
            """
            n, m = map(int, input().split())
            friends = {}
            for _ in range(m):
                a, b = map(int, input().split())
                friends.setdefault(a, set()).add(b)
            print(max(friends, key=lambda person: len(friends[person])))
            """,
            """
            n, m = map(int, input().split())
            friends = {person: set() for person in range(1, n + 1)}
            for _ in range(m):
                a, b = map(int, input().split())
                friends[a].add(b)
                friends[b].add(a)
            print(max((len(found), person) for person, found in friends.items())[1])
            """,
        ],
    ),
    stdin_entry(
        "regions",
        "medium",
        """
        Read n and m on one line (1 <= n <= 1000, 0 <= m <= 5000), then m lines with two of the places 1 to n that a
        road connects; both may be the same place. Places that roads connect, over others or not, form a region. Print
        the number of regions and the number of places of the largest.
        """,
        """
        4 2|1 2|3 4 => 2 2
        3 0 => 3 1
        1 0 => 1 1
        5 4|1 2|2 3|3 4|4 5 => 1 5
        4 3|1 2|3 4|2 3 => 1 4
        3 3|1 2|2 3|1 3 => 1 3
        3 1|2 2 => 3 1
        6 3|4 5|6 5|1 2 => 3 3
        5 3|5 1|4 1|2 3 => 2 3
        4 3|1 2|1 2|2 1 => 3 2
        """,
        reference="""
        n, m = map(int, input().split())
        near = [[] for _ in range(n + 1)]
        for _ in range(m):
            a, b = map(int, input().split())
            near[a].append(b)
            near[b].append(a)
        seen, sizes = set(), []
        for place in range(1, n + 1):
            if place not in seen:
                seen.add(place)
                region = [place]
                for p in region:
                    for q in near[p]:
                        if q not in seen:
                            seen.add(q)
                            region.append(q)
                sizes.append(len(region))
        print(len(sizes), max(sizes))
        """,
        partial=[
            """
            n, m = map(int, input().split())
            degree = [1] * (n + 1)
            regions = n
            for _ in range(m):
                a, b = map(int, input().split())
                degree[a] += 1
                degree[b] += 1
                regions -= 1
            print(regions, max(degree[1:]))
            """,
            """
            n, m = map(int, input().split())
            regions = []
            for _ in range(m):
                a, b = map(int, input().split())
                for region in regions:
                    if a in region or b in region:
                        region |= {a, b}
                        break
                else:
                    regions.append({a, b})
            print(len(regions), max(map(len, regions)))
            """,
            """
            n, m = map(int, input().split())
            label = list(range(n + 1))
            for _ in range(m):
                a, b = map(int, input().split())
                label[b] = label[a]
            counts = [label[1:].count(x) for x in set(label[1:])]
            print(len(counts), max(counts))
            """,
        ],
    ),
    stdin_entry(
        "cheapest_route",
        "hard",
        """
        Read n and m on one line (1 <= n <= 1000, 0 <= m <= 5000), then m lines a b c: a one-way road from place a to
        place b (1 to n) that costs c (0 <= c <= 1000). Print the lowest cost of a way from place 1 to place n, or
        none if there is no way.
        """,
        """
        3 3|1 2 4|2 3 1|1 3 9 => 5
        1 0 => 0
        2 0 => none
        2 1|2 1 3 => none
        2 2|1 2 7|1 2 5 => 5
        4 4|1 2 1|2 4 10|1 3 5|3 4 2 => 7
        3 3|1 2 2|2 1 2|2 3 0 => 2
        4 3|3 4 1|2 3 1|1 2 1 => 3
        3 2|1 3 6|3 2 1 => 6
        4 5|2 4 1|1 4 10|3 2 1|1 3 1|3 4 8 => 3
        5 4|5 1 1|1 2 2|2 3 2|3 2 1 => none
        """,
        reference="""
        from heapq import heappop, heappush

        n, m = map(int, input().split())
        roads = [[] for _ in range(n + 1)]
        for _ in range(m):
            a, b, c = map(int, input().split())
            roads[a].append((b, c))
        queue, done = [(0, 1)], {}
        while queue:
            cost, place = heappop(queue)
            if place not in done:
                done[place] = cost
                for following, extra in roads[place]:
                    heappush(queue, (cost + extra, following))
        print(done.get(n, "none"))
        """,
        partial=[
            """
            n, m = map(int, input().split())
            cost = {1: 0}
            for _ in range(m):
                a, b, c = map(int, input().split())
                if a in cost and cost[a] + c < cost.get(b, 10**9):
                    cost[b] = cost[a] + c
            print(cost.get(n, "none"))
            """,
            """
            n, m = map(int, input().split())
            roads = {}
            for _ in range(m):
                a, b, c = map(int, input().split())
                roads.setdefault(a, []).append((b, c))
                roads.setdefault(b, []).append((a, c))
            cost, queue = {1: 0}, [1]
            for place in queue:
                for following, extra in roads.get(place, []):
                    if cost[place] + extra < cost.get(following, 10**9):
                        cost[following] = cost[place] + extra
                        queue.append(following)
            print(cost.get(n, "none"))
            """,
            """
            n, m = map(int, input().split())
            roads = {}
            for _ in range(m):
                a, b, c = map(int, input().split())
                roads.setdefault(a, []).append((c, b))
            place, total, seen = 1, 0, {1}
            while place != n:
                ways = [(c, b) for c, b in roads.get(place, []) if b not in seen]
                if not ways:
                    total = "none"
                    break
                c, place = min(ways)
                seen.add(place)
                total += c
            print(total)
            """,
        ],
    ),
)
