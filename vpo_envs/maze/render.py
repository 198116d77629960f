"""Drawing a maze and the routes through it, as text and as a picture. NumPy only.

The picture is painted with signed distances: every shape is a function of the pixel that says how far it is from the
shape's edge (negative inside), and its edge is blended over one pixel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vpo_envs.maze.board import BONUS, DIAMOND, EXIT, GOLD, LAVA, START, WALL, Maze

Color = tuple[int, int, int]
Field = NDArray[np.float64]  # one number for each pixel

MIN_CELL = 8
ROUTE_COLORS: tuple[Color, ...] = (
    (30, 98, 228),  # blue
    (222, 27, 140),  # magenta
    (10, 143, 77),  # green
    (30, 29, 36),  # black
    (0, 152, 178),  # teal
    (235, 112, 0),  # orange
    (118, 64, 205),  # violet
    (125, 72, 30),  # brown
)
"""Colour of route i, counted round."""

_FLOOR, _LINE, _WHITE = (246, 243, 235), (227, 221, 209), (255, 255, 255)
_MOVE_COLUMNS = {(-1, 0): "↑", (1, 0): "↓", (0, -1): "←", (0, 1): "→"}


# ---- text ---------------------------------------------------------------------------------------------------------


def draw_ansi(maze: Maze, routes: Sequence[Sequence[int]], rewards: NDArray[np.float32], names: Sequence[str]) -> str:
    """The grid with its budget; then for each route its outcome, its rewards, and the way it goes as arrows.

    Args:
        maze: the maze.
        routes: cells walked through, S first; an empty one is an absent answer. See `vpo_envs.maze.rewards.route`.
        rewards: (n, k), one row for each route.
        names: the k objectives.
    """
    blocks = [f"{maze.height} x {maze.width} maze, {maze.max_steps} steps\n{_text_grid(maze, [])}"]
    for number, (route, row) in enumerate(zip(routes, rewards, strict=True), start=1):
        if not route:
            outcome = "no answer"
        else:
            arrival = "reaches E" if route[-1] == maze.exit else "does not reach E"
            outcome = f"{arrival}, {len(route) - 1} cells from S"
        values = "  ".join(f"{name}={value:.2f}" for name, value in zip(names, row, strict=True))
        grid = f"\n{_text_grid(maze, route)}" if route else ""
        blocks.append(f"route {number}: {outcome}\n{values}{grid}")
    return "\n\n".join(blocks)


def _text_grid(maze: Maze, route: Sequence[int]) -> str:
    """The tiles; behind each cell the arrow by which the route leaves it (for the last time, if it comes back)."""
    arrows = {}
    for here, there in pairwise(route):
        (r, c), (rr, cc) = divmod(here, maze.width), divmod(there, maze.width)
        arrows[here] = _MOVE_COLUMNS[rr - r, cc - c]
    lines = (
        "".join(tile + arrows.get(r * maze.width + c, " ") for c, tile in enumerate(row)).rstrip()
        for r, row in enumerate(maze.rows)
    )
    return "\n".join(lines)


# ---- picture ------------------------------------------------------------------------------------------------------


def draw_rgb(maze: Maze, routes: Sequence[Sequence[int]], cell: int = 32) -> NDArray[np.uint8]:
    """A picture of the maze with its routes, uint8 (height * cell, width * cell, 3).

    Each route has its colour (`ROUTE_COLORS`), lies a little beside the others, and ends in a dot if it misses E.

    Args:
        maze: the maze.
        routes: cells walked through, S first; empty ones are not drawn.
        cell: pixels along the side of a tile, at least 8.

    Raises:
        ValueError: `cell` is too small.
    """
    if cell < MIN_CELL:
        raise ValueError(f"a tile needs at least {MIN_CELL} pixels, not {cell}")
    pictures = {tile: _tile(tile, cell) for tile in set("".join(maze.rows))}
    image = np.concatenate([np.concatenate([pictures[t] for t in row], axis=1) for row in maze.rows])
    strokes = _strokes(maze, routes, cell)
    for color, width, halo, points, _ in strokes:
        field = _polyline(image.shape, points, cell / 2)
        _paint(image, field - width / 2 - halo, _WHITE)
        _paint(image, field - width / 2, color)
    for at, tile in ((maze.start, START), (maze.exit, EXIT)):
        r, c = divmod(at, maze.width)
        _badge(image[r * cell : (r + 1) * cell, c * cell : (c + 1) * cell], tile)
    for color, width, halo, points, arrives in strokes:
        if not arrives:  # last, so that a route that never leaves S is seen on it
            field = _polyline(image.shape, points[-1:], cell / 2)
            radius = max(0.14 * cell, width)
            _paint(image, field - radius - halo, _WHITE)
            _paint(image, field - radius, color)
    return np.rint(image).astype(np.uint8)


def _strokes(
    maze: Maze, routes: Sequence[Sequence[int]], cell: int
) -> list[tuple[Color, int, float, list[tuple[float, float]], bool]]:
    """(colour, width, halo, corner points (y, x), whether it reaches E) of every route that is not empty, in pixels.

    Lanes are whole pixels apart and lines whole pixels wide, so that the lines are sharp.
    """
    colors = len(ROUTE_COLORS)
    lanes = min(len(routes), colors)
    gap = max(1, round(cell * min(0.15, 0.66 / max(1, lanes - 1))))
    width = max(1, min(round(0.14 * cell), gap - 1))
    halo = min(0.04 * cell, max(0.25, gap - width))
    strokes = []
    for number, route in enumerate(routes):
        if route:
            offset = (number % colors - (lanes - 1) / 2) * gap + cell / 2
            offset = round(offset - width / 2) + width / 2
            corners = [
                here
                for i, here in enumerate(route)
                if i in (0, len(route) - 1) or route[i + 1] - here != here - route[i - 1]
            ]
            points = [(y * cell + offset, x * cell + offset) for y, x in (divmod(k, maze.width) for k in corners)]
            points[0] = _to_centre(points[0], points[min(1, len(points) - 1)], cell)
            if route[-1] == maze.exit:
                points[-1] = _to_centre(points[-1], points[-2], cell)
            strokes.append((ROUTE_COLORS[number % colors], width, halo, points, route[-1] == maze.exit))
    return strokes


def _to_centre(end: tuple[float, float], other: tuple[float, float], cell: int) -> tuple[float, float]:
    """The end of a line moved along it to the middle of its tile, so that it hides under the badge there."""
    (y, x), middle = end, cell / 2
    return (y, x // cell * cell + middle) if y == other[0] else (y // cell * cell + middle, x)


def _tile(tile: str, cell: int) -> Field:
    """One tile without a badge, (cell, cell, 3)."""
    image = np.empty((cell, cell, 3))
    image[:] = _LINE
    y, x = _coordinates(cell)
    square = np.maximum(abs(x), abs(y)) - 0.5 * cell  # 0 on the border of the tile
    edge = max(1.0, cell / 32)
    _paint(image, square + edge, _FLOOR)
    if tile == WALL:
        _paint(image, square, (58, 63, 78))
        _paint(image, square + edge / 2, (87, 93, 110))
    elif tile == GOLD:
        distance = np.hypot(x, y)
        _paint(image, distance - 0.31 * cell, (171, 116, 12))
        _paint(image, distance - 0.27 * cell, (252, 204, 36))
        _paint(image, abs(distance - 0.15 * cell) - 0.025 * cell, (219, 155, 12))
    elif tile == DIAMOND:
        # A rhombus of half-axes 0.28 and 0.37, light from above on the left.
        rhombus = (abs(x) / 0.28 + abs(y) / 0.37 - cell) / np.hypot(1 / 0.28, 1 / 0.37)
        _paint(image, rhombus, (14, 92, 134))
        inside = rhombus + 0.04 * cell
        _paint(image, inside, (52, 186, 232))
        _paint(image, np.maximum(inside, x), (98, 211, 245))
        _paint(image, np.maximum(inside, y), (176, 236, 252))
    elif tile == LAVA:
        _paint(image, square + edge, (216, 52, 24))
        for middle in (-0.26, 0.0, 0.26):
            wave = abs(y - middle * cell - 0.055 * cell * np.sin(6 * np.pi * x / cell))
            _paint(image, np.maximum(wave / 1.3 - 0.038 * cell, square + 1.5 * edge), (255, 172, 52))
    elif tile == BONUS:
        star = _star(y - 0.02 * cell, x, 0.37 * cell)
        _paint(image, star, (76, 32, 122))
        _paint(image, star + 0.035 * cell, (178, 98, 240))
    return image


def _star(y: Field, x: Field, radius: float) -> Field:
    """Distance to a five-pointed star that points up; its notches lie at 0.42 of the radius."""
    sector = np.pi / 5
    angle = abs((np.arctan2(x, -y) + sector) % (2 * sector) - sector)  # from the nearest point of the star
    along, beside = np.hypot(x, y) * np.cos(angle), np.hypot(x, y) * np.sin(angle)
    notch = 0.42 * radius * np.array([np.cos(sector), np.sin(sector)])
    edge = notch - np.array([radius, 0.0])
    return ((along - radius) * edge[1] - beside * edge[0]) / np.hypot(*edge)


def _badge(image: Field, tile: str) -> None:
    """A white letter on a disc, painted over one tile (cell, cell, 3) in place."""
    cell = len(image)
    y, x = _coordinates(cell)
    distance = np.hypot(x, y)
    _paint(image, distance - 0.43 * cell, _WHITE)
    _paint(image, distance - 0.39 * cell, (20, 128, 84) if tile == START else (176, 34, 48))
    if tile == START:
        # Two bows of radius 0.1: over the top to the middle, and from there the other way.
        turn = np.linspace(-0.15 * np.pi, -1.5 * np.pi, 12)
        upper = [(0.1 * np.sin(a) - 0.1, 0.12 * np.cos(a)) for a in turn]
        letter = [upper + [(-a, -b) for a, b in reversed(upper)]]
    else:
        letter = [
            [(-0.2, 0.12), (-0.2, -0.1), (0.2, -0.1), (0.2, 0.12)],
            [(0.0, -0.1), (0.0, 0.09)],
        ]
    for stroke in letter:
        field = _polyline(image.shape, [((a + 0.5) * cell, (b + 0.5) * cell) for a, b in stroke], cell)
        _paint(image, field - max(0.5, 0.037 * cell), _WHITE)


def _coordinates(cell: int) -> tuple[Field, Field]:
    """y (cell, 1) and x (1, cell) of the pixels' centres, from the middle of a tile."""
    line: Field = np.arange(cell, dtype=np.float64) + (0.5 - cell / 2)
    return line[:, None], line[None, :]


def _polyline(shape: tuple[int, ...], points: Iterable[tuple[float, float]], reach: float) -> Field:
    """Distance (height, width) of each pixel to a line through points (y, x); for one point, to that point.

    Infinite for pixels farther away than about `reach`, which are not looked at.
    """
    corners = list(points)
    segments = list(pairwise(corners)) or [(corners[0], corners[0])]
    field = np.full(shape[:2], np.inf)
    for (y0, x0), (y1, x1) in segments:
        top, left = max(0, int(min(y0, y1) - reach)), max(0, int(min(x0, x1) - reach))
        near = field[top : int(max(y0, y1) + reach) + 1, left : int(max(x0, x1) + reach) + 1]
        y, x = np.arange(near.shape[0])[:, None] + (top + 0.5 - y0), np.arange(near.shape[1]) + (left + 0.5 - x0)
        dy, dx = y1 - y0, x1 - x0
        along = np.clip((y * dy + x * dx) / max(dy * dy + dx * dx, 1e-9), 0.0, 1.0)
        np.minimum(near, np.hypot(y - along * dy, x - along * dx), out=near)
    return field


def _paint(image: Field, field: Field, color: Color) -> None:
    """Blend a colour into (h, w, 3) where a signed distance (h, w) in pixels is negative."""
    touched = np.nonzero(field < 0.5)
    cover = np.minimum(0.5 - field[touched], 1.0)[:, None]
    image[touched] += cover * (np.array(color) - image[touched])
