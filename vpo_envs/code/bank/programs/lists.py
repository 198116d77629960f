"""Standard-input problems about lists of numbers."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "second_largest",
        "easy",
        """
        Read whole numbers on one line, at least one. Print the second largest value among the different values, or
        none if all numbers are equal.
        """,
        """
        3 9 4 => 4
        5 5 2 => 2
        7 => none
        4 4 4 => none
        1 2 => 1
        -5 -2 -9 => -5
        8 1 8 3 => 3
        -1 0 => -1
        10 9 10 9 => 9
        0 0 -4 => -4
        """,
        reference="""
        values = sorted(set(map(int, input().split())))
        print(values[-2] if len(values) > 1 else "none")
        """,
        partial=[
            """
            values = sorted(map(int, input().split()))
            print(values[-2] if len(values) > 1 else "none")
            """,
            """
            first = second = 0
            for value in map(int, input().split()):
                if value > first:
                    first, second = value, first
                elif first > value > second:
                    second = value
            print(second)
            """,
            """
            values = sorted(set(input().split()))
            print(values[-2] if len(values) > 1 else "none")
            """,
        ],
    ),
    stdin_entry(
        "longest_climb",
        "medium",
        """
        Read n on the first line (0 <= n <= 100000) and n whole numbers on the second. Print the length of the longest
        stretch of neighbouring numbers in which each is greater than the one before it.
        """,
        """
        5|1 2 2 3 4 => 3
        0| => 0
        1|7 => 1
        3|3 2 1 => 1
        4|1 2 3 4 => 4
        6|5 6 1 2 3 0 => 3
        4|2 2 2 2 => 1
        5|-3 -2 -1 0 -5 => 4
        6|9 1 2 8 3 4 => 3
        3|1 1 2 => 2
        """,
        reference="""
        n = int(input())
        numbers = list(map(int, input().split())) if n else []
        best = length = 0
        for i, number in enumerate(numbers):
            length = length + 1 if i and number > numbers[i - 1] else 1
            best = max(best, length)
        print(best)
        """,
        partial=[
            """
            n = int(input())
            numbers = list(map(int, input().split()))
            best = length = 1
            for a, b in zip(numbers, numbers[1:]):
                length = length + 1 if b >= a else 1
                best = max(best, length)
            print(best)
            """,
            """
            n = int(input())
            numbers = list(map(int, input().split()))
            best, length = 0, 1
            for a, b in zip(numbers, numbers[1:]):
                if b > a:
                    length += 1
                else:
                    best = max(best, length)
                    length = 1
            print(best)
            """,
            """
            from bisect import bisect_left

            n = int(input())
            tails = []
            for number in map(int, input().split()):
                place = bisect_left(tails, number)
                tails[place:place + 1] = [number]
            print(len(tails))
            """,
        ],
    ),
    stdin_entry(
        "best_segment",
        "hard",
        """
        Read n and m on the first line (1 <= m <= n <= 100000) and n whole numbers on the second. Print the largest
        sum of a stretch of neighbouring numbers that is at least m long.
        """,
        """
        5 2|1 -2 3 4 -1 => 7
        3 1|-5 -2 -8 => -2
        3 3|1 2 3 => 6
        4 1|2 -1 2 -5 => 3
        3 2|-1 -1 -1 => -2
        4 2|9 -4 -6 1 => 5
        1 1|0 => 0
        5 3|5 -9 5 5 -9 => 6
        6 2|4 -1 4 -1 4 -9 => 10
        5 2|-3 8 -7 -7 2 => 5
        """,
        reference="""
        n, m = map(int, input().split())
        sums = [0]
        for number in map(int, input().split()):
            sums.append(sums[-1] + number)
        best, lowest = None, 0
        for stop in range(m, n + 1):
            lowest = min(lowest, sums[stop - m]) if stop > m else sums[0]
            if best is None or sums[stop] - lowest > best:
                best = sums[stop] - lowest
        print(best)
        """,
        partial=[
            """
            n, m = map(int, input().split())
            best = current = 0
            for number in map(int, input().split()):
                current = max(0, current + number)
                best = max(best, current)
            print(best)
            """,
            """
            n, m = map(int, input().split())
            numbers = list(map(int, input().split()))
            print(max(sum(numbers[i:i + m]) for i in range(n - m + 1)))
            """,
            """
            n, m = map(int, input().split())
            numbers = list(map(int, input().split()))
            best = current = numbers[0]
            for number in numbers[1:]:
                current = max(number, current + number)
                best = max(best, current)
            print(best)
            """,
        ],
    ),
)
