"""Standard-input problems about intervals of time or of a line."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "overlap_length",
        "easy",
        """
        Read four whole numbers a b c d on one line with a <= b and c <= d. Print the length that the stretches from a
        to b and from c to d of a line have in common, 0 if they only touch or lie apart.
        """,
        """
        1 5 3 9 => 2
        1 2 3 4 => 0
        0 10 2 4 => 2
        2 4 0 10 => 2
        1 3 3 5 => 0
        5 9 1 6 => 1
        -5 -1 -3 2 => 2
        4 4 1 9 => 0
        7 8 1 2 => 0
        0 6 0 6 => 6
        """,
        reference="""
        a, b, c, d = map(int, input().split())
        print(max(0, min(b, d) - max(a, c)))
        """,
        partial=[
            """
            a, b, c, d = map(int, input().split())
            print(min(b, d) - max(a, c))
            """,
            """
            a, b, c, d = map(int, input().split())
            print(max(0, b - c))
            """,
            """
            a, b, c, d = map(int, input().split())
            print(len(set(range(a, b + 1)) & set(range(c, d + 1))))
            """,
        ],
    ),
    stdin_entry(
        "merge_spans",
        "medium",
        """
        Read n (0 <= n <= 1000), then n lines with two whole numbers, start and end, start <= end. Merge spans that
        overlap or touch and print the merged spans in order, one a line. Print nothing if n is 0.
        """,
        """
        3|1 3|2 6|8 9 => 1 6|8 9
        0 =>
        1|4 4 => 4 4
        2|1 4|4 5 => 1 5
        2|1 9|2 3 => 1 9
        2|8 9|1 2 => 1 2|8 9
        3|1 10|2 3|5 12 => 1 12
        2|-4 -2|-3 0 => -4 0
        2|3 5|3 5 => 3 5
        2|1 2|3 4 => 1 2|3 4
        3|10 11|9 10|1 1 => 1 1|9 11
        """,
        reference="""
        spans = sorted(list(map(int, input().split())) for _ in range(int(input())))
        merged = []
        for start, end in spans:
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        for start, end in merged:
            print(start, end)
        """,
        partial=[
            """
            spans = sorted(list(map(int, input().split())) for _ in range(int(input())))
            merged = []
            for start, end in spans:
                if merged and start < merged[-1][1]:
                    merged[-1][1] = end
                else:
                    merged.append([start, end])
            for start, end in merged:
                print(start, end)
            """,
            """
            merged = []
            for _ in range(int(input())):
                start, end = map(int, input().split())
                if merged and start <= merged[-1][1]:
                    merged[-1][1] = max(merged[-1][1], end)
                else:
                    merged.append([start, end])
            for start, end in merged:
                print(start, end)
            """,
            """
            spans = sorted(list(map(int, input().split())) for _ in range(int(input())))
            covered = sorted({x for start, end in spans for x in range(start, end + 1)})
            start = last = covered[0]
            for x in covered[1:] + [10**9]:
                if x > last + 1:
                    print(start, last)
                    start = x
                last = x
            """,
        ],
    ),
    stdin_entry(
        "rooms_needed",
        "hard",
        """
        Read n (0 <= n <= 100000), then n lines with the start and the end of a lesson, start < end. A room is free
        again at the moment at which a lesson in it ends. Print the fewest rooms that are enough, and the earliest
        time at which that many are in use; if n is 0 print 0.
        """,
        """
        3|1 4|2 5|6 8 => 2 2
        1|3 7 => 1 3
        0 => 0
        2|1 4|4 6 => 1 1
        3|1 9|2 9|3 9 => 3 3
        3|5 6|1 2|3 4 => 1 1
        4|1 3|2 4|3 5|4 6 => 2 2
        3|1 2|1 2|8 9 => 2 1
        3|1 10|2 3|4 5 => 2 2
        4|0 2|1 3|5 9|2 4 => 2 1
        """,
        reference="""
        events = []
        for _ in range(int(input())):
            start, end = map(int, input().split())
            events += [(start, 1), (end, -1)]
        used = most = 0
        when = None
        for time, change in sorted(events):
            used += change
            if used > most:
                most, when = used, time
        print(most) if when is None else print(most, when)
        """,
        partial=[
            """
            events = []
            for _ in range(int(input())):
                start, end = map(int, input().split())
                events += [(start, 0), (end, 1)]
            used = most = when = 0
            for time, kind in sorted(events):
                used += 1 if kind == 0 else -1
                if used > most:
                    most, when = used, time
            print(most, when)
            """,
            """
            lessons = sorted(tuple(map(int, input().split())) for _ in range(int(input())))
            most, when = 0, 0
            for i, (start, end) in enumerate(lessons):
                used = 1 + sum(s <= start < e for s, e in lessons[:i])
                if used >= most:
                    most, when = used, start
            print(most, when) if lessons else print(0)
            """,
            """
            lessons = sorted(tuple(map(int, input().split())) for _ in range(int(input())))
            most = 1
            when = lessons[0][0]
            for (_, end), (start, _) in zip(lessons, lessons[1:]):
                if start < end and most == 1:
                    most, when = 2, start
            print(most, when)
            """,
        ],
    ),
)
