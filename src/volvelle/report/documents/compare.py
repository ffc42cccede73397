"""What ``volvelle compare --json`` prints, and how an answer differs from the machine as it is."""

from volvelle.estimators.result import Range
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.range_of_step import RangeOfStep
from volvelle.report.documents.run import RunEntry


class DifferenceEntry(Document):
    """What an answer takes, seen from another."""

    name: str
    baseline: str
    ratio: float
    """Time for a token, over the baseline's."""
    range: Range
    """Of that ratio."""
    chance: float
    """That it is faster, or slower, as the ratio says."""
    verdict: str
    """real, likely or not told apart."""
    parts: dict[str, float]
    """Part of a step → seconds more than the baseline's, for as many tokens."""
    ratios: dict[str, float] = at("figures")
    """Memory of a chip, energy and money for as many tokens, each over the baseline's."""
    rests_on: str
    """What the range and the chance rest on."""


class AlternativeEntry(RangeOfStep):
    """One of what is compared, and what it takes."""

    name: str
    what: str
    """What it is: system, model, layout, stack, change or answer."""
    model: str
    system: str
    stack: str
    feasible: bool
    layout: dict[str, object]
    seconds: float | None = at("time")
    range: Range | None
    tokens: float
    """A step."""
    sequence: int
    """Tokens per sequence."""
    tokens_per_second: float | None
    utilisation: float | None
    memory_bytes: float | None
    memory_capacity: float | None
    joules: float | None
    usd: float | None
    run: RunEntry | None
    parts: dict[str, float]


class CompareDocument(Document):
    """Alternatives, and how each differs from the first."""

    alternatives: list[AlternativeEntry]
    differences: list[DifferenceEntry | None]
    """Of every alternative but the first; None: it, or the first, cannot exist."""
    notes: list[str]
