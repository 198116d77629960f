"""Standard-input problems about order: sorting, ties, places."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "winner",
        "easy",
        """
        Read n (1 <= n <= 100), then n lines with a name and a score (a whole number). Print the name with the highest
        score; of several, the one that comes first in the alphabet. All names are of lower-case letters.
        """,
        """
        3|bo 5|al 9|cy 7 => al
        2|zoe 4|ann 4 => ann
        1|sol 0 => sol
        2|ann 4|zoe 4 => ann
        2|a -3|b -1 => b
        3|x 10|y 9|z 8 => x
        3|kim 2|lee 2|jo 1 => kim
        2|p 100|q 20 => p
        3|mo 7|li 7|xi 3 => li
        2|c -5|d -5 => c
        """,
        reference="""
        rows = [input().split() for _ in range(int(input()))]
        print(min(rows, key=lambda row: (-int(row[1]), row[0]))[0])
        """,
        partial=[
            """
            best, winner = -1, ""
            for _ in range(int(input())):
                name, score = input().split()
                if int(score) > best:
                    best, winner = int(score), name
            print(winner)
            """,
            """
            rows = [input().split() for _ in range(int(input()))]
            print(max(rows, key=lambda row: row[1])[0])
            """,
            """
            rows = [input().split() for _ in range(int(input()))]
            print(max((int(score), name) for name, score in rows)[1])
            """,
        ],
    ),
    stdin_entry(
        "places",
        "medium",
        """
        Read whole scores on one line, at least one. The highest score has place 1, and equal scores share a place;
        the place of a score is 1 more than the number of scores above it. Print the places in the order of the
        scores, separated by spaces.
        """,
        """
        10 30 20 => 3 1 2
        5 5 => 1 1
        7 => 1
        9 9 8 => 1 1 3
        1 2 3 4 => 4 3 2 1
        8 6 8 6 5 => 1 3 1 3 5
        -1 0 -1 => 2 1 2
        100 99 9 => 1 2 3
        4 4 4 3 => 1 1 1 4
        2 1 0 => 1 2 3
        """,
        reference="""
        scores = list(map(int, input().split()))
        print(*[1 + sum(other > score for other in scores) for score in scores])
        """,
        partial=[
            """
            scores = list(map(int, input().split()))
            levels = sorted(set(scores), reverse=True)
            print(*[levels.index(score) + 1 for score in scores])
            """,
            """
            scores = list(map(int, input().split()))
            order = sorted(range(len(scores)), key=lambda i: -scores[i])
            places = [0] * len(scores)
            for place, i in enumerate(order, start=1):
                places[i] = place
            print(*places)
            """,
            """
            scores = input().split()
            order = sorted(scores, reverse=True)
            print(*[order.index(score) + 1 for score in scores])
            """,
        ],
    ),
    stdin_entry(
        "fewest_swaps",
        "hard",
        """
        Read n (1 <= n <= 2000) and, on the second line, n whole numbers. A step exchanges two neighbours. Print the
        fewest steps after which the numbers do not decrease from left to right.
        """,
        """
        3|2 3 1 => 2
        1|5 => 0
        2|2 1 => 1
        3|1 1 1 => 0
        4|4 3 2 1 => 6
        4|1 2 3 4 => 0
        4|2 2 1 1 => 4
        3|3 1 2 => 2
        5|5 1 2 3 4 => 4
        4|2 1 4 3 => 2
        3|3 2 1 => 3
        """,
        reference="""
        input()
        numbers = list(map(int, input().split()))
        print(sum(a > b for i, b in enumerate(numbers) for a in numbers[:i]))
        """,
        partial=[
            """
            input()
            numbers = list(map(int, input().split()))
            print(sum(a > b for a, b in zip(numbers, numbers[1:])))
            """,
            """
            input()
            numbers = list(map(int, input().split()))
            swaps = 0
            for i in range(len(numbers)):
                j = numbers.index(min(numbers[i:]), i)
                if j != i:
                    numbers[i], numbers[j] = numbers[j], numbers[i]
                    swaps += 1
            print(swaps)
            """,
            """
            input()
            numbers = list(map(int, input().split()))
            print(sum(a >= b for i, b in enumerate(numbers) for a in numbers[:i]))
            """,
        ],
    ),
)
