"""Function problems about letters and words."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "initials",
        "easy",
        "initials(name: str) -> str",
        """
        Return the first letter of each word of a name in upper case, each followed by a full stop. Words are
        separated by spaces or hyphens.
        """,
        """
        'ada lovelace' => 'A.L.'
        'Jean-Luc Picard' => 'J.L.P.'
        'plato' => 'P.'
        '' => ''
        'Grace Brewster Hopper' => 'G.B.H.'
        'anne-marie' => 'A.M.'
        'de la cruz' => 'D.L.C.'
        'X Y' => 'X.Y.'
        'mary  ann' => 'M.A.'
        """,
        reference="""
        def initials(name):
            return "".join(f"{word[0].upper()}." for word in name.replace("-", " ").split())
        """,
        partial=[
            """
            def initials(name):
                return "".join(f"{word[0].upper()}." for word in name.split())
            """,
            """
            def initials(name):
                return "".join(f"{word[0]}." for word in name.replace("-", " ").split())
            """,
            """
            def initials(name):
                return ".".join(word[0].upper() for word in name.replace("-", " ").split(" ")) + "."
            """,
        ],
    ),
    call_entry(
        "shift_letters",
        "medium",
        "shift_letters(text: str, by: int) -> str",
        """
        Move every letter a to z and A to Z forward by so many places in the alphabet, going round at its end, and
        leave all other characters alone. The case stays. A negative number moves backward; it may be larger than 26.
        """,
        """
        'abc', 1 => 'bcd'
        'xyz', 3 => 'abc'
        'Hello, World!', 5 => 'Mjqqt, Btwqi!'
        'a', -1 => 'z'
        'Zz', 1 => 'Aa'
        '', 4 => ''
        'same', 26 => 'same'
        'ab', 53 => 'bc'
        '123', 9 => '123'
        'BCD', -2 => 'ZAB'
        """,
        reference="""
        def shift_letters(text, by):
            out = ""
            for c in text:
                if "a" <= c <= "z":
                    c = chr((ord(c) - 97 + by) % 26 + 97)
                elif "A" <= c <= "Z":
                    c = chr((ord(c) - 65 + by) % 26 + 65)
                out += c
            return out
        """,
        partial=[
            """
            def shift_letters(text, by):
                return "".join(chr((ord(c) - 97 + by) % 26 + 97) for c in text)
            """,
            """
            def shift_letters(text, by):
                out = ""
                for c in text:
                    if c.isalpha():
                        last = "z" if c.islower() else "Z"
                        code = ord(c) + by
                        c = chr(code - 26 if code > ord(last) else code)
                    out += c
                return out
            """,
            """
            def shift_letters(text, by):
                return "".join(chr(ord(c) + by) if c.isalpha() else c for c in text)
            """,
        ],
    ),
    call_entry(
        "shortest_part",
        "hard",
        "shortest_part(text: str, letters: str) -> str",
        """
        Return the shortest piece of consecutive characters of text that has every character of letters in it, each at
        least as often as in letters. Of several shortest ones return the first; if there is none, or letters is
        empty, return "".
        """,
        """
        'xaybz', 'ab' => 'ayb'
        'abc', 'd' => ''
        'aabb', 'ab' => 'ab'
        'aab', 'aa' => 'aa'
        'abcba', 'ca' => 'abc'
        'abc', '' => ''
        'a', 'aa' => ''
        'cabwefgewcwaefgcf', 'cae' => 'cwae'
        'bba', 'ab' => 'ba'
        'abab', 'bba' => 'bab'
        'zzz', 'z' => 'z'
        """,
        reference="""
        from collections import Counter

        def shortest_part(text, letters):
            need = Counter(letters)
            for size in range(max(1, len(letters)), len(text) + 1):
                for start in range(len(text) - size + 1):
                    part = text[start:start + size]
                    if letters and not need - Counter(part):
                        return part
            return ""
        """,
        partial=[
            """
            def shortest_part(text, letters):
                for size in range(1, len(text) + 1):
                    for start in range(len(text) - size + 1):
                        part = text[start:start + size]
                        if set(letters) <= set(part):
                            return part
                return ""
            """,
            """
            from collections import Counter

            def shortest_part(text, letters):
                best = ""
                for start in range(len(text)):
                    for stop in range(start + 1, len(text) + 1):
                        part = text[start:stop]
                        if letters and not Counter(letters) - Counter(part):
                            if not best or len(part) <= len(best):
                                best = part
                            break
                return best
            """,
            """
            def shortest_part(text, letters):
                places = [text.find(c) for c in letters]
                if not places or min(places) < 0:
                    return ""
                return text[min(places):max(places) + 1]
            """,
        ],
    ),
)
