"""Drawing a maze and the routes through it."""


def draw_ansi(maze, routes, rewards, names):
    return "\n".join(" ".join(r) for r in maze.rows)


def draw_rgb(maze, routes):
    raise NotImplementedError
