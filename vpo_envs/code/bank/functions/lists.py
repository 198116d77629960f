"""Function problems about lists of numbers."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "rotate",
        "easy",
        "rotate(items: list[int], by: int) -> list[int]",
        """
        Return the list moved to the right by so many places; what falls off the end comes in at the front. A negative
        number moves it to the left. It may be larger than the list is long.
        """,
        """
        [1, 2, 3, 4], 1 => [4, 1, 2, 3]
        [1, 2, 3], -1 => [2, 3, 1]
        [1, 2, 3], 0 => [1, 2, 3]
        [], 2 => []
        [1, 2, 3], 4 => [3, 1, 2]
        [5], 3 => [5]
        [1, 2, 3, 4, 5], 2 => [4, 5, 1, 2, 3]
        [1, 2], 2 => [1, 2]
        [1, 2, 3], -5 => [3, 1, 2]
        [9, 8, 7, 6], -2 => [7, 6, 9, 8]
        """,
        reference="""
        def rotate(items, by):
            if not items:
                return []
            by %= len(items)
            return items[-by:] + items[:-by] if by else list(items)
        """,
        partial=[
            """
            def rotate(items, by):
                return items[-by:] + items[:-by]
            """,
            """
            def rotate(items, by):
                by = by % len(items)
                return items[by:] + items[:by]
            """,
            """
            def rotate(items, by):
                items = list(items)
                for _ in range(by):
                    items.insert(0, items.pop())
                return items
            """,
        ],
    ),
    call_entry(
        "flatten",
        "medium",
        "flatten(items: list, depth: int) -> list",
        """
        A list holds whole numbers and lists, which again hold numbers and lists. Return the list with its inner lists
        opened up to so many levels deep: 0 changes nothing, 1 opens the lists directly in it, and so on.
        """,
        """
        [1, [2, [3]]], 1 => [1, 2, [3]]
        [[1], [2, [3]]], 2 => [1, 2, 3]
        [], 3 => []
        [1, [2]], 0 => [1, [2]]
        [[[[4]]]], 2 => [[4]]
        [1, 2], 5 => [1, 2]
        [[], [[]]], 1 => [[]]
        [[], 1], 1 => [1]
        [[[1]], 2, [[[3]]]], 3 => [1, 2, 3]
        [[[1]], [2]], 1 => [[1], 2]
        """,
        reference="""
        def flatten(items, depth):
            out = []
            for item in items:
                if isinstance(item, list) and depth > 0:
                    out += flatten(item, depth - 1)
                else:
                    out.append(item)
            return out
        """,
        partial=[
            """
            def flatten(items, depth):
                out = []
                for item in items:
                    out += flatten(item, depth) if isinstance(item, list) else [item]
                return out
            """,
            """
            def flatten(items, depth):
                out = []
                for item in items:
                    if isinstance(item, list):
                        out += item
                    else:
                        out.append(item)
                return out
            """,
            """
            def flatten(items, depth):
                for _ in range(depth):
                    out = []
                    for item in items:
                        out += item or [item] if isinstance(item, list) else [item]
                    items = out
                return items
            """,
        ],
    ),
    call_entry(
        "next_greater",
        "hard",
        "next_greater(numbers: list[int]) -> list[int]",
        """
        Seen as a ring, the first number comes after the last. For each number return how many steps forward the
        nearest strictly greater number is, and 0 where there is none.
        """,
        """
        [1, 3, 2] => [1, 0, 2]
        [5] => [0]
        [] => []
        [2, 2] => [0, 0]
        [1, 2, 3, 4] => [1, 1, 1, 0]
        [4, 3, 2, 1] => [0, 3, 2, 1]
        [3, 1, 3] => [0, 1, 0]
        [-1, -5, -1, -2] => [0, 1, 0, 1]
        [1, 1, 2] => [2, 1, 0]
        [6, 1, 2, 5] => [0, 1, 1, 1]
        """,
        reference="""
        def next_greater(numbers):
            n, steps, waiting = len(numbers), [0] * len(numbers), []
            for place in range(2 * n):
                while waiting and numbers[waiting[-1] % n] < numbers[place % n]:
                    first = waiting.pop()
                    if first < n:
                        steps[first] = place - first
                waiting.append(place)
            return steps
        """,
        partial=[
            """
            def next_greater(numbers):
                steps = []
                for i, number in enumerate(numbers):
                    later = [j - i for j in range(i + 1, len(numbers)) if numbers[j] > number]
                    steps.append(later[0] if later else 0)
                return steps
            """,
            """
            def next_greater(numbers):
                n, steps = len(numbers), []
                for i in range(n):
                    step = 1
                    while step < n and numbers[(i + step) % n] < numbers[i]:
                        step += 1
                    steps.append(step % n)
                return steps
            """,
            """
            def next_greater(numbers):
                top = max(numbers)
                ring = numbers + numbers
                return [0 if x == top else ring.index(x + 1, i) - i for i, x in enumerate(numbers)]
            """,
        ],
    ),
)
