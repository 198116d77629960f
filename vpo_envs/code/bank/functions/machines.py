"""Function problems about following instructions step by step."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "type_text",
        "easy",
        "type_text(keys: str) -> str",
        """
        Return the text after these keys were pressed: < deletes the last character, if there is one; # deletes all
        text; every other key adds itself.
        """,
        """
        'abc<' => 'ab'
        'ab#c' => 'c'
        '' => ''
        'xy' => 'xy'
        '<a' => 'a'
        'a<<b' => 'b'
        'abc<<d' => 'ad'
        '###' => ''
        'a#b#<c' => 'c'
        'one two<' => 'one tw'
        """,
        reference="""
        def type_text(keys):
            text = ""
            for key in keys:
                text = text[:-1] if key == "<" else "" if key == "#" else text + key
            return text
        """,
        partial=[
            """
            def type_text(keys):
                text = []
                for key in keys:
                    if key == "<":
                        text.pop()
                    elif key == "#":
                        text = []
                    else:
                        text.append(key)
                return "".join(text)
            """,
            """
            def type_text(keys):
                text = ""
                for i, key in enumerate(keys):
                    if key not in "<#" and keys[i + 1:i + 2] != "<":
                        text += key
                return text
            """,
            """
            def type_text(keys):
                text = ""
                for key in keys:
                    text = text[:-1] if key == "<" else text + key
                return text.partition("#")[2] if "#" in text else text
            """,
        ],
    ),
    call_entry(
        "lift_trips",
        "medium",
        "lift_trips(weights: list[int], limit: int) -> int",
        """
        People wait for a lift in the order of the list. The first of them step in as long as their total weight is
        not above the limit, the lift carries them and comes back, and so on. Somebody who is heavier than the limit
        alone takes the stairs when it is her or his turn, without ending a trip. Return the number of trips.
        """,
        """
        [60, 80, 70], 150 => 2
        [50, 50], 100 => 1
        [], 100 => 0
        [40], 100 => 1
        [200], 100 => 0
        [50, 60, 50], 100 => 3
        [50, 200, 50], 100 => 1
        [100, 100], 100 => 2
        [200, 30], 100 => 1
        [20, 90, 30, 70], 100 => 3
        [30, 30, 30, 30], 60 => 2
        """,
        reference="""
        def lift_trips(weights, limit):
            trips, load = 0, 0
            for weight in weights:
                if weight > limit:
                    continue
                if trips == 0 or load + weight > limit:
                    trips, load = trips + 1, 0
                load += weight
            return trips
        """,
        partial=[
            """
            def lift_trips(weights, limit):
                trips, load = 1, 0
                for weight in weights:
                    if load + weight > limit:
                        trips, load = trips + 1, 0
                    load += weight
                return trips
            """,
            """
            def lift_trips(weights, limit):
                total = sum(weight for weight in weights if weight <= limit)
                return -(-total // limit)
            """,
            """
            def lift_trips(weights, limit):
                trips = 0
                left = sorted(weight for weight in weights if weight < limit)
                while left:
                    trips, load = trips + 1, left.pop()
                    while left and load + left[0] <= limit:
                        load += left.pop(0)
                return trips
            """,
        ],
    ),
    call_entry(
        "run_program",
        "hard",
        "run_program(lines: list[str], limit: int) -> int",
        """
        A machine has one number, 0 at the start, and a list of lines: "add x" adds the whole number x; "jump x" goes
        on x lines further (x may be negative or 0); "if x y" goes on y lines further if the number is greater than x,
        otherwise on the next line. It stops when it would go on outside the list, and then its number is the result.
        Return the result, or -1 if it has not stopped after limit lines have been carried out.
        """,
        """
        ['add 2', 'add 3'], 10 => 5
        ['add 1', 'jump -1'], 50 => -1
        [], 5 => 0
        ['jump 2', 'add 9', 'add 1'], 10 => 1
        ['add 3', 'if 2 2', 'add 10', 'add 1'], 10 => 4
        ['add 3', 'if 3 2', 'add 10', 'add 1'], 10 => 14
        ['add 1', 'if 4 2', 'jump -2'], 50 => 5
        ['jump 0'], 20 => -1
        ['add 7', 'jump 5', 'add 1'], 10 => 7
        ['add 1', 'add 1'], 2 => 2
        ['add 1', 'add 1', 'add 1'], 2 => -1
        ['add 4', 'jump -5', 'add 2'], 9 => 4
        """,
        reference="""
        def run_program(lines, limit):
            number = place = 0
            for _ in range(limit):
                if not 0 <= place < len(lines):
                    return number
                word, *rest = lines[place].split()
                x = [int(part) for part in rest]
                if word == "add":
                    number += x[0]
                    place += 1
                elif word == "jump":
                    place += x[0]
                else:
                    place += x[1] if number > x[0] else 1
            return -1 if 0 <= place < len(lines) else number
        """,
        partial=[
            """
            def run_program(lines, limit):
                number = place = 0
                while place < len(lines):
                    if limit == 0:
                        return -1
                    limit -= 1
                    word, *rest = lines[place].split()
                    if word == "add":
                        number += int(rest[0])
                        place += 1
                    elif word == "jump":
                        place += int(rest[0])
                    else:
                        place += int(rest[1]) if number >= int(rest[0]) else 1
                return number
            """,
            """
            def run_program(lines, limit):
                number = place = 0
                for _ in range(limit):
                    if not 0 <= place < len(lines):
                        return number
                    word, *rest = lines[place].split()
                    step = 1
                    if word == "add":
                        number += int(rest[0])
                    elif word == "jump":
                        step = int(rest[0]) or 1
                    elif number > int(rest[0]):
                        step = int(rest[1]) + 1
                    place += step
                return -1
            """,
            """
            def run_program(lines, limit):
                number = 0
                for line in lines:
                    word, x = line.split()[:2]
                    if word == "add":
                        number += int(x)
                    elif word == "jump" and int(x) <= 0:
                        return -1
                return number
            """,
        ],
    ),
)
