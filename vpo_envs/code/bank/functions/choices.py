"""Function problems about counting ways and choosing the best."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "best_pair",
        "easy",
        "best_pair(prices: list[int], budget: int) -> int",
        """
        Return the largest sum of the prices of two different articles (two places in the list) that is not above the
        budget, or -1 if no two fit. Prices are at least 0.
        """,
        """
        [5, 8, 3], 12 => 11
        [5, 8], 13 => 13
        [], 10 => -1
        [4], 8 => -1
        [4, 4], 8 => 8
        [9, 9], 10 => -1
        [1, 2, 10], 10 => 3
        [0, 0], 0 => 0
        [6, 5, 4, 1], 9 => 9
        [7, 2, 6], 8 => 8
        [3, 5, 4], 20 => 9
        """,
        reference="""
        from itertools import combinations

        def best_pair(prices, budget):
            return max((a + b for a, b in combinations(prices, 2) if a + b <= budget), default=-1)
        """,
        partial=[
            """
            def best_pair(prices, budget):
                best = -1
                for a in prices:
                    for b in prices:
                        if a != b and a + b <= budget:
                            best = max(best, a + b)
                return best
            """,
            """
            def best_pair(prices, budget):
                first, second = sorted(prices)[-2:]
                return first + second if first + second <= budget else -1
            """,
            """
            def best_pair(prices, budget):
                sums = [a + b for i, a in enumerate(prices) for b in prices[i:] if a + b < budget]
                return max(sums) if sums else -1
            """,
        ],
    ),
    call_entry(
        "paths",
        "medium",
        "paths(board: list[str]) -> int",
        """
        A board of equally long rows has free cells (.) and blocked ones (#). Return in how many ways one gets from
        the upper left to the lower right cell when each step goes right or down. If either of the two is blocked, or
        there is no cell, there is no way.
        """,
        """
        ['..', '..'] => 2
        ['...', '.#.', '...'] => 2
        [] => 0
        ['.'] => 1
        ['#'] => 0
        ['....'] => 1
        ['..', '.#'] => 0
        ['...', '...', '...'] => 6
        ['.#.', '...'] => 1
        ['#.', '..'] => 0
        ['.#', '#.'] => 0
        ['..#', '...', '#..'] => 4
        """,
        reference="""
        def paths(board):
            if not board:
                return 0
            ways = [1] + [0] * (len(board[0]) - 1)
            for row in board:
                for x, cell in enumerate(row):
                    ways[x] = 0 if cell == "#" else ways[x] + (ways[x - 1] if x else 0)
            return ways[-1]
        """,
        partial=[
            """
            from math import comb

            def paths(board):
                return comb(len(board) + len(board[0]) - 2, len(board) - 1)
            """,
            """
            def paths(board):
                height, width = len(board), len(board[0])
                ways = [[1] * width for _ in range(height)]
                for y in range(1, height):
                    for x in range(1, width):
                        ways[y][x] = 0 if board[y][x] == "#" else ways[y - 1][x] + ways[y][x - 1]
                return ways[-1][-1]
            """,
            """
            def paths(board):
                def ways(y, x):
                    if y == 0 and x == 0:
                        return 1
                    if y < 0 or x < 0 or board[y][x] == "#":
                        return 0
                    return ways(y - 1, x) + ways(y, x - 1)

                return ways(len(board) - 1, len(board[0]) - 1) if board else 0
            """,
        ],
    ),
    call_entry(
        "edit_steps",
        "hard",
        "edit_steps(first: str, second: str) -> int",
        """
        Return the fewest steps that turn the first text into the second, where a step inserts a character, deletes
        one, replaces one by another, or exchanges two neighbours of the first text. Characters that are exchanged
        take part in no other step and are neighbours in the second text too.
        """,
        """
        'cat', 'cut' => 1
        'ab', 'ba' => 1
        '', '' => 0
        '', 'abc' => 3
        'same', 'same' => 0
        'abc', 'abcd' => 1
        'kitten', 'sitting' => 3
        'abcd', 'badc' => 2
        'xay', 'ay' => 1
        'ca', 'abc' => 3
        'flaw', 'lawn' => 2
        'abc', 'cba' => 2
        """,
        reference="""
        def edit_steps(first, second):
            cost = {}
            for i in range(len(first) + 1):
                for j in range(len(second) + 1):
                    ways = [0] if i == j == 0 else []
                    if i:
                        ways.append(cost[i - 1, j] + 1)
                    if j:
                        ways.append(cost[i, j - 1] + 1)
                    if i and j:
                        ways.append(cost[i - 1, j - 1] + (first[i - 1] != second[j - 1]))
                    if i > 1 and j > 1 and first[i - 1] == second[j - 2] and first[i - 2] == second[j - 1]:
                        ways.append(cost[i - 2, j - 2] + 1)
                    cost[i, j] = min(ways)
            return cost[len(first), len(second)]
        """,
        partial=[
            """
            def edit_steps(first, second):
                row = list(range(len(second) + 1))
                for i, a in enumerate(first, start=1):
                    above, row = row, [i]
                    for j, b in enumerate(second, start=1):
                        row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
                return row[-1]
            """,
            """
            def edit_steps(first, second):
                different = sum(a != b for a, b in zip(first, second))
                return different + abs(len(first) - len(second))
            """,
            """
            def edit_steps(first, second):
                if not first or not second:
                    return len(first) + len(second)
                if first[0] == second[0]:
                    return edit_steps(first[1:], second[1:])
                if first[:2] == second[1::-1]:
                    return 1 + edit_steps(first[2:], second[2:])
                return 1 + min(edit_steps(first[1:], second), edit_steps(first, second[1:]))
            """,
        ],
    ),
)
