"""The closed form against a replay, over the whole suite of workloads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from volvelle.domains import within_domains
from volvelle.interchange.layout_words import read_layout_words
from volvelle.presentable import Presentable
from volvelle.verbs.crosscheck.answers import CrossCheck, EstimatorDifference
from volvelle.verbs.crosscheck.crosscheck import check_step
from volvelle.verbs.crosscheck.suite import SUITE, SuiteRow
from volvelle.verbs.estimators import CLOSED, EVENT
from volvelle.verbs.named import Folder
from volvelle.verbs.question import question_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """One workload of the suite."""

    row: SuiteRow
    check: CrossCheck
    difference: EstimatorDifference
    """Of the replay from the closed form."""

    @property
    def closed(self) -> float:
        """Seconds by the closed form."""
        return self.check.times[CLOSED]

    @property
    def event(self) -> float:
        """Seconds by the replay."""
        return self.check.times[EVENT]

    @property
    def error(self) -> float:
        """By how much the closed form is off, as a share of the replay."""
        return self.closed / self.event - 1.0

    @property
    def chips(self) -> int:
        """Of the machine."""
        return self.check.cluster.accelerators


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SuiteCheck(Presentable):
    """All workloads, those that differ most first."""

    results: tuple[SuiteResult, ...]

    @property
    def workloads(self) -> int:
        """How many there are."""
        return len(self.results)

    @property
    def median(self) -> float:
        """Of the differences, whatever their sign."""
        return median(abs(result.error) for result in self.results)

    @property
    def worst(self) -> float:
        """The largest of them."""
        return max(abs(result.error) for result in self.results)

    @property
    def above(self) -> int:
        """Workloads that differ by more than one percent."""
        return sum(bool(result.difference.told) for result in self.results)


@within_domains
def crosscheck_suite(
    *,
    rows: Sequence[SuiteRow] = SUITE,
    catalogue: Folder = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> SuiteCheck:
    """Every workload of the suite by the closed form and by a replay, worst first, with causes.

    `progress` is told how many of how many are done.
    """
    results: list[SuiteResult] = []
    for done, row in enumerate(rows):
        progress(done, len(rows))
        results.append(_checked(row, catalogue))
    return SuiteCheck(results=tuple(sorted(results, key=lambda result: -abs(result.error))))


def _checked(row: SuiteRow, catalogue: Folder) -> SuiteResult:
    layout = read_layout_words(row.layout) | {f"offload_{what}": True for what in row.offload}
    asked = question_of(row.model, on=row.system, batch=row.batch, sequence=row.sequence, catalogue=catalogue, **layout)
    check = check_step(asked.step, asked.cluster, asked.mapping)
    difference = check.difference(EVENT, CLOSED)
    assert difference is not None, f"{row} has no order"
    return SuiteResult(row=row, check=check, difference=difference)
