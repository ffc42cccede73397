"""Rules by which ranks have partners: so far away, beside on a grid, one for all, or one after the other."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from volvelle.workload.message_passing.scaling.forms import grid_sides
from volvelle.workload.message_passing.trace import Mask, Whole

_BASE = 2**20
"""A step along one dimension of a grid is a digit to this base, moved by half of it."""
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Geometry:
    """How a partner is told from a rank: a label for both, and back."""

    name: str
    label: Callable[[Whole, Whole, int], Whole]
    """Of ranks, partners and how many ranks there are."""
    partner: Callable[[Whole, int, int, int], Whole]
    """Of ranks, a label, how many ranks there are, and which turn of the loop around it this is."""
    sweeps: bool = False
    """Whether partners change from turn to turn; a label then is the turn."""
    said: Callable[[int], str] = str


def _shift(ranks: Whole, label: int, count: int, turn: int) -> Whole:
    found = ranks + label
    return np.where((found >= 0) & (found < count), found, NOBODY)


def _around(ranks: Whole, partners: Whole, count: int) -> Whole:
    return (partners - ranks + (count - 1) // 2) % count - (count - 1) // 2


def _grid(dimensions: int, *, wraps: bool, flipped: bool) -> Geometry:
    def sides(count: int) -> tuple[int, ...]:
        found = grid_sides(count, dimensions)
        return found[::-1] if flipped else found

    def label(ranks: Whole, partners: Whole, count: int) -> Whole:
        found = np.zeros(len(ranks), dtype=np.int64)
        own, other = np.unravel_index(ranks, sides(count)), np.unravel_index(partners, sides(count))
        for here, there, side in zip(own, other, sides(count), strict=True):
            step = _around(here, there, side) if wraps else there - here
            found = found * _BASE + (step + _BASE // 2)
        return found

    def partner(ranks: Whole, label: int, count: int, turn: int) -> Whole:
        steps = digits(label, dimensions)
        there = np.ones(len(ranks), dtype=bool)
        found = []
        for here, step, side in zip(np.unravel_index(ranks, sides(count)), steps, sides(count), strict=True):
            moved = here + step
            if wraps:
                moved = moved % side
            else:
                there &= (moved >= 0) & (moved < side)
                moved = np.clip(moved, 0, side - 1)
            found.append(moved)
        return np.where(there, np.ravel_multi_index(tuple(found), sides(count)), NOBODY)

    about = f"{'flipped ' if flipped else ''}{dimensions}-D grid{' that wraps' if wraps else ''}"
    return Geometry(
        about,
        label,
        partner,
        said=lambda label: "(" + ", ".join(f"{step:+d}" for step in digits(label, dimensions)) + ")",
    )


def digits(label: int, dimensions: int) -> tuple[int, ...]:
    """Steps along each dimension of a grid."""
    found = []
    for _ in range(dimensions):
        label, digit = divmod(label, _BASE)
        found.append(digit - _BASE // 2)
    return tuple(reversed(found))


def _xor_turn(ranks: Whole, partners: Whole, count: int) -> Whole:
    apart = ranks ^ partners
    turn = np.round(np.log2(np.maximum(apart, 1))).astype(np.int64)
    return np.where((apart > 0) & (1 << turn == apart), turn, -(2**40))


def _others_turn(ranks: Whole, partners: Whole, count: int) -> Whole:
    return np.where(partners > ranks, partners - 1, partners)


def _within(found: Whole, count: int) -> Whole:
    return np.where((found >= 0) & (found < count), found, NOBODY)


GEOMETRIES = (
    Geometry("shift", lambda r, q, n: q - r, _shift, said=lambda label: f"{label:+d}"),
    Geometry("ring", _around, lambda r, label, n, turn: (r + label) % n, said=lambda label: f"{label:+d} around"),
    Geometry(
        "one rank", lambda r, q, n: q, lambda r, label, n, turn: np.where(r == label, NOBODY, np.full_like(r, label))
    ),
    *(
        _grid(dimensions, wraps=wraps, flipped=flipped)
        for dimensions in (2, 3)
        for wraps in (False, True)
        for flipped in (False, True)
    ),
    Geometry("2^turn apart", _xor_turn, lambda r, label, n, turn: _within(r ^ (1 << turn), n), sweeps=True),
    Geometry("turn ahead", lambda r, q, n: (q - r) % n - 1, lambda r, label, n, turn: (r + turn + 1) % n, sweeps=True),
    Geometry("turn behind", lambda r, q, n: (r - q) % n - 1, lambda r, label, n, turn: (r - turn - 1) % n, sweeps=True),
    Geometry(
        "every other",
        _others_turn,
        lambda r, label, n, turn: _within(np.where(turn >= r, turn + 1, turn), n),
        sweeps=True,
    ),
)
"""The simplest first."""

ROLES: dict[str, Callable[[Whole, int], Mask]] = {
    "all ranks": lambda ranks, count: np.ones(len(ranks), dtype=bool),
    "rank 0": lambda ranks, count: ranks == 0,
    "all but rank 0": lambda ranks, count: ranks != 0,
    "the last rank": lambda ranks, count: ranks == count - 1,
    "all but the last rank": lambda ranks, count: ranks != count - 1,
    "even ranks": lambda ranks, count: ranks % 2 == 0,
    "odd ranks": lambda ranks, count: ranks % 2 == 1,
}
"""Who does what not all do."""


def role_of(ranks: dict[int, Whole], possible: dict[int, Mask]) -> str | None:
    """The role of those who do something, of those who could, the same at every count of ranks; None: there is none."""
    for name, role in ROLES.items():
        if all(
            np.array_equal(np.flatnonzero(role(np.arange(count), count) & possible[count]), np.unique(own))
            for count, own in ranks.items()
        ):
            return name
    return None
