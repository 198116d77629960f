"""Function problems about boards of rows and columns."""

from vpo_envs.code.bank.entry import call_entry

ENTRIES = (
    call_entry(
        "turn_right",
        "easy",
        "turn_right(board: list[list[int]]) -> list[list[int]]",
        """
        Return the board, a list of equally long rows, after a quarter turn clockwise: its first row becomes its last
        column. A board without rows stays as it is.
        """,
        """
        [[1, 2], [3, 4]] => [[3, 1], [4, 2]]
        [[1, 2, 3]] => [[1], [2], [3]]
        [] => []
        [[7]] => [[7]]
        [[1], [2], [3]] => [[3, 2, 1]]
        [[1, 2], [3, 4], [5, 6]] => [[5, 3, 1], [6, 4, 2]]
        [[5, 5], [5, 5]] => [[5, 5], [5, 5]]
        [[1, 2], [2, 1]] => [[2, 1], [1, 2]]
        [[0, 1, 0], [1, 1, 0]] => [[1, 0], [1, 1], [0, 0]]
        """,
        reference="""
        def turn_right(board):
            return [list(column) for column in zip(*board[::-1])]
        """,
        partial=[
            """
            def turn_right(board):
                return [list(column) for column in zip(*board)]
            """,
            """
            def turn_right(board):
                return [list(column) for column in zip(*board)][::-1]
            """,
            """
            def turn_right(board):
                n = len(board)
                turned = [[0] * n for _ in range(n)]
                for y, row in enumerate(board):
                    for x, value in enumerate(row):
                        turned[x][n - 1 - y] = value
                return turned
            """,
        ],
    ),
    call_entry(
        "spiral",
        "medium",
        "spiral(board: list[list[int]]) -> list[int]",
        """
        Return the numbers of a board, a list of equally long rows, in the order of a walk that starts in the upper
        left corner, goes right along the first row and then always on along the border of what is left, clockwise.
        """,
        """
        [[1, 2, 3], [4, 5, 6], [7, 8, 9]] => [1, 2, 3, 6, 9, 8, 7, 4, 5]
        [[1, 2], [3, 4]] => [1, 2, 4, 3]
        [] => []
        [[5]] => [5]
        [[1, 2, 3]] => [1, 2, 3]
        [[1], [2], [3]] => [1, 2, 3]
        [[1, 2, 3], [4, 5, 6]] => [1, 2, 3, 6, 5, 4]
        [[1, 2], [3, 4], [5, 6]] => [1, 2, 4, 6, 5, 3]
        [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]] => [1, 2, 3, 6, 9, 12, 11, 10, 7, 4, 5, 8]
        [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]] => [1, 2, 3, 4, 8, 12, 11, 10, 9, 5, 6, 7]
        """,
        reference="""
        def spiral(board):
            walk = []
            while board:
                walk += board[0]
                board = [list(column) for column in zip(*board[1:])][::-1]
            return walk
        """,
        partial=[
            """
            def spiral(board):
                top, left, bottom, right = 0, 0, len(board) - 1, len(board[0]) - 1
                walk = []
                while top <= bottom and left <= right:
                    walk += board[top][left:right + 1]
                    walk += [board[y][right] for y in range(top + 1, bottom + 1)]
                    walk += [board[bottom][x] for x in range(right - 1, left - 1, -1)]
                    walk += [board[y][left] for y in range(bottom - 1, top, -1)]
                    top, left, bottom, right = top + 1, left + 1, bottom - 1, right - 1
                return walk
            """,
            """
            def spiral(board):
                walk = []
                for y, row in enumerate(board):
                    walk += row if y % 2 == 0 else row[::-1]
                return walk
            """,
            """
            def spiral(board):
                if not board or len(board) == 1:
                    return [x for row in board for x in row]
                around = board[0] + [row[-1] for row in board[1:]] + board[-1][-2::-1]
                around += [row[0] for row in board[-2:0:-1]]
                return around + [x for row in board[1:-1] for x in row[1:-1]]
            """,
        ],
    ),
    call_entry(
        "largest_lake",
        "hard",
        "largest_lake(rows: list[str]) -> int",
        """
        A map has equally long rows of ~ (water) and . (land). Water cells that share a side belong to one lake; water
        that is connected to the border of the map is sea and no lake. Return the number of cells of the largest lake,
        0 if there is none.
        """,
        """
        ['....', '.~~.', '....'] => 2
        ['~..', '...', '..~'] => 0
        [] => 0
        ['...', '.~.', '...'] => 1
        ['....', '.~~.', '.~~~', '....'] => 0
        ['.....', '.~.~.', '...~.', '.....'] => 2
        ['.....', '.~...', '..~..', '.....'] => 1
        ['~~~', '~.~', '~~~'] => 0
        ['......', '.~~~..', '.~....', '.~~~..', '......'] => 7
        ['...', '.~.', '.~.'] => 0
        ['.~...', '.~.~.', '.....'] => 1
        """,
        reference="""
        def largest_lake(rows):
            height, width = len(rows), len(rows[0]) if rows else 0
            left = {(y, x) for y in range(height) for x in range(width) if rows[y][x] == "~"}
            best = 0
            while left:
                lake = [left.pop()]
                for y, x in lake:
                    for cell in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                        if cell in left:
                            left.remove(cell)
                            lake.append(cell)
                if all(0 < y < height - 1 and 0 < x < width - 1 for y, x in lake):
                    best = max(best, len(lake))
            return best
        """,
        partial=[
            """
            def largest_lake(rows):
                left = {(y, x) for y, row in enumerate(rows) for x, c in enumerate(row) if c == "~"}
                best = 0
                while left:
                    lake = [left.pop()]
                    for y, x in lake:
                        for cell in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                            if cell in left:
                                left.remove(cell)
                                lake.append(cell)
                    best = max(best, len(lake))
                return best
            """,
            """
            def largest_lake(rows):
                return sum(row[1:-1].count("~") for row in rows[1:-1])
            """,
            """
            def largest_lake(rows):
                best = 0
                for row in rows[1:-1]:
                    for part in row.strip("~").split("."):
                        best = max(best, len(part))
                return best
            """,
        ],
    ),
)
