"""Acceptance of a way to draft: what the user says, or published curves of that kind of drafter, with how far off.

Only calibration curves are taken: those that are held out are for scores alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import exp, log, sqrt

from volvelle.applications.acceptance.curves import USUAL_DECAY, FoundAcceptance, acceptance_of
from volvelle.applications.acceptance.measurements import AcceptanceMeasurement, acceptance_measurements
from volvelle.laws.serving.speculation import accepted_tokens, any_accepted
from volvelle.workload.serving.drafting import Drafting, DraftMethod, Windows

_METHODS = {
    DraftMethod.PARALLEL: ("p-eagle", "dspark"),
    DraftMethod.EAGLE: ("eagle",),
    DraftMethod.MTP: ("mtp",),
    DraftMethod.NGRAM: ("n-gram",),
}
"""What sources call a kind of drafter; the first that fits decides."""
NAMES = {
    DraftMethod.MODEL: "draft models",
    DraftMethod.EAGLE: "EAGLE heads",
    DraftMethod.MTP: "MTP layers",
    DraftMethod.PARALLEL: "parallel drafters",
    DraftMethod.NGRAM: "n-gram drafts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAcceptance:
    """Acceptance of a way to draft, how far off it may be, and who says so."""

    found: FoundAcceptance
    error: float
    """One standard deviation of the tokens of a cycle, as a factor."""
    source: str
    stands_in: bool = False
    """Whether it was measured of other kinds of drafters."""

    def levels(self, drafting: Drafting) -> tuple[float, ...]:
        """Chance that a level is passed: that any of its candidates is accepted, each with that of its position."""
        return tuple(
            float(any_accepted([self.found.at(place)] * branches)) for place, branches in enumerate(drafting.levels, 1)
        )

    def tokens(self, drafting: Drafting) -> float:
        """Tokens of a cycle, on average."""
        return float(accepted_tokens(self.levels(drafting)))


def known_acceptance(drafting: Drafting) -> KnownAcceptance:
    """As the user says it; else as published curves of such drafters have it, of all where there is none."""
    window = drafting.window or 1
    if drafting.curve:
        found = acceptance_of(drafting.curve)
        off = max(_residual(found, drafting.curve), _shape_error())
        return KnownAcceptance(found=found, error=exp(off), source=drafting.curve_name)
    if drafting.first is not None:
        decay = USUAL_DECAY if drafting.decay is None else drafting.decay
        found = FoundAcceptance(first=drafting.first, decay=decay)
        usual = f", with the usual decay of {USUAL_DECAY:g}" if drafting.decay is None else ""
        return KnownAcceptance(found=found, error=exp(_shape_error()), source=f"as said{usual}")
    curves = _curves(drafting.drafter)
    stands_in = not curves
    curves = curves or _curves(None)
    found = acceptance_of(tuple(point for points in curves.values() for point in points))
    if drafting.decay is not None:
        found = FoundAcceptance(first=found.first, decay=drafting.decay)
    of = f"no curve of {NAMES[drafting.drafter]} is there: all drafters'" if stands_in else NAMES[drafting.drafter]
    count = f"{len(curves)} published curve{'s' if len(curves) > 1 else ''}"
    return KnownAcceptance(
        found=found,
        error=exp(_spread(found, tuple(curves.values()), window)),
        source=f"{count} of {of}" if not stands_in else f"{of} {count}",
        stands_in=stands_in,
    )


def _kind(method: str) -> DraftMethod | None:
    words = method.lower()
    return next((kind for kind, names in _METHODS.items() if any(name in words for name in names)), None)


def _rows() -> Iterator[AcceptanceMeasurement]:
    for table in ("serving_acceptance", "serving_ngram"):
        for row in acceptance_measurements(table=table).rows:
            if row.head.split == "calibration" and row.window is not None and row.tokens is not None:
                yield row


@cache
def _curves(drafter: DraftMethod | None) -> dict[tuple[str, ...], Windows]:
    """Calibration curves of a kind of drafter; None: of all kinds that have a model or a head."""
    found: dict[tuple[str, ...], list[tuple[int, float]]] = {}
    for row in _rows():
        kind = _kind(row.method)
        if kind is drafter or (drafter is None and kind is not DraftMethod.NGRAM):
            assert row.window is not None, "rows have a window and tokens"
            assert row.tokens is not None, "rows have a window and tokens"
            found.setdefault(row.curve, []).append((row.window, row.tokens))
    return {curve: tuple(sorted(points)) for curve, points in found.items()}


def _residual(found: FoundAcceptance, points: Windows) -> float:
    """Root mean square of what two numbers leave of a curve, as a logarithm."""
    return sqrt(sum(log(found.tokens(window) / tokens) ** 2 for window, tokens in points) / len(points))


@cache
def _shape_error() -> float:
    """How far two numbers are off whole calibration curves that they were found from."""
    long = [points for points in _curves(None).values() if len(points) > 2]
    return sqrt(sum(_residual(acceptance_of(points), points) ** 2 for points in long) / len(long))


def _spread(found: FoundAcceptance, curves: tuple[Windows, ...], window: int) -> float:
    """How far curves lie around what is taken for all of them, at the window of each that is nearest."""
    nearest = [min(points, key=lambda point: abs(point[0] - window)) for points in curves]
    return max(_residual(found, tuple(nearest)), _shape_error())
