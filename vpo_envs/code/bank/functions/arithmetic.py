"""Function problems about whole numbers: remainders, divisors, fractions."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "clamp",
        "easy",
        "clamp(value: int, first: int, second: int) -> int",
        """
        Return the number nearest to value that lies between the two limits first and second, limits included. The
        limits may come in either order.
        """,
        """
        5, 1, 10 => 5
        -3, 10, 1 => 1
        99, 1, 10 => 10
        1, 1, 10 => 1
        99, 10, 1 => 10
        7, 10, 1 => 7
        0, -5, -2 => -2
        -9, -5, -2 => -5
        4, 4, 4 => 4
        8, 4, 4 => 4
        """,
        reference="""
        def clamp(value, first, second):
            low, high = min(first, second), max(first, second)
            return max(low, min(value, high))
        """,
        partial=[
            """
            def clamp(value, first, second):
                return max(first, min(value, second))
            """,
            """
            def clamp(value, first, second):
                low, high = sorted((first, second))
                return low if value < low else value
            """,
            """
            def clamp(value, first, second):
                low, high = sorted((abs(first), abs(second)))
                return min(max(value, low), high)
            """,
        ],
    ),
    call_entry(
        "common_step",
        "medium",
        "common_step(steps: list[int]) -> int",
        """
        Several frogs start together and jump with the given positive step lengths. Return the smallest positive
        distance at which all of them land, which is 1 if there is no frog.
        """,
        """
        [4, 6] => 12
        [2, 3, 5] => 30
        [7] => 7
        [] => 1
        [6, 6] => 6
        [4, 8, 16] => 16
        [6, 10, 15] => 30
        [1, 9] => 9
        [12, 18, 5] => 180
        [3, 7] => 21
        """,
        reference="""
        from math import lcm

        def common_step(steps):
            return lcm(*steps)
        """,
        partial=[
            """
            def common_step(steps):
                product = 1
                for step in steps:
                    product *= step
                return product
            """,
            """
            def common_step(steps):
                distance = max(steps)
                while any(distance % step for step in steps):
                    distance += 1
                return distance
            """,
            """
            from math import gcd

            def common_step(steps):
                a, b = steps[0], steps[-1]
                return a * b // gcd(a, b)
            """,
        ],
    ),
    call_entry(
        "fraction_terms",
        "hard",
        "fraction_terms(p: int, q: int) -> list[int]",
        """
        A fraction p/q with q > 0 is written as a + 1/(b + 1/(c + ...)), where a is the largest whole number that is
        not above p/q and the rest is treated in the same way, upside down, until nothing is left. Return [a, b, c,
        ...].
        """,
        """
        7, 3 => [2, 3]
        1, 2 => [0, 2]
        6, 3 => [2]
        0, 5 => [0]
        45, 16 => [2, 1, 4, 3]
        -7, 3 => [-3, 1, 2]
        -4, 2 => [-2]
        -1, 5 => [-1, 1, 4]
        13, 8 => [1, 1, 1, 1, 2]
        10, 4 => [2, 2]
        """,
        reference="""
        def fraction_terms(p, q):
            terms = []
            while q:
                terms.append(p // q)
                p, q = q, p % q
            return terms
        """,
        partial=[
            """
            def fraction_terms(p, q):
                terms = []
                while q:
                    whole = int(p / q)
                    terms.append(whole)
                    p, q = q, p - whole * q
                return terms
            """,
            """
            def fraction_terms(p, q):
                terms = [p // q]
                p, q = q, p % q
                while q > 1:
                    terms.append(p // q)
                    p, q = q, p % q
                return terms
            """,
            """
            def fraction_terms(p, q):
                if p == 0:
                    return []
                terms = [p // q]
                if p % q:
                    terms += fraction_terms(q, p % q)
                return terms[:4]
            """,
        ],
    ),
)
