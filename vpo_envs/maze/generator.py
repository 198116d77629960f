"""Random mazes whose objectives conflict by construction."""

from __future__ import annotations

from random import Random

from vpo_envs.maze.board import BONUS, DIAMOND, EXIT, FLOOR, GOLD, LAVA, START, WALL, Maze

MIN_SIZE = 5
ATTEMPTS = 2000  # about one grid in twenty is kept at the largest slack, nearly every one at a small slack


def largest_slack(size: int) -> int:
    """The largest slack for which a way through both treasure corners can still be too long.

    Between opposite corners lie 2 * (size - 1) steps, and so many more than one corner do both cost where no wall
    forces a detour. A detour on the way to one corner only brings the two closer.
    """
    return 2 * (size - 1) - 1


def check_slack(size: int, slack: int) -> None:
    """Raise ValueError where both treasure corners would always fit the budget."""
    if slack > (largest := largest_slack(size)):
        raise ValueError(
            f"Maze: with size {size} and slack {slack} both treasure corners always fit the step budget, and no maze "
            f"has a trade-off; slack may be at most {largest} for this size"
        )


def generate_maze(rng: Random, size: int = 9, slack: int = 7) -> Maze:
    """A random maze of size x size tiles.

    S and E lie on opposite corners; gold lies around one of the other two corners and diamonds around the other; the
    centre holds the bonus and the interior a few lava tiles. The step budget is the longer of the two ways that pass
    one of these corners, plus `slack`. A maze is kept only if a way without lava fits the budget and a way through both
    corners does not.

    Raises:
        ValueError: `slack` is too large for `size` (`largest_slack`), or none of many grids could be kept.
    """
    check_slack(size, slack)
    for _ in range(ATTEMPTS):
        maze = _draw(rng, size, slack)
        if maze is not None:
            return maze
    raise no_maze(size, slack)


def no_maze(size: int, slack: int) -> ValueError:
    """The error for a generator that gave up."""
    return ValueError(
        f"Maze: none of {ATTEMPTS} grids of size {size} with slack {slack} could be kept; a slack of about {size} fits"
    )


def _draw(rng: Random, size: int, slack: int) -> Maze | None:
    area = size * size
    tiles = _prim(rng, size)
    walls = [i for i in range(area) if tiles[i] == WALL]
    # 18 to 28 of the 32 walls that Prim leaves at size 9 are opened, and the same share of them elsewhere.
    extra = rng.randint(round(18 / 32 * len(walls)), round(28 / 32 * len(walls)))
    for i in rng.sample(walls, extra):
        tiles[i] = FLOOR

    corners = [0, size - 1, area - 1, area - size]  # around the grid, so that i and i + 2 are opposite
    turn = rng.randrange(4)
    start, gold, exit_, diamond = (corners[(turn + i) % 4] for i in range(4))
    centre = (size // 2) * size + size // 2
    for i in (*corners, centre):
        tiles[i] = FLOOR
    margin = 2 if size > MIN_SIZE else 1
    inner = [r * size + c for r in range(margin, size - margin) for c in range(margin, size - margin)]
    inner.remove(centre)
    for i in rng.sample(inner, min(rng.randint(3, 5), len(inner))):
        tiles[i] = LAVA
    tiles[start], tiles[exit_], tiles[centre] = START, EXIT, BONUS

    reachable = sum(_plain(tiles, size).layers(start, _open(tiles)))  # layers are disjoint sets
    for corner, tile in ((gold, GOLD), (diamond, DIAMOND)):
        r, c = divmod(corner, size)
        zone = [
            i
            for i in range(area)
            if abs(i // size - r) + abs(i % size - c) <= 2 and tiles[i] == FLOOR and reachable >> i & 1
        ]
        if len(zone) < 3:
            return None
        for i in rng.sample(zone, min(rng.randint(3, 5), len(zone))):
            tiles[i] = tile
    maze = _plain(tiles, size)
    budget = step_budget(maze, gold, diamond, slack)
    return None if budget is None else Maze(maze.rows, budget)


def step_budget(maze: Maze, gold: int, diamond: int, slack: int) -> int | None:
    """The budget for this grid, or None where a lava-free way does not fit it or a way through both corners does."""
    before_exit = maze.open_cells & ~(1 << maze.exit)
    to_gold = maze.distance(maze.start, gold, before_exit)
    to_diamond = maze.distance(maze.start, diamond, before_exit)
    between = maze.distance(gold, diamond, before_exit)
    from_gold = maze.distance(gold, maze.exit, maze.open_cells)
    from_diamond = maze.distance(diamond, maze.exit, maze.open_cells)
    safe = maze.distance(maze.start, maze.exit, maze.open_cells & ~maze.items[2])
    if to_gold is None or to_diamond is None or from_gold is None or from_diamond is None or safe is None:
        return None
    budget = max(to_gold + from_gold, to_diamond + from_diamond) + slack
    if safe > budget:
        return None
    if between is not None and min(to_gold + between + from_diamond, to_diamond + between + from_gold) <= budget:
        return None
    return budget


def _plain(tiles: list[str], size: int) -> Maze:
    return Maze(tuple("".join(tiles[r * size : (r + 1) * size]) for r in range(size)), 1)


def _open(tiles: list[str]) -> int:
    return sum(1 << i for i, t in enumerate(tiles) if t != WALL)


def _prim(rng: Random, size: int) -> list[str]:
    """A randomized-Prim maze: rooms on even coordinates, joined by opening the walls between them.

    An even size is the next odd one with one row and one column of passages taken out, which keeps it connected.
    """
    odd = size | 1
    tiles = [[WALL] * odd for _ in range(odd)]
    room = (2 * rng.randrange(odd // 2 + 1), 2 * rng.randrange(odd // 2 + 1))
    tiles[room[0]][room[1]] = FLOOR
    frontier = _walls_around(room, odd)
    while frontier:
        # Swap with the last one and pop: a random element in constant time.
        k = rng.randrange(len(frontier))
        frontier[k], frontier[-1] = frontier[-1], frontier[k]
        wall, (r, c) = frontier.pop()
        if tiles[r][c] == WALL:
            tiles[r][c] = tiles[wall[0]][wall[1]] = FLOOR
            frontier += _walls_around((r, c), odd)
    if size < odd:
        del tiles[rng.randrange(1, odd, 2)]
        column = rng.randrange(1, odd, 2)
        for row in tiles:
            del row[column]
    return [tile for row in tiles for tile in row]


def _walls_around(room: tuple[int, int], size: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """(wall, room behind it) in the four directions, as far as they lie on the grid."""
    r, c = room
    pairs = [((r + dr, c + dc), (r + 2 * dr, c + 2 * dc)) for dr, dc in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    return [(wall, behind) for wall, behind in pairs if 0 <= behind[0] < size and 0 <= behind[1] < size]
