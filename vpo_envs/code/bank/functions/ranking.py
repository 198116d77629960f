"""Function problems about order: sorting, ties, places."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "sort_by_last",
        "easy",
        "sort_by_last(numbers: list[int]) -> list[int]",
        """
        Return the numbers sorted by their last decimal digit (that of -17 is 7). Numbers with equal last digits stay
        in the order in which they came.
        """,
        """
        [21, 13, 30] => [30, 21, 13]
        [15, 5, 25] => [15, 5, 25]
        [] => []
        [9] => [9]
        [2, 1, 12, 11] => [1, 11, 2, 12]
        [-13, 12, 4] => [12, -13, 4]
        [-8, 7] => [7, -8]
        [40, 10, 20] => [40, 10, 20]
        [103, 3, 93, 2] => [2, 103, 3, 93]
        [-1, -2, -3] => [-1, -2, -3]
        """,
        reference="""
        def sort_by_last(numbers):
            return sorted(numbers, key=lambda number: abs(number) % 10)
        """,
        partial=[
            """
            def sort_by_last(numbers):
                return sorted(numbers, key=lambda number: number % 10)
            """,
            """
            def sort_by_last(numbers):
                return sorted(numbers, key=lambda number: (abs(number) % 10, number))
            """,
            """
            def sort_by_last(numbers):
                return sorted(numbers)
            """,
        ],
    ),
    call_entry(
        "most_common",
        "medium",
        "most_common(words: list[str], number: int) -> list[str]",
        """
        Return the given number of most frequent words, the most frequent first; words that are equally frequent are
        in alphabetical order. Upper and lower case are the same word, returned in lower case. If there are fewer
        different words, return all of them.
        """,
        """
        ['b', 'a', 'b'], 1 => ['b']
        ['b', 'a'], 2 => ['a', 'b']
        [], 3 => []
        ['x'], 0 => []
        ['A', 'b', 'a'], 1 => ['a']
        ['c', 'c', 'd', 'd', 'a'], 2 => ['c', 'd']
        ['q', 'p'], 5 => ['p', 'q']
        ['d', 'd', 'c', 'c', 'e'], 3 => ['c', 'd', 'e']
        ['Z', 'y', 'z', 'Y', 'y'], 2 => ['y', 'z']
        ['one', 'two', 'two'], 2 => ['two', 'one']
        """,
        reference="""
        from collections import Counter

        def most_common(words, number):
            counts = Counter(word.lower() for word in words)
            return sorted(counts, key=lambda word: (-counts[word], word))[:number]
        """,
        partial=[
            """
            from collections import Counter

            def most_common(words, number):
                return [word for word, _ in Counter(words).most_common(number)]
            """,
            """
            from collections import Counter

            def most_common(words, number):
                counts = Counter(word.lower() for word in words)
                return sorted(counts, key=lambda word: (counts[word], word), reverse=True)[:number]
            """,
            """
            from collections import Counter

            def most_common(words, number):
                counts = Counter(words)
                order = sorted(counts, key=lambda word: (-counts[word], word))
                return [order[i].lower() for i in range(number)]
            """,
        ],
    ),
    call_entry(
        "largest_number",
        "hard",
        "largest_number(parts: list[int]) -> str",
        """
        Write the given whole numbers, all at least 0, one after another in the order that makes the largest number,
        and return it as text without zeros at its front (the number zero is "0"). Return "" if there is no number.
        """,
        """
        [3, 30] => '330'
        [1, 2] => '21'
        [] => ''
        [0, 0] => '0'
        [9, 10] => '910'
        [34, 3, 5] => '5343'
        [0, 7] => '70'
        [12, 121] => '12121'
        [8] => '8'
        [10, 2] => '210'
        [56, 565] => '56565'
        [432, 43243] => '43243432'
        """,
        reference="""
        from functools import cmp_to_key

        def largest_number(parts):
            texts = [str(part) for part in parts]
            texts.sort(key=cmp_to_key(lambda a, b: -1 if a + b > b + a else 1))
            return "".join(texts).lstrip("0") or texts[0] if texts else ""
        """,
        partial=[
            """
            def largest_number(parts):
                return "".join(map(str, sorted(parts, reverse=True)))
            """,
            """
            def largest_number(parts):
                if not parts:
                    return ""
                return str(int("".join(sorted(map(str, parts), reverse=True))))
            """,
            """
            def largest_number(parts):
                texts = sorted(map(str, parts), key=lambda text: (text[0], -len(text)), reverse=True)
                return "".join(texts)
            """,
        ],
    ),
)
