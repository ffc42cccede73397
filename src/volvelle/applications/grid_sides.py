"""A grid of three dimensions as it is typed."""

from collections.abc import Iterator, Mapping

from volvelle.errors import DescriptionError


def grid_sides(grid: str) -> tuple[int, int, int]:
    """One side for all, or three."""
    sides = grid.lower().split("x")
    if len(sides) not in (1, 3) or not all(side.strip().isdecimal() for side in sides):
        raise DescriptionError(f"{grid!r} is no grid; write one side like 1024, or three like 2048x2048x1024")
    x, y, z = (int(side) for side in (sides * 3 if len(sides) == 1 else sides))
    return x, y, z


def scaled_grids(grid: str, *, smaller: bool) -> Iterator[Mapping[str, str]]:
    """Yield the option of a grid with every side halved, or doubled, once, twice and three times.

    >>> [one["grid"] for one in scaled_grids("64x64x32", smaller=True)]
    ['32x32x16', '16x16x8', '8x8x4']
    """
    sides = grid_sides(grid)
    for power in (1, 2, 3):
        scaled = [side // 2**power if smaller else side * 2**power for side in sides]
        if min(scaled) >= 1:
            yield {"grid": "x".join(map(str, scaled))}
