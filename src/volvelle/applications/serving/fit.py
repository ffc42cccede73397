"""Fits what engines add to their kernels: least squares, step by step, over all that was measured of an engine."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from random import Random

import numpy as np

from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.fit_errors import LEFT_OUT, WEIGHTS, Asked, AskedRow, errors_of, left_out, residuals
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.log_fit import fit_to_logs
from volvelle.applications.serving.measurements import ServingMeasurement
from volvelle.applications.serving.nearest import cost, nearest_constants
from volvelle.applications.serving.runs import ServingRun
from volvelle.applications.serving.split.measured import KIND
from volvelle.applications.serving.told_settings import is_of_other_kind
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import serving_engine
from volvelle.errors import VolvelleError
from volvelle.estimators.serving.cache import weight_bytes
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.laws.recommendation import distinct_count

FITTED = (
    *(
        "reading",
        "narrow",
        "multiplying",
        "attending",
        "narrow_cache",
        "unshared",
        "fetching",
        "grouping",
        "unpacking",
        "expert_start",
        "exchanging",
        "exchange_start",
        "launch",
        "attention_start",
        "host",
        "host_rank",
        "host_data",
        "host_behind",
        "host_sequence",
        "stage_sequence",
        "per_sequence",
        "per_admission",
        "eager_launch",
        "eager_heavy",
    ),
    *("pair_time", "passes", "first_token", "tokenising", "skew", "state_reading", "scan_efficiency"),
)
"""Constants that are fitted, all of them by their logarithms."""
_ROUNDS = 4
_SIMULATED_ROUNDS = 3
"""Of fits whose rows take a simulation each."""
_ROUNDS_AGAIN = 2
"""Of fits that go on from constants that are known."""
_SHRINKAGE = 0.2
"""How strongly constants are held to where they started, for every square root of fifty figures."""
_SIMULATED = ("closed_loop", "saturated_throughput")
"""Tables whose rows take a simulation each: a fit looks at few of a group, but at some dozens in all."""
_FEW, _DOZENS = 3, 90
_OF_OTHERS = 10
_CACHED = frozenset({("vllm", "llama3-8b", "h200-sxm")})
"""Engines, models and chips whose rows are not looked at: prompts came faster than the chips can multiply (76 % of peak
beside all else), so that they were found in a cache, and rows do not say how much of them."""
_ODD = frozenset({("sambaflow", "llama2-7b", "sn40l")})
"""Those that are judged by and not fitted to: a token takes 2.9 ms after 128 others and 1.7 ms after 1 024."""
_SOONEST = 0.8
"""Of the time in which experts would be read that tokens choose evenly; they choose some oftener."""
_NOT_FITTED = (KIND, "mlperf")
"""Kinds that are held to constants of other runs: two pools, and submissions that were tuned for one benchmark."""
_LAUNCHES = (1.0, 3.0, 6.0, 12.0)
"""Times of the usual time of a launch that a fit may start from: below where launches decide, none of it is felt."""
_UNSHARED = (0.02, 0.2, 1.0)
"""Shares of heads that read keys of their own which a fit may start from: kernels do it, in part, or not."""
_BOTH = 2
_TIMED_ALONE = frozenset({"ampere", "hopper", "ada", "blackwell"})
"""Families of chips whose kernels of attention were timed one by one."""
_OF_EXPERTS = frozenset({"fetching", "grouping", "unpacking", "expert_start", "skew", "host_data", "eager_heavy"})
"""Constants that steps of models without experts hardly feel."""
_AS_ONE_PROGRAM = ("sambaflow",)
"""Engines whose chips run layers as one program."""
_STRUCTURE = ("gathers", "joins_norms", "windows_beyond")
"""What is known of an engine by its source, and not fitted."""
_AHEAD = ("vllm", "sglang", "trtllm")
"""Engines that schedule the next step while the chips are at one."""
_SOON_PAIRED = ("trtllm",)
"""Engines whose attention hardly waits for pairs of sequences and heads: saturated runs are nearer by a sixth if a fit
starts from there."""
_OF_SEQUENCES = {"trtllm": 3.4e-5}
"""Seconds of the scheduler a sequence that fits start from: whatever ran, no rank of TensorRT-LLM made more than 31 000
tokens a second; of other engines no run comes to where it would be felt."""
_FEWEST = 24
"""Figures from which on a family of chips has constants of its own, if they are of more than one model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFit:
    """Constants of an engine on a family of chips, or on all, and how far off rows are with them."""

    engine: str
    family: str
    constants: EngineConstants
    error: Mapping[str, float]
    """One standard deviation as a factor, by measure, such that eight rows in ten lie in the range."""
    rows: int


def started(engine: str = "") -> EngineConstants:
    """Where every fit starts: what is usual of engines of 2026, or of chips that run layers as one program.

    There nothing is launched, weights stream at the memory's rate, keys beside them, exchanges start in the links' own
    latency, and every sequence has its token drawn by the host.
    """
    if engine in _AS_ONE_PROGRAM:
        return replace(
            started(),
            reading=1.2,
            attending=1.2,
            exchanging=8.0,
            launch=1e-8,
            attention_start=2e-7,
            passes=1.0,
            pair_time=1e-10,
            host=2e-5,
            host_rank=1e-6,
            per_sequence=1e-4,
        )
    return EngineConstants(
        expert_start=5e-6,
        launch=1.5e-6,
        attention_start=9e-6,
        host=8e-4,
        host_rank=1e-4,
        host_data=4e-4,
        host_behind=1e-3,
        host_sequence=_OF_SEQUENCES.get(engine, 1e-7),
        stage_sequence=7e-5,
        per_sequence=2e-6,
        per_admission=1e-3,
        eager_launch=1.5e-5,
        eager_heavy=1.5e-5,
        pair_time=1e-9 if engine in _SOON_PAIRED else 3e-8,
        passes=10.0,
        first_token=1.5e-2,
        tokenising=5e-6,
        unpacking=0.5,
        skew=0.5,
        host_overlapped=engine in _AHEAD,
    )


def fit_engines(
    rows: Sequence[ServingMeasurement],
    catalogue: Catalogue,
    *,
    engine: str = "",
    as_they_are: bool = False,
    only: Sequence[str] = (),
    told: Callable[[str], None] = lambda line: None,
) -> list[EngineFit]:
    """Constants of every engine that rows tell of, and of its families of chips where there are enough.

    With `as_they_are`, those of the catalogue are kept, and only how far off they are is found; with `only`, those that
    are named are fitted again from there for families of chips, to models with experts if all are of experts.
    """
    found: list[EngineFit] = []
    for name, asked in asked_by_engine(rows, catalogue, engine).items():
        logs = {row.log.name: (run, row.log) for row, run in asked if row.log is not None}
        if logs and as_they_are:
            continue
        if logs:  # one log tells a few constants, by its requests
            told(f"{name}: {', '.join(logs)}")
            constants = fit_to_logs(list(logs.values()))
            found.append(EngineFit(engine=name, family="", constants=constants, error={}, rows=len(asked)))
            continue
        told(f"{name}: {len(asked)} figures, {len(_sampled(asked))} of them looked at")
        known = serving_engine(name).constants
        built = {each: getattr(known, each) for each in _STRUCTURE}
        start = known if only else replace(started(name), **built)
        whole = known if as_they_are or only else _fitted(_told_of(asked, only), start, only)
        families: dict[str, list[AskedRow]] = defaultdict(list)
        for one in asked:
            families[one[1].instance.chip.family].append(one)
        own_fits: dict[str, EngineFit] = {}
        for family, own in sorted(families.items()):
            models = {run.instance.served.shape.name for _, run in own}
            if len(families) > 1 and len(own) >= _FEWEST and len(models) > 1:
                known = serving_engine(name, family).constants
                start = known if only else whole
                constants = known if as_they_are else _fitted(_told_of(own, only), start, only)
                own_fits[family] = _judged(name, family, constants, [(own, constants)])
        if not only:
            found.append(_judged(name, "", whole, _as_strangers(families, own_fits, whole)))
        found += own_fits.values()
    return found


def asked_by_engine(
    rows: Sequence[ServingMeasurement], catalogue: Catalogue, engine: str = ""
) -> dict[str, list[AskedRow]]:
    """Rows that constants are fitted to and judged by, with what they ran, of all engines or of one."""
    by_engine: dict[str, list[AskedRow]] = defaultdict(list)
    for row in rows:
        if row.kind in _NOT_FITTED:
            continue
        try:
            run = run_of(row, catalogue)
        except VolvelleError:
            continue
        if (
            isinstance(run, ServingRun)
            and engine in ("", run.instance.engine.name)
            and not (_left_out(row, run) or too_soon(row, run))
        ):
            by_engine[run.instance.engine.name].append((row, run))
    return dict(sorted(by_engine.items()))


def _as_strangers(
    families: Mapping[str, Asked], fits: Mapping[str, EngineFit], whole: EngineConstants
) -> list[tuple[Asked, EngineConstants]]:
    """Rows with constants that were not fitted to their family, as chips are asked about that none were fitted to."""
    if len(fits) < _BOTH:
        return [(own, whole) for own in families.values()]
    found = [(own, whole) for family, own in families.items() if family not in fits]
    return found + [(families[one], fits[other].constants) for one in fits for other in fits if one != other]


def _left_out(row: ServingMeasurement, run: ServingRun) -> bool:
    return _named(run) in _CACHED or (row.kind == "closed_loop" and is_of_other_kind(row.stated))


def _even(asked: Asked) -> list[AskedRow]:
    return [(row, run) for row, run in asked if _named(run) not in _ODD]


def _named(run: ServingRun) -> tuple[str, str, str]:
    one = run.instance
    return one.engine.name, one.served.shape.name, one.chip.name


def too_soon(row: ServingMeasurement, run: ServingRun) -> bool:
    """Whether a step took less time than reading its weights does: its time was booked on its neighbours."""
    if row.kind != "iterations":
        return False
    one = run.instance
    tokens = run.sizes.get("prefill_tokens", 0.0) + run.sizes.get("decode_requests", 0.0)
    experts = one.served.shape.experts
    touched = 1.0 if experts is None else distinct_count(tokens * experts.chosen, experts.count) / experts.count
    read = weight_bytes(one.served, one.layout) * touched / float(np.max(one.chip.memory.rate))
    return bool(row.value < _SOONEST * read)


def _sampled(asked: Asked, others: int | None = _OF_OTHERS) -> list[AskedRow]:
    """Some rows of every group, so that none outweighs all others; of what takes no simulation so many, or all."""
    groups: dict[str, dict[str, list[AskedRow]]] = defaultdict(lambda: defaultdict(list))
    for row, run in asked:
        one = dict(row.cells)
        group = f"{row.head.group} {one.get('weights', '')} {one.get('phase', '')} {one.get('tp', '')}"
        groups[group][row.head.row_id.partition(" ")[0]].append((row, run))
    draw = Random(0)
    found = []
    for group in sorted(groups):
        names = sorted(groups[group])
        simulated = group.partition(" ")[0] in _SIMULATED
        most = max(_FEW, _DOZENS // len(groups)) if simulated else others or len(names)
        for name in sorted(draw.sample(names, min(most, len(names)))):
            found += groups[group][name]
    return found


def _told_of(asked: Asked, only: Sequence[str]) -> Asked:
    """Rows that a fit looks at."""
    rows = _sampled(_even(asked))
    if only and set(only) <= _OF_EXPERTS:
        return [(row, run) for row, run in rows if run.instance.served.shape.experts is not None]
    return rows


def _fitted(asked: Asked, start: EngineConstants, only: Sequence[str] = ()) -> EngineConstants:
    weights = np.array([WEIGHTS[row.measure] for row, _ in asked])
    names = tuple(name for name in _told_apart(asked) if not only or name in only)
    if not only or "eager_heavy" in only:
        usual = started().eager_heavy if only else start.eager_heavy
        starts = [replace(start, eager_heavy=times * usual) for times in _LAUNCHES] + ([start] if only else [])
        start = min(starts, key=lambda each: cost(residuals(asked, each), weights))
    simulated = any(row.kind in _SIMULATED for row, _ in asked)
    shares = _UNSHARED if "unshared" in names else (start.unshared,)
    found = [
        nearest_constants(
            lambda constants: residuals(asked, constants),
            replace(start, unshared=share),
            names,
            weights=weights,
            hold=_hold(asked),
            rounds=_ROUNDS_AGAIN if only else _SIMULATED_ROUNDS if simulated else _ROUNDS,
        )
        for share in shares
    ]
    return min(found, key=lambda each: cost(residuals(asked, each), weights)) if len(found) > 1 else found[0]


def _told_apart(asked: Asked) -> tuple[str, ...]:
    """Constants that rows tell of: rates of dense products only where a dense model was run.

    Beside experts they are a small part of a step, and a fit would put into them whatever else it misses. Whether heads
    that share keys read them once is told by models whose heads do and by others whose do not, and known of chips whose
    attention was timed alone.
    """
    shapes = [run.instance.served.shape for _, run in asked]
    lacking: set[str] = set()
    if all(shape.experts is not None for shape in shapes):
        lacking |= {"reading", "multiplying"}
    both = len({shape.heads == shape.kv_heads for shape in shapes if shape.latent is None}) == _BOTH
    if not both or any(_timed_alone(run.instance) for _, run in asked):
        lacking.add("unshared")
    return tuple(name for name in FITTED if name not in lacking)


def _timed_alone(one: Instance) -> bool:
    """Whether attention of that engine was timed kernel by kernel on such a chip: those of 2024 had other kernels."""
    return one.chip.family in _TIMED_ALONE and one.engine.name == one.engine.kernels


def _judged(
    name: str, family: str, constants: EngineConstants, asked: Sequence[tuple[Asked, EngineConstants]]
) -> EngineFit:
    sampled = [(judged_by(rows), by) for rows, by in asked]
    judged = [one for rows, by in sampled for one in zip(rows, residuals(rows, by), strict=True)]
    if family:
        judged = [one for one in judged if one[0][0].measure not in LEFT_OUT] + _strange(asked[0][0], constants)
    count = len({row.head.row_id for rows, _ in asked for row, _ in rows})
    error = errors_of(judged, strange=bool(family))
    return EngineFit(engine=name, family=family, constants=constants, error=error, rows=count)


def judged_by(asked: Asked) -> list[AskedRow]:
    """Every row but those of closed loops, which take longest."""
    saturated = [(row, run) for row, run in asked if row.measure in LEFT_OUT]
    return [(row, run) for row, run in _sampled(asked, None) if row.measure not in LEFT_OUT] + saturated


def _strange(asked: Asked, constants: EngineConstants) -> list[tuple[AskedRow, float]]:
    """Rows of figures that are judged by groups left out, and their errors by constants without theirs."""
    if not any(row.measure in LEFT_OUT for row, _ in asked):
        return []
    seen = _told_of(asked, ())
    return left_out(seen, asked, constants, _told_apart(seen), hold=_hold(seen))


def _hold(asked: Asked) -> float:
    return float(_SHRINKAGE * np.sqrt(max(len(asked), 1) / 50.0))


def as_rows(fits: Sequence[EngineFit]) -> list[dict[str, str]]:
    """Fits as rows of a table."""
    found = []
    for fit in fits:
        values = {one.name: getattr(fit.constants, one.name) for one in fields(fit.constants)}
        values |= {f"error {measure}": error for measure, error in fit.error.items()}
        for name, value in values.items():
            if name in FITTED or name.startswith("error ") or name == "host_overlapped":
                found.append(
                    {
                        "engine": fit.engine,
                        "family": fit.family,
                        "constant": name,
                        "value": f"{float(value):.4g}",
                        "rows": str(fit.rows),
                    }
                )
    return found
