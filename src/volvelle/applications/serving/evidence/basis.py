"""What the range of a figure of serving rests on: runs behind its error, and in what these are unlike the question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.stand_ins import engine_of_kernel_error, stand_ins
from volvelle.applications.serving.static_answer import UNFITTED, prediction_errors
from volvelle.catalogue.engines import SPLIT, ErrorRows, split_error, split_error_rows
from volvelle.estimators.step_errors import CHIP, KIND, PRECISION
from volvelle.quantities import numbered
from volvelle.spread import Figure
from volvelle.workload.serving.loads import AbstractLoad, AtOnce, Closed

CLOSED_LOOPS, BATCHES, STEPS, SATURATED, OPEN_LOADS = (
    "closed loops",
    "batches given at once",
    "single steps",
    "requests that always wait",
    "open loads",
)
"""What is put on an engine."""
DENSE, EXPERTS = "dense", "experts"
FITTED, GROUP_LEFT_OUT, FAMILY_LEFT_OUT, NEVER_FITTED = "fitted", "group left out", "family left out", "never fitted"
"""What constants saw of the runs that they are judged by."""
LOAD = "kind of load"
"""In which a question may be unlike all runs; the other ways are those of training."""
_JUDGED = {
    FITTED: "by constants that were fitted to them",
    GROUP_LEFT_OUT: "a chip with its model left out of the fit at a time",
    FAMILY_LEFT_OUT: "by constants of other chips",
    NEVER_FITTED: "by constants that were fitted to none of them",
}
_SAME = {"fp16": "bf16"}
"""Formats that are read and multiplied as another one is."""
_CALLED = {"ttft": "TTFT", "tpot": "TPOT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingBasis:
    """What the range of one figure rests on."""

    figure: str
    """``ttft``, ``tpot``, ``latency`` or ``throughput``."""
    engine: str
    """Whose runs are behind it; for people."""
    family: str
    """Of the chips that are asked about."""
    factor: float
    """One standard deviation."""
    weakest_evidence: str
    """Grade of the weakest number of the chip that the figure rests on."""
    model_error: ErrorRows | None
    """Runs of the catalogue that tell the error; None: none does."""
    own_runs: str = ""
    """Runs of one's own that tell it, in words; empty: none."""
    outside: tuple[str, ...] = ()
    """Ways in which the question is unlike all of these runs."""
    acceptance: str = ""
    """What is known of the acceptance of drafts, whose doubt is added; empty: nothing is drafted, or it needs none."""
    units_unknown: bool = False
    """Whether the range is wider because the number of the chip's units is unknown."""

    @property
    def calibrated(self) -> bool:
        """Whether any run tells how far the figure is off."""
        return self.model_error is not None or bool(self.own_runs)


def load_kind(load: AbstractLoad | None) -> str:
    """What is put on an engine, as runs are told apart by it; None: a batch."""
    if load is None:
        return BATCHES
    return CLOSED_LOOPS if isinstance(load, Closed) else SATURATED if isinstance(load, AtOnce) else OPEN_LOADS


def serving_bases(instance: Instance, load: str) -> Mapping[str, ServingBasis]:
    """For every figure of an instance under a kind of load."""
    engine, drafts = instance.engine, instance.speculation
    experts = instance.served.shape.experts is not None
    standing = tuple(stand_ins(instance.chip, instance.iteration.kernels))
    found = {}
    for figure, factor in prediction_errors(instance).items():
        rows, told = engine.rows_of(figure, experts=experts), engine
        error = engine.error_of(figure, experts=experts)
        own = rows is None and error is not None
        widening = [one for one in standing if one.widens(engine, figure, instance.chip, experts=experts)]
        if any(one.least > (error or UNFITTED) for one in widening):
            told = engine_of_kernel_error()
            rows = told.rows_of("latency", experts=False)
        found[figure] = ServingBasis(
            figure=figure,
            engine=told.title,
            family=instance.chip.family,
            factor=factor,
            weakest_evidence=_weakest(instance),
            model_error=rows,
            own_runs=engine.fitted_to if own else "",
            outside=() if rows is None else tuple(_unlike(rows, instance, load)),
            acceptance="" if drafts is None or figure == "ttft" else drafts.acceptance.source,
            units_unknown=any(one.added > 1.0 for one in widening),
        )
    return found


def bases_of_pools(prefill: Instance, decode: Instance, load: str) -> Mapping[str, ServingBasis]:
    """The same of two pools: of the one that a figure's error comes from, or of runs of split pools."""
    first, second = serving_bases(prefill, load), serving_bases(decode, load)
    of = {"ttft": (first,), "tpot": (second,), "latency": (first, second), "throughput": (first, second)}
    found = {}
    for figure, pools in of.items():
        widest = max((pool[figure] for pool in pools), key=lambda basis: basis.factor)
        rows, factor = split_error_rows(figure), split_error(figure)
        if rows is not None and factor > widest.factor:
            widest = ServingBasis(
                figure=figure,
                engine=SPLIT,
                family=widest.family,
                factor=factor,
                weakest_evidence=widest.weakest_evidence,
                model_error=rows,
                outside=tuple(_unlike(rows, decode, load)),
            )
        found[figure] = widest
    return found


def _weakest(instance: Instance) -> str:
    """Grade of the chip's numbers that steps rest on."""
    chip = instance.chip
    names = (f"matrix_rates.{instance.served.dense_format.multiplied_in}", "memories.0.rate", "memories.0.capacity")
    return Figure.weakest(*(chip.figures[name] for name in names if name in chip.figures)).word


def _unlike(rows: ErrorRows, instance: Instance, load: str) -> Iterator[str]:
    kind = DENSE if instance.served.shape.experts is None else EXPERTS
    asked = (
        (CHIP, instance.chip.family, rows.families),
        (KIND, kind, rows.models),
        (PRECISION, _SAME.get(instance.served.weights, instance.served.weights), rows.weights),
        (LOAD, load, rows.loads),
    )
    return (way for way, own, known in asked if own not in known)


def basis_words(bases: Sequence[ServingBasis]) -> Iterator[str]:
    """What ranges of figures rest on, a sentence for all that rest on the same."""
    told: dict[str, list[str]] = {}
    for basis in bases:
        told.setdefault(_rests(basis), []).append(_CALLED.get(basis.figure, basis.figure))
    yield from (f"range of {_listed(figures)}: {rests}" for rests, figures in told.items())
    for grade in dict.fromkeys(basis.weakest_evidence for basis in bases):
        yield f"the weakest number of the chip that figures rest on is {grade}"


def _rests(basis: ServingBasis) -> str:
    drafted = ", and the unknown number of the chip's units" if basis.units_unknown else ""
    drafted += ", and what is open of the acceptance of drafts" if basis.acceptance else ""
    if basis.own_runs:
        return f"how far the model was off on {basis.own_runs}{drafted}"
    rows = basis.model_error
    if rows is None:
        return (
            f"no run of {basis.engine} on {basis.family} chips tells, so that one standard deviation is taken to be a "
            f"factor of {basis.factor:.3g}{drafted}"
        )
    beyond = f"; no run is like this in {_listed(basis.outside)}" if basis.outside else ""
    return (
        f"how far {rows.rows:,} runs of {basis.engine} on {_listed(rows.families)} chips "
        f"({numbered(rows.sources, 'publication')}, {numbered(rows.groups, 'pair')} of chip and model; "
        f"{', '.join(rows.loads)}) were off, {_JUDGED[rows.judged]}{drafted}{beyond}"
    )


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
