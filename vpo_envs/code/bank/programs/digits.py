"""Standard-input problems about digits and number systems."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "digit_sum",
        "easy",
        """
        Read a whole number n (-10^30 <= n <= 10^30). Print the sum of its decimal digits; a sign adds nothing.
        """,
        """
        407 => 11
        0 => 0
        9 => 9
        10 => 1
        -12 => 3
        -999 => 27
        1000000000000000000000000000000 => 1
        99999999999999999999 => 180
        -1 => 1
        38 => 11
        """,
        reference="""
        print(sum(map(int, input().lstrip("-"))))
        """,
        partial=[
            """
            print(sum(int(c) for c in input()))
            """,
            """
            n = abs(int(input()))
            total = 0
            while n:
                total += n % 10
                n = int(n / 10)
            print(total)
            """,
            """
            n = abs(int(input()))
            while n > 9:
                n = sum(map(int, str(n)))
            print(n)
            """,
        ],
    ),
    stdin_entry(
        "to_base",
        "medium",
        """
        Read two whole numbers n and b on one line (-10^9 <= n <= 10^9, 2 <= b <= 16). Print n in base b with the
        digits 0 to 9 and a to f, and with a leading minus sign if n is negative.
        """,
        """
        10 2 => 1010
        255 16 => ff
        0 7 => 0
        -5 2 => -101
        8 8 => 10
        -255 16 => -ff
        35 11 => 32
        21 11 => 1a
        1000000000 10 => 1000000000
        -1 3 => -1
        1 2 => 1
        """,
        reference="""
        n, b = map(int, input().split())
        rest, digits = abs(n), ""
        while rest:
            digits = "0123456789abcdef"[rest % b] + digits
            rest //= b
        print(("-" if n < 0 else "") + (digits or "0"))
        """,
        partial=[
            """
            n, b = map(int, input().split())
            digits = ""
            while n > 0:
                digits = "0123456789abcdef"[n % b] + digits
                n //= b
            print(digits)
            """,
            """
            n, b = map(int, input().split())
            sign = "-" if n < 0 else ""
            n = abs(n)
            digits = str(n % b)
            while n >= b:
                n //= b
                digits = str(n % b) + digits
            print(sign + digits)
            """,
            """
            n, b = map(int, input().split())
            if b == 2:
                print(format(n, "b"))
            elif b == 8:
                print(format(n, "o"))
            elif b == 16:
                print(format(n, "x"))
            else:
                print(n)
            """,
        ],
    ),
    stdin_entry(
        "add_roman",
        "hard",
        """
        Roman numerals use I = 1, V = 5, X = 10, L = 50, C = 100, D = 500, M = 1000, from large to small, and IV, IX,
        XL, XC, CD, CM for 4, 9, 40, 90, 400, 900. Read two of them on one line and print their sum as a Roman
        numeral. The sum is below 4000.
        """,
        """
        II III => V
        I I => II
        VIII II => X
        IV V => IX
        X XXX => XL
        XC X => C
        CD CD => DCCC
        M CM => MCM
        LXX XXV => XCV
        MCMXCIX I => MM
        I III => IV
        """,
        reference="""
        VALUES = {"M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10, "IX": 9,
                  "V": 5, "IV": 4, "I": 1}

        def read(text):
            total = 0
            for letter, following in zip(text, text[1:] + " "):
                value = VALUES[letter]
                total += -value if value < VALUES.get(following, 0) else value
            return total

        left = sum(map(read, input().split()))
        out = ""
        for text, value in VALUES.items():
            out += text * (left // value)
            left %= value
        print(out)
        """,
        partial=[
            """
            VALUES = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
            total = sum(VALUES[letter] for letter in input() if letter != " ")
            out = ""
            for text, value in [("M", 1000), ("CM", 900), ("D", 500), ("CD", 400), ("C", 100), ("XC", 90), ("L", 50),
                                ("XL", 40), ("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)]:
                out += text * (total // value)
                total %= value
            print(out)
            """,
            """
            VALUES = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}

            def read(text):
                total = last = 0
                for letter in reversed(text):
                    value = VALUES[letter]
                    total += value if value >= last else -value
                    last = value
                return total

            a, b = input().split()
            left, out = read(a) + read(b), ""
            for text, value in VALUES.items():
                out += text * (left // value)
                left %= value
            print(out)
            """,
        ],
    ),
)
