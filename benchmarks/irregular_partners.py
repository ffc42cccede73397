"""How far partners by chance are known: totals of 32 ranks from 4, 8 and 16, over many draws of examples/mpi/irregular.

Who touches whom is drawn as that program draws it, without running it. A draw of 32 ranks differs from the mean of all
draws by chance: nobody who has only seen fewer ranks can be nearer to it than that. Figures are JSON on the last line.
"""

import argparse
import json

import numpy as np

from volvelle.workload.message_passing.scaling.forms import total_form

FEW, MANY = (4, 8, 16), 32
POINTS, REACH = 600, 2.2
NEAR = 0.05
FIRST = 1_000_000
"""The first seed: forms were chosen by others."""


def curve(place: np.ndarray) -> np.ndarray:
    """Where points are on a Z-curve, as the program has it."""
    x, y = (place * 1024).astype(np.int64).T
    found: np.ndarray = sum(((x >> bit & 1) << 2 * bit) | ((y >> bit & 1) << 2 * bit + 1) for bit in range(10))
    return found


def touching(seed: int, ranks: int, points: int = POINTS) -> tuple[int, int]:
    """Pairs of ranks that exchange, both ways, and the bytes of a turn."""
    count = points * ranks
    place = np.random.default_rng(seed).random((count, 2))
    place = place[np.argsort(curve(place), kind="stable")]
    reach = REACH / np.sqrt(count)
    owner = np.arange(count) // points
    side = int(1.0 / reach)
    # Points of a cell and of those around it: only they can be within reach.
    cell = (place * side).astype(np.int64)
    order = np.lexsort((cell[:, 1], cell[:, 0]))
    starts = np.searchsorted((cell[:, 0] * side + cell[:, 1])[order], np.arange(side * side + 1))
    found: dict[int, int] = {}
    for right, up in ((0, 0), (1, -1), (1, 0), (1, 1), (0, 1)):
        beside = cell + np.array([right, up])
        inside = np.flatnonzero(((beside >= 0) & (beside < side)).all(axis=1))
        numbers = beside[inside, 0] * side + beside[inside, 1]
        many = starts[numbers + 1] - starts[numbers]
        first = np.repeat(inside, many)
        turn = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        second = order[np.repeat(starts[numbers], many) + turn]
        near = np.hypot(*(place[first] - place[second]).T) < reach
        near &= owner[first] != owner[second]
        if (right, up) == (0, 0):
            near &= first < second
        ends = np.sort(np.stack([owner[first[near]], owner[second[near]]]), axis=0)
        for key, each in zip(*np.unique(ends[0] * ranks + ends[1], return_counts=True), strict=True):
            found[int(key)] = found.get(int(key), 0) + int(each)
    return 2 * len(found), 2 * 8 * sum(found.values())


def main() -> None:
    """Draw, extrapolate, and hold against what was drawn."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--json", action="store_true")
    asked.add_argument("--draws", type=int, default=100)
    asked.add_argument("--points", type=int, default=POINTS)
    options = asked.parse_args()
    # As in the program, counts of ranks share a seed: what is drawn for fewer is a part of what is drawn for more.
    drawn = [
        {ranks: touching(FIRST + draw, ranks, options.points) for ranks in (*FEW, MANY)}
        for draw in range(options.draws)
    ]
    real = np.array([draw[MANY] for draw in drawn], dtype=float)
    made = np.array(
        [
            [total_form({ranks: float(draw[ranks][column]) for ranks in FEW})(MANY) for column in (0, 1)]
            for draw in drawn
        ]
    )
    mean = real.mean(axis=0)
    figures: dict[str, object] = {"draws": options.draws, "points_a_rank": options.points}
    for name, column in (("pairs", 0), ("bytes", 1)):
        apart = np.abs(made[:, column] / real[:, column] - 1.0)
        against = np.abs(made[:, column] / mean[column] - 1.0)
        figures[name] = {
            "spread_between_draws": float(real[:, column].std() / mean[column]),
            "mean_error": float(apart.mean()),
            "worst_error": float(apart.max()),
            "mean_error_against_mean_draw": float(against.mean()),
            "bias": float((made[:, column] / mean[column]).mean() - 1.0),
        }
    for name, ends in (("made", made), ("mean_draw", np.broadcast_to(mean, real.shape))):
        figures[f"both_within_5_percent_{name}"] = float((np.abs(ends / real - 1.0) <= NEAR).all(axis=1).mean())
    if not options.json:
        for name, said in figures.items():
            print(f"{name}: {said}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
