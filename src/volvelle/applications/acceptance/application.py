"""Tokens of a cycle of speculative decoding as an application: long windows from short ones.

A curve gives the tokens that a step of the target yields, by the number of drafted tokens. Acceptance at the first
position and its decay are found from windows of at most three tokens of the same curve; longer ones are predicted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar, final

import numpy as np

from volvelle.applications.contract import Application, Question
from volvelle.applications.measured_table import MeasuredTable, RowHead, read_table
from volvelle.applications.scores import Finding, RowValidation, ScoredRow
from volvelle.applications.table_cells import number, whole
from volvelle.catalogue import Catalogue
from volvelle.estimators.contract import Estimator
from volvelle.estimators.result import Estimate, RangedFigure
from volvelle.laws.serving.speculation import accepted_tokens, decayed_acceptance
from volvelle.quantities import Number, Quantity, percent
from volvelle.system.cluster import Cluster

SHORT = 3
"""Windows from which a curve is found."""
USUAL_DECAY = 0.951
"""Decay where a curve has a single short window: the geometric mean over whole calibration curves."""
TARGET = 0.04
"""Mean absolute error on held-out rows that was asked for."""
_GRID = np.arange(1, 1001) / 1000.0
_LEAST_DECAY = 0.3
_ANY = "dgx-h100/8"
"""Acceptance has nothing to do with the machine; a question has one."""

Windows = tuple[tuple[int, float], ...]
"""Drafted tokens, and tokens that a step of the target yields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceMeasurement:
    """One point of a curve, and the short windows of that curve."""

    head: RowHead
    method: str
    model: str
    dataset: str
    window: int | None
    tokens: float | None
    short: Windows = ()

    @property
    def curve(self) -> tuple[str, str, str, str]:
        """Which points belong together."""
        return (self.head.group, self.method, self.model, self.dataset)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWindow:
    """A window, and the short ones of the same curve."""

    window: int
    short: Windows


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAcceptance:
    """Acceptance of a curve: at the first position, and what is left of it at each one behind."""

    first: float
    decay: float

    def tokens(self, window: int) -> float:
        """Tokens of a cycle."""
        return float(_tokens(self.first, self.decay, window))


def _tokens(first: Number, decay: Number, window: int) -> Number:
    places = range(1, window + 1)
    return accepted_tokens([decayed_acceptance(float(place), first=first, decay=decay) for place in places])


@cache
def acceptance_of(short: Windows, *, even: bool = False) -> FoundAcceptance:
    """The two numbers that leave the least squares of relative errors; `even`: no decay, one acceptance everywhere.

    One window cannot tell two numbers apart: then the decay is the usual one.
    """
    decays = _GRID[_GRID >= _LEAST_DECAY] if len(short) > 1 else np.array([USUAL_DECAY])
    decays = np.ones(1) if even else decays
    first, decay = _GRID[:, None], decays[None, :]
    off = sum((np.asarray(_tokens(first, decay, window)) / tokens - 1.0) ** 2 for window, tokens in short)
    row, place = np.unravel_index(np.argmin(off), np.shape(off))
    return FoundAcceptance(first=float(_GRID[row]), decay=float(decays[place]))


@final
class TokensOfCycle(Estimator[AskedWindow, str]):
    """Tokens of a cycle, by acceptance that decays with the position."""

    def estimate(self, asked: AskedWindow, system: Cluster, decision: str) -> Estimate[AskedWindow, str]:
        """The estimate, with the tokens and the two numbers behind them as figures."""
        found = acceptance_of(asked.short)
        facts = {"tokens": found.tokens(asked.window), "first": found.first, "decay": found.decay}
        return Estimate(workload=asked, decision=decision, contributions=(), facts=facts)


def acceptance_measurements(file: Path | None = None) -> MeasuredTable[AcceptanceMeasurement]:
    """All rows, each with the short windows of its curve."""
    table = read_table(
        "serving_acceptance",
        _measurement,
        needed=("row_id", "model", "window"),
        measured=("tokens_per_step",),
        file=file,
    )
    short: dict[tuple[str, str, str, str], list[tuple[int, float]]] = {}
    for row in table.rows:
        if row.window is not None and row.tokens is not None and row.window <= SHORT:
            short.setdefault(row.curve, []).append((row.window, row.tokens))
    rows = (replace(row, short=tuple(sorted(short.get(row.curve, ())))) for row in table.rows)
    return MeasuredTable(rows=tuple(rows), unread=table.unread)


def _measurement(head: RowHead, row: Mapping[str, str]) -> AcceptanceMeasurement:
    return AcceptanceMeasurement(
        head=head,
        method=row.get("method", ""),
        model=row["model"],
        dataset=row.get("dataset", ""),
        window=whole(row, "window"),
        tokens=number(row, "tokens_per_step"),
    )


class Acceptance(Application[AcceptanceMeasurement, AskedWindow, str, None]):
    """Tokens that long windows of drafts yield, against published curves."""

    word: ClassVar[str] = "acceptance"
    about: ClassVar[str] = "Tokens of speculative decoding against published curves."
    unit: ClassVar[str] = "tokens a step of the target"
    quantity: ClassVar[Quantity | None] = None
    groups_are: ClassVar[str] = "drafter and target"
    figure: ClassVar[str] = "tokens"

    rows = staticmethod(acceptance_measurements)

    def question(self, row: AcceptanceMeasurement, catalogue: Catalogue) -> Question[AskedWindow, str, None] | str:
        """What the short windows of its curve say of a long one."""
        if row.window is None or row.tokens is None:
            return row.head.excluded_because or "it states no window or no tokens"
        if row.window <= SHORT:
            return f"a window of at most {SHORT}: the curve is found from it"
        if not row.short:
            return f"no window of at most {SHORT} tokens is published for this curve"
        assumed = (f"a decay of {USUAL_DECAY:g}",) if len(row.short) == 1 else ()
        asked = AskedWindow(window=row.window, short=row.short)
        return Question(
            candidates=((asked, row.method),), system=catalogue.cluster(_ANY), calibration=None, assumed=assumed
        )

    def estimator(self, calibration: None = None) -> Estimator[AskedWindow, str]:
        """Acceptance that decays."""
        return TokensOfCycle()

    def measured(self, row: AcceptanceMeasurement) -> float | None:
        """Tokens, the one that the target adds included."""
        return row.tokens

    def predicted(self, row: AcceptanceMeasurement, estimate: Estimate[AskedWindow, str]) -> RangedFigure:
        """Tokens; a cycle has no time of its own here."""
        return RangedFigure(value=estimate.facts["tokens"])

    def label(self, row: AcceptanceMeasurement, question: Question[AskedWindow, str, None]) -> str:
        """The target, what it was asked, and the window."""
        return f"{row.model}, {row.dataset}, {row.window} drafted"

    def details(self, row: AcceptanceMeasurement) -> Mapping[str, object]:
        """The same for JSON."""
        return {"method": row.method, "model": row.model, "dataset": row.dataset, "window": row.window}

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """The target, and what one acceptance for all positions would give."""
        held = [row for row in validation.rows if row.head.split == "heldout"]
        if not held:
            return
        ours, even = _mean([row.error for row in held]), _mean([_even_error(row) for row in held])
        verdict = "met" if ours <= TARGET else "not met"
        yield Finding(
            key="target",
            value={
                "split": "heldout",
                "mean_abs_error": TARGET,
                "found": ours,
                "with_one_acceptance": even,
                "windows_above": SHORT,
            },
            lines=(
                f"Held-out windows above {SHORT}: mean error {percent(ours)} over {len(held)} rows; with one "
                f"acceptance for all positions {percent(even)}.",
                f"Target: a mean of at most {percent(TARGET, 0)} on held-out rows, {verdict}.",
            ),
        )


def _mean(errors: list[float]) -> float:
    return float(np.mean(np.abs(errors)))


def _even_error(row: ScoredRow) -> float:
    """Relative error of a row with one acceptance for all positions."""
    assert isinstance(row.row, AcceptanceMeasurement), "curves are scored by their own rows"
    return acceptance_of(row.row.short, even=True).tokens(row.row.window or 0) / row.measured - 1.0


ACCEPTANCE = Acceptance()
