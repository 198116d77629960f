"""Standard-input problems about counting ways and choosing the best."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "stairs",
        "easy",
        """
        Read n (0 <= n <= 90). Print in how many ways n stairs can be climbed in steps of one or two stairs; the order
        of the steps matters. There is one way to climb none.
        """,
        """
        3 => 3
        0 => 1
        1 => 1
        2 => 2
        4 => 5
        5 => 8
        10 => 89
        20 => 10946
        45 => 1836311903
        80 => 37889062373143906
        90 => 4660046610375530309
        """,
        reference="""
        a, b = 1, 1
        for _ in range(int(input())):
            a, b = b, a + b
        print(a)
        """,
        partial=[
            """
            n = int(input())
            ways = [0, 1, 2]
            for i in range(3, n + 1):
                ways.append(ways[i - 1] + ways[i - 2])
            print(ways[n])
            """,
            """
            n = int(input())
            root = 5 ** 0.5
            print(round(((1 + root) / 2) ** (n + 1) / root))
            """,
            """
            n = int(input())
            a, b = 0, 1
            for _ in range(n):
                a, b = b, (a + b) % 1000000007
            print(b)
            """,
        ],
    ),
    stdin_entry(
        "fewest_coins",
        "medium",
        """
        Read an amount (0 <= amount <= 10000) on the first line and different positive coin values, at least one, on
        the second; there are enough coins of each. Print the fewest coins that make the amount, or -1 if none do.
        """,
        """
        11|1 2 5 => 3
        0|3 => 0
        3|2 => -1
        6|1 3 4 => 2
        7|5 => -1
        9|9 1 => 1
        8|4 6 => 2
        30|1 10 25 => 3
        12|2 4 => 3
        14|10 7 1 => 2
        10000|1 100 => 100
        """,
        reference="""
        amount = int(input())
        coins = list(map(int, input().split()))
        fewest = [0] + [None] * amount
        for part in range(1, amount + 1):
            ways = [fewest[part - coin] for coin in coins if coin <= part and fewest[part - coin] is not None]
            fewest[part] = min(ways) + 1 if ways else None
        print(-1 if fewest[amount] is None else fewest[amount])
        """,
        partial=[
            """
            amount = int(input())
            count = 0
            for coin in sorted(map(int, input().split()), reverse=True):
                count += amount // coin
                amount %= coin
            print(-1 if amount else count)
            """,
            """
            amount = int(input())
            coins = list(map(int, input().split()))
            fewest = [0] + [10**9] * amount
            for coin in coins:
                for part in range(amount, coin - 1, -1):
                    fewest[part] = min(fewest[part], fewest[part - coin] + 1)
            print(-1 if fewest[amount] >= 10**9 else fewest[amount])
            """,
            """
            amount = int(input())
            coins = list(map(int, input().split()))
            level, steps = {amount}, 0
            while 0 not in level and level and steps < 3:
                level = {part - coin for part in level for coin in coins if coin <= part}
                steps += 1
            print(steps if 0 in level else -1)
            """,
        ],
    ),
    stdin_entry(
        "backpack",
        "hard",
        """
        Read n and w on one line (0 <= n <= 100, 0 <= w <= 1000), then n lines with the weight and the value of a
        thing, both at least 0. Each thing is packed once or not at all. Print the highest total value whose total
        weight is at most w.
        """,
        """
        3 5|2 3|3 4|4 5 => 7
        0 9 => 0
        1 2|3 9 => 0
        1 3|3 9 => 9
        2 6|3 5|3 5 => 10
        3 10|6 10|5 7|5 7 => 14
        2 0|0 4|1 9 => 4
        1 9|3 5 => 5
        3 4|4 6|1 2|3 5 => 7
        4 8|8 9|2 3|2 3|4 4 => 10
        3 7|5 10|4 7|3 5 => 12
        """,
        reference="""
        n, w = map(int, input().split())
        best = [0] * (w + 1)
        for _ in range(n):
            weight, value = map(int, input().split())
            for room in range(w, weight - 1, -1):
                best[room] = max(best[room], best[room - weight] + value)
        print(best[w])
        """,
        partial=[
            """
            n, w = map(int, input().split())
            best = [0] * (w + 1)
            for _ in range(n):
                weight, value = map(int, input().split())
                for room in range(weight, w + 1):
                    best[room] = max(best[room], best[room - weight] + value)
            print(best[w])
            """,
            """
            n, w = map(int, input().split())
            things = [tuple(map(int, input().split())) for _ in range(n)]
            total = 0
            for weight, value in sorted(things, key=lambda thing: thing[1] / thing[0], reverse=True):
                if weight <= w:
                    w -= weight
                    total += value
            print(total)
            """,
            """
            n, w = map(int, input().split())
            things = [tuple(map(int, input().split())) for _ in range(n)]
            total = 0
            for weight, value in sorted(things, key=lambda thing: -thing[1]):
                if weight < w:
                    w -= weight
                    total += value
            print(total)
            """,
        ],
    ),
)
