"""Standard-input problems about whole numbers: remainders, divisors, fractions."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "lamp_colour",
        "easy",
        """
        A lamp shows red when a number is divisible by 3, blue when it is divisible by 5, purple when it is divisible
        by both, and stays off otherwise. Read a whole number n (-1000 <= n <= 1000) and print red, blue, purple or
        off.
        """,
        """
        9 => red
        10 => blue
        15 => purple
        7 => off
        0 => purple
        -3 => red
        -5 => blue
        -45 => purple
        1 => off
        3 => red
        """,
        reference="""
        n = int(input())
        if n % 15 == 0:
            print("purple")
        elif n % 3 == 0:
            print("red")
        elif n % 5 == 0:
            print("blue")
        else:
            print("off")
        """,
        partial=[
            """
            n = int(input())
            if n % 3 == 0:
                print("red")
            elif n % 5 == 0:
                print("blue")
            elif n % 15 == 0:
                print("purple")
            else:
                print("off")
            """,
            """
            n = int(input())
            if n <= 0:
                print("off")
            elif n % 3 == 0 and n % 5 == 0:
                print("purple")
            elif n % 3 == 0:
                print("red")
            elif n % 5 == 0:
                print("blue")
            else:
                print("off")
            """,
        ],
    ),
    stdin_entry(
        "divisor_count",
        "medium",
        """
        Read a whole number n (1 <= n <= 1000000) and print how many positive whole numbers divide it.
        """,
        """
        12 => 6
        1 => 1
        2 => 2
        9 => 3
        10 => 4
        36 => 9
        97 => 2
        64 => 7
        999983 => 2
        1000000 => 49
        720720 => 240
        """,
        reference="""
        n = int(input())
        count = 0
        d = 1
        while d * d <= n:
            if n % d == 0:
                count += 1 if d * d == n else 2
            d += 1
        print(count)
        """,
        partial=[
            """
            n = int(input())
            count = 0
            d = 1
            while d * d <= n:
                if n % d == 0:
                    count += 2
                d += 1
            print(count)
            """,
            """
            n = int(input())
            count = 2
            d = 2
            while d * d <= n:
                if n % d == 0:
                    count += 1 if d * d == n else 2
                d += 1
            print(count)
            """,
            """
            n = int(input())
            print(1 + sum(1 for d in range(1, min(n // 2, 400) + 1) if n % d == 0))
            """,
        ],
    ),
    stdin_entry(
        "factorial_zeros",
        "hard",
        """
        Read a whole number n (0 <= n <= 1000000000) and print how many zeros stand at the end of the product 1 * 2 *
        ... * n, written in decimal.
        """,
        """
        10 => 2
        0 => 0
        4 => 0
        5 => 1
        24 => 4
        25 => 6
        50 => 12
        125 => 31
        130 => 32
        624 => 152
        1000 => 249
        1000000000 => 249999998
        """,
        reference="""
        n = int(input())
        zeros = 0
        while n:
            n //= 5
            zeros += n
        print(zeros)
        """,
        partial=[
            """
            n = int(input())
            print(n // 5)
            """,
            """
            n = int(input())
            print(n // 5 + n // 25)
            """,
            """
            from math import factorial
            n = int(input())
            if n > 900:
                n = 900
            text = str(factorial(n))
            print(len(text) - len(text.rstrip("0")))
            """,
        ],
    ),
)
