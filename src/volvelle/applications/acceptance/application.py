"""Tokens of a cycle of speculative decoding as an application: long windows from short ones.

A curve gives the tokens that a step of the target yields, by the number of drafted tokens. Acceptance at the first
position and its decay are found from windows of at most three tokens of the same curve; longer ones are predicted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from volvelle.applications.acceptance.curves import USUAL_DECAY, acceptance_of
from volvelle.applications.acceptance.measurements import SHORT, AcceptanceMeasurement, acceptance_measurements
from volvelle.applications.contract import Application, Question
from volvelle.applications.scores import Finding, RowValidation, ScoredRow
from volvelle.catalogue import Catalogue
from volvelle.estimators.contract import Estimator
from volvelle.estimators.result import Estimate, RangedFigure
from volvelle.quantities import Quantity, percent
from volvelle.system.cluster import Cluster
from volvelle.workload.serving.drafting import Windows

TARGET = 0.04
"""Mean absolute error on held-out rows that was asked for."""
_ANY = "dgx-h100/8"
"""Acceptance has nothing to do with the machine; a question has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWindow:
    """A window, and the short ones of the same curve."""

    window: int
    short: Windows


@final
class TokensOfCycle(Estimator[AskedWindow, str]):
    """Tokens of a cycle, by acceptance that decays with the position."""

    def estimate(self, asked: AskedWindow, system: Cluster, decision: str) -> Estimate[AskedWindow, str]:
        """The estimate, with the tokens and the two numbers behind them as figures."""
        found = acceptance_of(asked.short)
        facts = {"tokens": found.tokens(asked.window), "first": found.first, "decay": found.decay}
        return Estimate(workload=asked, decision=decision, contributions=(), facts=facts)


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
