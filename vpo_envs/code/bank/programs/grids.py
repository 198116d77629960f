"""Standard-input problems about boards of rows and columns."""

from vpo_envs.code.bank.entry import stdin_entry

ENTRIES = (
    stdin_entry(
        "full_lines",
        "easy",
        """
        Read the number of rows and of columns of a board on one line (1 to 50 each), then its rows, made of # and .
        only. Print how many rows and, after a space, how many columns consist of # alone.
        """,
        """
        2 3|###|#.# => 1 2
        1 1|. => 0 0
        1 1|# => 1 1
        2 2|##|## => 2 2
        3 2|#.|#.|#. => 0 1
        1 4|#### => 1 4
        3 3|#..|.#.|..# => 0 0
        3 1|#|.|# => 2 0
        2 4|....|#### => 1 0
        3 3|.#.|###|.#. => 1 1
        """,
        reference="""
        height, width = map(int, input().split())
        rows = [input() for _ in range(height)]
        print(sum(set(row) == {"#"} for row in rows), sum(set(column) == {"#"} for column in zip(*rows)))
        """,
        partial=[
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            full = sum("." not in row for row in rows)
            size = min(height, width)
            print(full, sum(all(rows[j][i] == "#" for j in range(size)) for i in range(size)))
            """,
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            print(sum("#" in row for row in rows), sum("#" in column for column in zip(*rows)))
            """,
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            print(rows.count("#" * height), sum(set(column) == {"#"} for column in zip(*rows)))
            """,
        ],
    ),
    stdin_entry(
        "count_mines",
        "medium",
        """
        Read the number of rows and of columns of a field on one line (1 to 50 each), then its rows, made of * (a
        mine) and . (free). Print the field with each . replaced by the number of mines on the up to eight cells
        around it.
        """,
        """
        2 3|*..|..* => *21|12*
        1 1|. => 0
        1 1|* => *
        1 3|.*. => 1*1
        3 1|.|*|. => 1|*|1
        3 3|***|*.*|*** => ***|*8*|***
        2 2|..|.. => 00|00
        3 3|...|.*.|... => 111|1*1|111
        2 4|*...|.... => *100|1100
        2 2|**|.. => **|22
        """,
        reference="""
        height, width = map(int, input().split())
        rows = [input() for _ in range(height)]

        def mines(y, x):
            return sum(rows[j][max(0, x - 1):x + 2].count("*") for j in range(max(0, y - 1), min(height, y + 2)))

        for y in range(height):
            print("".join("*" if rows[y][x] == "*" else str(mines(y, x)) for x in range(width)))
        """,
        partial=[
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            for y in range(height):
                out = ""
                for x in range(width):
                    near = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
                    count = sum(0 <= j < height and 0 <= i < width and rows[j][i] == "*" for j, i in near)
                    out += "*" if rows[y][x] == "*" else str(count)
                print(out)
            """,
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            for y in range(height):
                out = ""
                for x in range(width):
                    count = 0
                    for j in (y - 1, y, y + 1):
                        for i in (x - 1, x, x + 1):
                            if j < height and i < width and rows[j][i] == "*":
                                count += 1
                    out += "*" if rows[y][x] == "*" else str(count)
                print(out)
            """,
            """
            height, width = map(int, input().split())
            rows = ["." * (width + 2)] + ["." + input() + "." for _ in range(height)] + ["." * (width + 2)]
            for y in range(1, height + 1):
                print("".join(str(sum(row[x - 1:x + 2].count("*") for row in rows[y - 1:y + 2]))
                              for x in range(1, width + 1)))
            """,
        ],
    ),
    stdin_entry(
        "shortest_walk",
        "hard",
        """
        Read the number of rows and of columns of a map on one line (1 to 50 each), then its rows: S is the start, E
        the end, # a wall, . free. A step goes up, down, left or right. Print the fewest steps from S to E, or -1 if
        there is no way.
        """,
        """
        2 3|S#E|... => 4
        1 2|SE => 1
        1 3|S#E => -1
        3 3|S..|...|..E => 4
        2 2|ES|.. => 1
        3 3|E..|.#.|..S => 4
        3 4|S.#E|..#.|.... => 7
        3 3|S#.|#..|..E => -1
        3 5|S...#|###.#|E.... => 8
        2 2|S#|#E => -1
        4 3|..E|.##|...|S.. => 5
        """,
        reference="""
        height, width = map(int, input().split())
        rows = [input() for _ in range(height)]
        start = next((y, x) for y in range(height) for x in range(width) if rows[y][x] == "S")
        steps, queue = {start: 0}, [start]
        answer = -1
        for y, x in queue:
            if rows[y][x] == "E":
                answer = steps[y, x]
                break
            for j, i in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if 0 <= j < height and 0 <= i < width and rows[j][i] != "#" and (j, i) not in steps:
                    steps[j, i] = steps[y, x] + 1
                    queue.append((j, i))
        print(answer)
        """,
        partial=[
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            place = {c: (y, x) for y, row in enumerate(rows) for x, c in enumerate(row)}
            (a, b), (c, d) = place["S"], place["E"]
            print(abs(a - c) + abs(b - d))
            """,
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            start = next((y, x) for y in range(height) for x in range(width) if rows[y][x] == "S")
            steps, answer = {start: 0}, -1
            for y in range(height):
                for x in range(width):
                    near = [steps[p] + 1 for p in ((y - 1, x), (y, x - 1)) if p in steps]
                    if rows[y][x] != "#" and near and (y, x) not in steps:
                        steps[y, x] = min(near)
                    if rows[y][x] == "E":
                        answer = steps.get((y, x), -1)
            print(answer)
            """,
            """
            height, width = map(int, input().split())
            rows = [input() for _ in range(height)]
            start = next((y, x) for y in range(height) for x in range(width) if rows[y][x] == "S")
            steps, queue, answer = {start: 0}, [start], -1
            for y, x in queue:
                if rows[y][x] == "E":
                    answer = steps[y, x]
                for j in (y - 1, y, y + 1):
                    for i in (x - 1, x, x + 1):
                        if 0 <= j < height and 0 <= i < width and rows[j][i] != "#" and (j, i) not in steps:
                            steps[j, i] = steps[y, x] + 1
                            queue.append((j, i))
            print(answer)
            """,
        ],
    ),
)
