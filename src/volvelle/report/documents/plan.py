"""What ``volvelle plan MODEL --json`` prints."""

from pydantic import create_model

from volvelle.estimators.result import Range
from volvelle.report.documents.compare import DifferenceEntry
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.estimate import TrainedEntry
from volvelle.report.documents.layout import LayoutEntry, layout_fields
from volvelle.report.documents.range_of_step import ModelErrorEntry, RangeOfStep
from volvelle.report.documents.run import RunEntry
from volvelle.search.sensitivity import Sensitivity


class _Taken(RangeOfStep):
    seconds: float = at("time")
    utilisation: float
    memory_bytes: float
    layout_kind: str = at("kind.word")
    """Its kind, told by its rarest part."""
    tied_layouts: int = at("ties")
    """Layouts of the same degrees and kind that the model tells from it by less than 1 %."""
    frameworks: list[str]
    """Those whose launch flags can say it."""
    measured_runs: int
    """Calibration runs with layouts of its kind."""
    bias: float | None
    """Of predictions of such runs from publications that were not fitted to."""
    p_fit: float | None
    """Chance that its memory suffices."""
    p_best: float | None
    """Chance that it is the fastest of the `compared` layouts that fit; None: it is not among them."""
    regret: float | None
    """How much longer it takes than the fastest in the mean, where it fits, were errors of layouts independent."""


RankedEntry = create_model(
    "RankedEntry", __base__=_Taken, __doc__="A layout, and what it takes.", **layout_fields("mapping.")
)


class LayoutErrorEntry(Document):
    """Errors that layouts have of their own, by runs of one model on one machine by two of them."""

    of_kind: float
    """One standard deviation of the error that layouts of one kind share, as a logarithm."""
    own: float
    """The same of that of each."""
    same_kind_pairs: int = at("same_kind")
    other_kind_pairs: int = at("other_kind")
    sources: int
    """Publications."""


class LaunchDocument(Document):
    """Launch flags of the fastest layout that a framework can express."""

    framework: str
    flags: str
    note: str
    """What that cost, where faster layouts cannot be expressed."""


class WayOutEntry(Document):
    """A change with which something fits, as a command."""

    command: str
    accelerators: int
    seconds: float = at("time")
    memory_bytes: float
    usd: float | None
    """A step, by what the machine costs to own."""


class _SizeTaken(RangeOfStep):
    accelerators: int
    seconds: float = at("time")
    utilisation: float
    run: RunEntry


SizeEntry = create_model(
    "SizeEntry", __base__=_SizeTaken, __doc__="A run on so many accelerators.", **layout_fields("mapping.")
)


class SearchedEntry(Document):
    """The sizes that a search looked at for the smallest."""

    least: int
    """Fewer accelerators cannot meet the date, even at the full rate of their products."""
    most: int
    count: int
    """Number of sizes looked at."""
    every: int | None
    """The search looked at every multiple of this number from `least` to `most`; None: fewer sizes."""


class SizingDocument(Document):
    """How many accelerators of a kind of machine a run takes."""

    model: str
    system: str
    trained: TrainedEntry
    batch: int = at("step.batch")
    sequence: int
    tokens: float
    days: float | None
    """The date to keep; None: none was given."""
    usd: float | None
    """The budget to keep; None: none was given."""
    smallest: SizeEntry | None  # type: ignore[valid-type]
    """The fewest accelerators that keep them; None: none do."""
    cheapest: SizeEntry | None  # type: ignore[valid-type]
    """The cheapest of those looked at that keep them."""
    sizes: list[SizeEntry]  # type: ignore[valid-type]
    """All that were looked at and can run."""
    searched: SearchedEntry
    notes: list[str]


class SettlingEntry(Document):
    """A measurement that tells which of the two likeliest layouts is faster."""

    layouts: list[LayoutEntry]  # type: ignore[valid-type]
    """The likelier one first."""
    benchmark: str
    minutes: float
    settles: float
    """Chance that it is then known with a chance above nine tenths which is faster."""


class PlanDocument(Document):
    """Layouts of a model on a machine, fastest first. Times in seconds, memory in bytes."""

    model: str
    system: str = at("cluster.name")
    trained: TrainedEntry
    batch: int = at("step.batch")
    sequence: int
    configurations: int = at("ranking.configurations")
    evaluated: int = at("ranking.evaluated")
    pruned: int = at("ranking.pruned")
    feasible: int = at("ranking.feasible")
    search_seconds: float = at("seconds")
    layouts: list[RankedEntry] = at("rested_layouts")  # type: ignore[valid-type]
    """Those that tie as one."""
    best_of_kinds: list[RankedEntry] = at("rested_kinds")  # type: ignore[valid-type]
    """The fastest of each kind, fastest first."""
    range: Range | None = at("best.time_range", None)
    model_error: ModelErrorEntry | None = at("basis.model_error", None)
    """What the model's share of the range of the time rests on; None: nothing was measured on such chips."""
    outside_calibration: list[str] = at("basis.outside")
    """Ways in which the first layout leaves what calibration runs tell of; each widens the range."""
    unpriced: list[str] = at("basis.unpriced")
    """What the model has that nothing prices; the range is wider by what runs of such models are off."""
    weakest_evidence: str = at("basis.weakest_evidence")
    """Grade of the weakest number of the machine that the answer rests on."""
    layout_error: LayoutErrorEntry | None
    """What chances of being the fastest rest on beside the machine's numbers."""
    compared: int | None
    """The number of layouts among which chances of being the fastest are shared out, whatever is shown of them."""
    sharing: int | None
    """How many of the likeliest layouts have nine tenths of the chance of being the fastest."""
    settling: SettlingEntry | None
    """What would tell which of the two likeliest is faster; None: one is likely enough to be the fastest."""
    run: RunEntry | None
    """Of all tokens by the first layout, where they were given."""
    difference: DifferenceEntry | None
    """Of the first layout, from that of the machine as it is, where some of its numbers were set."""
    nearest: RankedEntry | None  # type: ignore[valid-type]
    least_memory_bytes: float | None = at("dead_end.lightest.memory", None)
    """Where nothing fits: what the layout that needs least holds on its fullest rank."""
    ways_out: list[WayOutEntry] = at("dead_end.ways_out", [])
    """Where nothing fits: what would."""
    sensitivity: list[Sensitivity]
    notes: list[str]
    warnings: list[str]
    """What is known to be wrong or untried about the first layout."""
