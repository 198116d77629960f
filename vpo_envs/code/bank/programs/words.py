"""Standard-input problems about letters and words."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "longest_word",
        "easy",
        """
        Read a line of words with one or more spaces between them. Print the longest word; of several, the first. If
        the line has no word, print none.
        """,
        """
        the quick brown fox => quick
        a bb cc => bb
        one => one
        => none
        sun moon star => moon
        x  yy   z => yy
        apple fig banana => banana
        to be or not => not
        bee ant cow => bee
        aa aaa a aaa => aaa
        """,
        reference="""
        words = input().split()
        print(max(words, key=len) if words else "none")
        """,
        partial=[
            """
            words = input().split()
            best = words[0]
            for word in words:
                if len(word) >= len(best):
                    best = word
            print(best)
            """,
            """
            words = input().split()
            print(max(words) if words else "none")
            """,
            """
            best = ""
            for word in input().split():
                if len(word) > len(best):
                    best = word
            print(best)
            """,
        ],
    ),
    stdin_entry(
        "run_lengths",
        "medium",
        """
        Read a line of 1 to 200 letters. Replace every longest run of one repeated letter by its length and the
        letter; a run of length 1 becomes the letter alone. Print the result.
        """,
        """
        aaabcc => 3ab2c
        a => a
        abc => abc
        zz => 2z
        aAaA => aAaA
        xxxxxxxxxxxx => 12x
        abba => a2ba
        aab => 2ab
        baa => b2a
        aabaa => 2ab2a
        """,
        reference="""
        from itertools import groupby

        out = ""
        for letter, run in groupby(input()):
            length = len(list(run))
            out += letter if length == 1 else f"{length}{letter}"
        print(out)
        """,
        partial=[
            """
            from itertools import groupby

            print("".join(f"{len(list(run))}{letter}" for letter, run in groupby(input())))
            """,
            """
            text, out, length = input(), "", 1
            for i in range(1, len(text)):
                if text[i] == text[i - 1]:
                    length += 1
                else:
                    out += (str(length) if length > 1 else "") + text[i - 1]
                    length = 1
            print(out + text[-1])
            """,
            """
            text = input()
            out = ""
            for letter in dict.fromkeys(text):
                count = text.count(letter)
                out += letter if count == 1 else str(count) + letter
            print(out)
            """,
        ],
    ),
    stdin_entry(
        "wrap_text",
        "hard",
        """
        Read a width w (1 <= w <= 80) on the first line and words separated by spaces on the second. Fill lines from
        left to right, one space between words: a word goes on the current line if the line is then at most w long. A
        word longer than w is cut: it starts on a new line, and every w characters end a line; what is left over
        starts a line that further words may join. Print the lines.
        """,
        """
        7|the cat sat on it => the cat|sat on|it
        10|hello => hello
        3|a b c d => a b|c d
        5|abcdefgh ij => abcde|fgh|ij
        6|abcdefgh ij => abcdef|gh ij
        1|to be => t|o|b|e
        11|one two three four => one two|three four
        3|xx abcdef y => xx|abc|def|y
        4|aa b => aa b
        5|aaa bb ccc => aaa|bb|ccc
        """,
        reference="""
        width = int(input())
        lines = []
        for word in input().split():
            if lines and len(lines[-1]) + 1 + len(word) <= width:
                lines[-1] += " " + word
            else:
                lines += [word[i:i + width] for i in range(0, len(word), width)]
        print("\\n".join(lines))
        """,
        partial=[
            """
            width = int(input())
            line, lines = "", []
            for word in input().split():
                if line and len(line) + 1 + len(word) > width:
                    lines.append(line)
                    line = word
                else:
                    line = (line + " " + word).strip()
            print("\\n".join(lines + [line]))
            """,
            """
            width = int(input())
            lines = []
            for word in input().split():
                if lines and len(lines[-1]) + len(word) <= width:
                    lines[-1] += " " + word
                else:
                    lines += [word[i:i + width] for i in range(0, len(word), width)]
            print("\\n".join(lines))
            """,
            """
            width = int(input())
            lines = []
            for word in input().split():
                if len(word) > width:
                    lines += [word[i:i + width] for i in range(0, len(word), width)]
                    continue
                if lines and len(lines[-1]) + 1 + len(word) < width:
                    lines[-1] += " " + word
                else:
                    lines.append(word)
            print("\\n".join(lines))
            """,
        ],
    ),
)
