"""Function problems about reading texts with a structure."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "read_settings",
        "easy",
        "read_settings(text: str) -> dict[str, str]",
        """
        Each line of the text is "name = value". Return the values by name, without the spaces around names and
        values. A line that is blank or begins with # is left out. If a name comes twice the last line counts. A value
        may contain further = signs.
        """,
        """
        'a = 1' => {'a': '1'}
        'x=1\\ny = two words' => {'x': '1', 'y': 'two words'}
        '' => {}
        '# a = 1\\nb = 2' => {'b': '2'}
        'a = 1\\n\\nb = 2' => {'a': '1', 'b': '2'}
        'a = 1\\na = 2' => {'a': '2'}
        'f = x=y' => {'f': 'x=y'}
        'empty =' => {'empty': ''}
        '  k  =  v  ' => {'k': 'v'}
        'c = 1 # no comment' => {'c': '1 # no comment'}
        """,
        reference="""
        def read_settings(text):
            settings = {}
            for line in text.split("\\n"):
                if line.strip() and not line.startswith("#"):
                    name, _, value = line.partition("=")
                    settings[name.strip()] = value.strip()
            return settings
        """,
        partial=[
            """
            def read_settings(text):
                settings = {}
                for line in text.split("\\n"):
                    name, value = line.split("=")
                    settings[name.strip()] = value.strip()
                return settings
            """,
            """
            def read_settings(text):
                settings = {}
                for line in text.split("\\n"):
                    line = line.partition("#")[0]
                    if "=" in line:
                        name, value = line.split("=", 1)
                        settings.setdefault(name.strip(), value.strip())
                return settings
            """,
            """
            def read_settings(text):
                settings = {}
                for line in text.split("\\n"):
                    if line and line[0] != "#":
                        name, _, value = line.rpartition(" = ")
                        settings[name] = value
                return settings
            """,
        ],
    ),
    call_entry(
        "expand_ranges",
        "medium",
        "expand_ranges(text: str) -> list[int]",
        """
        A text such as "1-3,7" lists pages: parts separated by commas, each a page or a range first-last with both
        ends included. A range whose first is larger than its last counts downward. Return the pages in the order in
        which they are listed, each page once, at its first place. An empty text lists none.
        """,
        """
        '1-3,7' => [1, 2, 3, 7]
        '4' => [4]
        '' => []
        '3-1' => [3, 2, 1]
        '5-5' => [5]
        '1-3,2-4' => [1, 2, 3, 4]
        '9,8,9' => [9, 8]
        '10-12' => [10, 11, 12]
        '2,4-6' => [2, 4, 5, 6]
        '6-4,1' => [6, 5, 4, 1]
        """,
        reference="""
        def expand_ranges(text):
            pages = []
            for part in text.split(",") if text else []:
                first, _, last = part.partition("-")
                a, b = int(first), int(last or first)
                pages += range(a, b + 1) if a <= b else range(a, b - 1, -1)
            return list(dict.fromkeys(pages))
        """,
        partial=[
            """
            def expand_ranges(text):
                pages = []
                for part in text.split(","):
                    first, _, last = part.partition("-")
                    pages += range(int(first), int(last or first) + 1)
                return list(dict.fromkeys(pages))
            """,
            """
            def expand_ranges(text):
                pages = set()
                for part in text.split(",") if text else []:
                    ends = [int(end) for end in part.split("-")]
                    pages |= set(range(min(ends), max(ends) + 1))
                return sorted(pages)
            """,
            """
            def expand_ranges(text):
                pages = []
                for part in text.split(",") if text else []:
                    if "-" in part:
                        a, b = map(int, part.split("-"))
                        step = 1 if a <= b else -1
                        pages.extend(range(a, b + step, step))
                    else:
                        pages.append(int(part))
                return pages
            """,
        ],
    ),
    call_entry(
        "split_quoted",
        "hard",
        "split_quoted(line: str) -> list[str]",
        """
        Split a line at its commas. A field may stand in double quotes; then commas in it do not count, and two double
        quotes in a row stand for one. Fields that are not quoted have no quotes in them and are kept as they are,
        spaces included. A line with no comma has one field.
        """,
        """
        'a,b,c' => ['a', 'b', 'c']
        '"x,y",z' => ['x,y', 'z']
        '' => ['']
        'a,,b' => ['a', '', 'b']
        ' a , b' => [' a ', ' b']
        '"say ""hi"" now",1' => ['say "hi" now', '1']
        '""' => ['']
        'a,' => ['a', '']
        '"p","q"' => ['p', 'q']
        'one' => ['one']
        '"","a""b"' => ['', 'a"b']
        """,
        reference="""
        def split_quoted(line):
            fields, field, inside, i = [], "", False, 0
            while i < len(line):
                c = line[i]
                if c == '"':
                    if inside and line[i + 1:i + 2] == '"':
                        field += c
                        i += 1
                    else:
                        inside = not inside
                elif c == "," and not inside:
                    fields.append(field)
                    field = ""
                else:
                    field += c
                i += 1
            return fields + [field]
        """,
        partial=[
            """
            def split_quoted(line):
                return line.split(",")
            """,
            """
            def split_quoted(line):
                fields, field, inside = [], "", False
                for c in line:
                    if c == '"':
                        inside = not inside
                    elif c == "," and not inside:
                        fields.append(field)
                        field = ""
                    else:
                        field += c
                return fields + [field]
            """,
            """
            import re

            def split_quoted(line):
                found = re.findall(r'"([^"]*)"|([^,"]+)', line)
                return [quoted or plain.strip() for quoted, plain in found]
            """,
        ],
    ),
)
