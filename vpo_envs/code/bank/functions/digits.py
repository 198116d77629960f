"""Function problems about digits and number systems."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "same_digits",
        "easy",
        "same_digits(a: int, b: int) -> bool",
        """
        Return whether two whole numbers that are at least 0 are written with the same decimal digits, each as often,
        in any order.
        """,
        """
        123, 312 => True
        12, 122 => False
        0, 0 => True
        112, 122 => False
        10, 1 => False
        505, 550 => True
        7, 7 => True
        45, 54 => True
        1001, 1010 => True
        36, 45 => False
        """,
        reference="""
        def same_digits(a, b):
            return sorted(str(a)) == sorted(str(b))
        """,
        partial=[
            """
            def same_digits(a, b):
                return set(str(a)) == set(str(b))
            """,
            """
            def same_digits(a, b):
                return str(a) == str(b)[::-1]
            """,
            """
            def same_digits(a, b):
                return sum(map(int, str(a))) == sum(map(int, str(b)))
            """,
        ],
    ),
    call_entry(
        "next_palindrome",
        "medium",
        "next_palindrome(n: int) -> int",
        """
        Return the smallest whole number that is greater than n (0 <= n <= 100000) and reads the same from both ends.
        """,
        """
        12 => 22
        99 => 101
        0 => 1
        9 => 11
        11 => 22
        123 => 131
        129 => 131
        1991 => 2002
        808 => 818
        999 => 1001
        1234 => 1331
        """,
        reference="""
        def next_palindrome(n):
            n += 1
            while str(n) != str(n)[::-1]:
                n += 1
            return n
        """,
        partial=[
            """
            def next_palindrome(n):
                while str(n) != str(n)[::-1]:
                    n += 1
                return n
            """,
            """
            def next_palindrome(n):
                text = str(n)
                half = text[:(len(text) + 1) // 2]
                half = str(int(half) + 1)
                return int(half + half[::-1][len(text) % 2:])
            """,
            """
            def next_palindrome(n):
                n += 1
                while str(n)[0] != str(n)[-1]:
                    n += 1
                return n
            """,
        ],
    ),
    call_entry(
        "balanced_ternary",
        "hard",
        "balanced_ternary(n: int) -> str",
        """
        A scale has weights of 1, 3, 9, 27 ... grams, one of each, that go on either pan. Write n (-10^6 <= n <= 10^6)
        as a sum of such weights, each used as +1, 0 or -1 times: return the signs from the heaviest weight used to
        the lightest of all, as the letters + 0 -. For n = 0 return "0".
        """,
        """
        5 => '+--'
        -1 => '-'
        0 => '0'
        1 => '+'
        2 => '+-'
        3 => '+0'
        4 => '++'
        9 => '+00'
        13 => '+++'
        -5 => '-++'
        -3 => '-0'
        10 => '+0+'
        """,
        reference="""
        def balanced_ternary(n):
            signs = ""
            while n:
                signs = "0+-"[n % 3] + signs
                n = (n + 1) // 3
            return signs or "0"
        """,
        partial=[
            """
            def balanced_ternary(n):
                signs = ""
                while n:
                    signs = "0+-"[n % 3] + signs
                    n = (n + 1) // 3
                return signs
            """,
            """
            def balanced_ternary(n):
                signs = ""
                while n > 0:
                    signs = "0+-"[n % 3] + signs
                    n = (n + 1) // 3
                return signs or "0"
            """,
            """
            def balanced_ternary(n):
                sign, n, signs = "-" if n < 0 else "+", abs(n), ""
                while n:
                    signs = ("0" if n % 3 == 0 else sign) + signs
                    n //= 3
                return signs or "0"
            """,
        ],
    ),
)
