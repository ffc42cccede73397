"""A grid of three dimensions as it is typed."""

from volvelle.errors import DescriptionError


def grid_sides(grid: str) -> tuple[int, int, int]:
    """One side for all, or three."""
    sides = grid.lower().split("x")
    if len(sides) not in (1, 3) or not all(side.strip().isdecimal() for side in sides):
        raise DescriptionError(f"{grid!r} is no grid; write one side like 1024, or three like 2048x2048x1024")
    x, y, z = (int(side) for side in (sides * 3 if len(sides) == 1 else sides))
    return x, y, z
