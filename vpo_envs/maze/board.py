"""A maze as data: the grid, and what is computed from it once (moves, items, distances on bitboards)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

MOVES: dict[str, tuple[int, int]] = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
MOVE_INDEX: dict[str, int] = {name: i for i, name in enumerate(MOVES)}

START, EXIT, FLOOR, WALL, GOLD, DIAMOND, LAVA, BONUS = "SE.#GDLB"
TILES: dict[str, str] = {
    START: "start",
    EXIT: "exit",
    FLOOR: "floor",
    WALL: "wall",
    GOLD: "gold",
    DIAMOND: "diamond",
    LAVA: "lava",
    BONUS: "bonus",
}


@dataclass(frozen=True)
class Maze:
    """One maze: rows of tiles (`TILES`), all of one length, and the step budget.

    Cells are numbered row by row, `cell = row * width + column`. Sets of cells are ints, bit `cell` set for a member.
    """

    rows: tuple[str, ...]
    max_steps: int

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def cells(self, tile: str) -> list[int]:
        """Numbers of the cells with this tile, in reading order."""
        return [i for i, t in enumerate("".join(self.rows)) if t == tile]

    def mask(self, tile: str) -> int:
        """The set of cells with this tile."""
        return sum(1 << cell for cell in self.cells(tile))

    @cached_property
    def start(self) -> int:
        return "".join(self.rows).index(START)

    @cached_property
    def exit(self) -> int:
        return "".join(self.rows).index(EXIT)

    @cached_property
    def items(self) -> tuple[int, int, int, int]:
        """The sets of gold, diamond, lava and bonus cells."""
        return self.mask(GOLD), self.mask(DIAMOND), self.mask(LAVA), self.mask(BONUS)

    @cached_property
    def next_cell(self) -> tuple[tuple[int, int, int, int], ...]:
        """next_cell[cell][move]: where a move leads (UP, DOWN, LEFT, RIGHT); walls and borders leave it in place."""
        width = self.width + 1  # one column and two rows of wall around, so that no step needs a border check
        padded = WALL * width + "".join(row + WALL for row in self.rows) + WALL * width
        table = []
        for cell in range(self.width * self.height):
            p = cell + cell // self.width + width
            table.append(
                (
                    cell if padded[p - width] == WALL else cell - self.width,
                    cell if padded[p + width] == WALL else cell + self.width,
                    cell if padded[p - 1] == WALL else cell - 1,
                    cell if padded[p + 1] == WALL else cell + 1,
                )
            )
        return tuple(table)

    @cached_property
    def edges(self) -> tuple[int, int]:
        """The sets of cells that are not in the first column and not in the last one."""
        first = sum(1 << (r * self.width) for r in range(self.height))
        every = (1 << (self.width * self.height)) - 1
        return every & ~first, every & ~(first << (self.width - 1))

    def spread(self, cells: int, open_cells: int) -> int:
        """The open neighbours of a set of cells, as a set."""
        not_first, not_last = self.edges
        grown = (cells & not_first) >> 1 | (cells & not_last) << 1 | cells >> self.width | cells << self.width
        return grown & open_cells

    def layers(self, source: int, open_cells: int) -> list[int]:
        """Breadth-first layers from a cell over open cells: layers[d] is the set of cells at distance d."""
        layers = [1 << source]
        seen = layers[0]
        while frontier := self.spread(layers[-1], open_cells) & ~seen:
            layers.append(frontier)
            seen |= frontier
        return layers

    def distance(self, source: int, target: int, open_cells: int) -> int | None:
        """Length of a shortest path over open cells, None if there is none."""
        for d, layer in enumerate(self.layers(source, open_cells)):
            if layer >> target & 1:
                return d
        return None

    @cached_property
    def open_cells(self) -> int:
        """Every cell that is not a wall."""
        return (1 << (self.width * self.height)) - 1 & ~self.mask(WALL)
