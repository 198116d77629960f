"""Standard-input problems about reading texts with a structure."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "sum_numbers_in_text",
        "easy",
        """
        Read a line of letters, digits, spaces and minus signs. Every longest run of digits is a number; it is
        negative if a minus sign stands right before it. Print the sum of all numbers, 0 if there is none.
        """,
        """
        a12b3 => 15
        nothing => 0
        5 => 5
        10 20 30 => 60
        t-4x => -4
        7-2 => 5
        a-b9 => 9
        - 8 => 8
        007 => 7
        3--3 => 0
        x1y2z3 => 6
        """,
        reference="""
        import re

        print(sum(map(int, re.findall(r"-?[0-9]+", input()))))
        """,
        partial=[
            """
            import re

            print(sum(map(int, re.findall(r"[0-9]+", input()))))
            """,
            """
            print(sum(int(c) for c in input() if c.isdigit()))
            """,
            """
            total = 0
            for word in input().split():
                try:
                    total += int(word)
                except ValueError:
                    pass
            print(total)
            """,
        ],
    ),
    stdin_entry(
        "matching_brackets",
        "medium",
        """
        Read a line that may hold the brackets ( ) [ ] { } and other characters. Print ok if the brackets pair up and
        nest properly. Otherwise print the position, counted from 1, of the first closing bracket that does not fit;
        if there is none, print open and how many brackets are left open.
        """,
        """
        (a[b]) => ok
        (] => 2
        (( => open 2
        ) => 1
        no brackets => ok
        {[()()]} => ok
        ([)] => 3
        (a)) => 4
        [( ) => open 1
        {}[ => open 1
        x(y}z( => 4
        """,
        reference="""
        PAIRS = {")": "(", "]": "[", "}": "{"}
        stack = []
        for place, c in enumerate(input(), start=1):
            if c in "([{":
                stack.append(c)
            elif c in PAIRS and (not stack or stack.pop() != PAIRS[c]):
                print(place)
                break
        else:
            print(f"open {len(stack)}" if stack else "ok")
        """,
        partial=[
            """
            depth = 0
            for place, c in enumerate(input(), start=1):
                if c in "([{":
                    depth += 1
                elif c in ")]}":
                    depth -= 1
                    if depth < 0:
                        print(place)
                        break
            else:
                print(f"open {depth}" if depth else "ok")
            """,
            """
            PAIRS = {")": "(", "]": "[", "}": "{"}
            stack = []
            for place, c in enumerate(input()):
                if c in "([{":
                    stack.append(c)
                elif c in PAIRS and (not stack or stack.pop() != PAIRS[c]):
                    print(place)
                    break
            else:
                print(f"open {len(stack)}" if stack else "ok")
            """,
            """
            PAIRS = {")": "(", "]": "[", "}": "{"}
            stack = []
            for place, c in enumerate(input(), start=1):
                if c in "([{":
                    stack.append(c)
                elif c in PAIRS and stack.pop() != PAIRS[c]:
                    print(place)
                    break
            else:
                print("ok")
            """,
        ],
    ),
    stdin_entry(
        "evaluate",
        "hard",
        """
        Read an expression of whole numbers of at least 0, + - * and round brackets, with spaces anywhere between
        them, and print its value. Multiplication comes before addition and subtraction, which go from left to right.
        A minus sign stands only between two values.
        """,
        """
        1 + 2 * 3 => 7
        8 => 8
        2 * (3 + 4) => 14
        10 - 3 - 2 => 5
        12+30 => 42
        2*3*4 => 24
        ((5)) => 5
        1 - (2 - 3) => 2
        (1 + 2) * (3 - 5) => -6
        0 * 9 + 1 => 1
        6 - 2 * 2 => 2
        """,
        reference="""
        import re

        tokens = re.findall(r"[0-9]+|[-+*()]", input())

        def total():
            value = product()
            while tokens and tokens[0] in "+-":
                value = value + product() if tokens.pop(0) == "+" else value - product()
            return value

        def product():
            value = atom()
            while tokens and tokens[0] == "*":
                tokens.pop(0)
                value *= atom()
            return value

        def atom():
            token = tokens.pop(0)
            if token != "(":
                return int(token)
            value = total()
            tokens.pop(0)
            return value

        print(total())
        """,
        partial=[
            """
            tokens = input().split()
            value = int(tokens[0])
            for sign, number in zip(tokens[1::2], tokens[2::2]):
                if sign == "+":
                    value += int(number)
                elif sign == "-":
                    value -= int(number)
                else:
                    value *= int(number)
            print(value)
            """,
            """
            total = 0
            for part in input().replace(" ", "").replace("-", "+-").split("+"):
                product = 1
                for factor in part.split("*"):
                    product *= int(factor)
                total += product
            print(total)
            """,
            """
            import re

            tokens = re.findall(r"[0-9]+|[-+*()]", input())

            def value():
                token = tokens.pop(0)
                if token == "(":
                    left = value()
                    tokens.pop(0)
                else:
                    left = int(token)
                if not tokens or tokens[0] == ")":
                    return left
                sign = tokens.pop(0)
                right = value()
                return left + right if sign == "+" else left - right if sign == "-" else left * right

            print(value())
            """,
        ],
    ),
)
