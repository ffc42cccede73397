"""Table VI and Figure 18 of the DFModel paper: GPT-3 175B on eight SN10, mapping by mapping."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from volvelle.catalogue.published.dfmodel import DfModel, MappingRun, PublishedIntensity
from volvelle.reproductions.dfmodel.runs import MappedRun, map_run, powers_of_two

VENDOR_PINS = {
    "q": 0,
    "k": 0,
    "v": 0,
    "mha_gemm_1": 1,
    "mha_gemm_2": 1,
    "proj_gemm": 1,
    "ffn0": 2,
    "ffn1": 3,
}
"""Partition of each product in the vendor's mapping (section VII-B); kernels between products go where they like."""
DFMODEL_PINS = {**VENDOR_PINS, "proj_gemm": 2}
"""What DFModel's moves (section VII-C)."""
_LEAST_TILE = 16
_MEMORY = "ddr-sn10"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A mapping of the table."""

    name: str
    run: str
    """Of the catalogue."""
    pins: Mapping[str, int] | None = None
    logged: bool = True
    free: bool = False


_MAPPINGS = (
    _Asked(name="kernel by kernel, 8×1", run="kbk_8x1"),
    _Asked(name="vendor's, 8×1", run="existing_8x1", pins=VENDOR_PINS),
    _Asked(name="DFModel's, products pinned, 8×1", run="dfmodel_8x1", pins=DFMODEL_PINS),
    _Asked(name="free optimum, 8×1", run="dfmodel_8x1", logged=False, free=True),
    _Asked(name="free optimum, 4×2", run="dfmodel_4x2", free=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMapping:
    """A mapping, logged and ours, with one set of constants."""

    name: str
    constants: str
    """``repository``: what the authors' inputs hold; ``text``: what the paper prints."""
    dram_rate: float
    logged: float | None
    """Seconds of a layer and sample; always with the repository's constants."""
    gap: float | None
    ours: MappedRun

    @property
    def difference(self) -> float | None:
        """Ours over logged, less one."""
        return None if self.logged is None else self.ours.time / self.logged - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedUp:
    """A speed-up the paper prints, beside ours with either set of constants."""

    comparison: str
    paper: float
    logged: float
    repository: float
    text: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Table6:
    """All mappings, with both sets of constants."""

    rows: tuple[FoundMapping, ...]
    speed_ups: tuple[SpeedUp, ...]

    def with_constants(self, name: str) -> tuple[FoundMapping, ...]:
        """The rows of one set."""
        return tuple(row for row in self.rows if row.constants == name)


def _run(data: DfModel, name: str) -> MappingRun:
    return next(run for run in data.study("table 6") if run.run == name)


def solve_table6(data: DfModel) -> Table6:
    """Map the layer in each of the ways."""
    memory = data.memory(_MEMORY)
    rows = []
    for constants, rate in (("repository", memory.rate), ("text", memory.text_rate or memory.rate)):
        for asked in _MAPPINGS:
            run = _run(data, asked.run)
            tiles = powers_of_two(run.sequence, least=_LEAST_TILE)
            ours = map_run(run, tiles, pins=asked.pins, dram_rate=rate, free=asked.free)
            rows.append(
                FoundMapping(
                    name=asked.name,
                    constants=constants,
                    dram_rate=rate,
                    logged=run.interval / ours.replicas if asked.logged and run.interval is not None else None,
                    gap=run.gap if asked.logged else None,
                    ours=ours,
                )
            )
    return Table6(rows=tuple(rows), speed_ups=_speed_ups(data, rows))


_OVER = {
    "vendor 8x1 over kernel by kernel": (1, 0),
    "DFModel 8x1 over vendor 8x1": (2, 1),
    "DFModel 4x2 over DFModel 8x1": (4, 2),
    "DFModel 4x2 over kernel by kernel": (4, 0),
}
"""How the catalogue words a speed-up → the faster and the slower mapping, by place."""


def _speed_ups(data: DfModel, rows: list[FoundMapping]) -> tuple[SpeedUp, ...]:
    sets = [[row for row in rows if row.constants == name] for name in ("repository", "text")]
    found = []
    for one in data.ratios:
        if one.workload == "table 6" and one.performance is not None:
            fast, slow = _OVER[one.comparison]
            repository, text = (each[slow].ours.time / each[fast].ours.time for each in sets)
            logged = (sets[0][slow].logged or 0.0) / (sets[0][fast].logged or 1.0)
            found.append(
                SpeedUp(
                    comparison=one.comparison, paper=one.performance, logged=logged, repository=repository, text=text
                )
            )
    return tuple(found)


def table6_document(found: Table6) -> dict[str, Any]:
    """What JSON says of it."""
    return {
        "rows": [
            {
                "mapping": row.name,
                "constants": row.constants,
                "dram_gb_per_s": row.dram_rate / 1e9,
                "logged_ms": None if row.logged is None else row.logged * 1e3,
                "logged_gap": row.gap,
                "ours_ms": row.ours.time * 1e3,
                "difference": row.difference,
                "proven": row.ours.found.proven,
                "seconds": round(row.ours.seconds, 3),
                "tile": row.ours.found.tile,
                "partitions": _partitions(row.ours),
                "utilisation": row.ours.utilisation,
            }
            for row in found.rows
        ],
        "speed_ups": [asdict(one) for one in found.speed_ups],
    }


def _partitions(ours: MappedRun) -> list[list[str]]:
    answer = ours.found.answer
    return [list(part) for part in answer.fusion.partitions] if answer is not None and answer.fusion else []


# -- Figure 18 -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundIntensity:
    """Operations for every byte of DRAM and of network, logged and ours, and the rate a chip achieves."""

    name: str
    logged: PublishedIntensity
    memory: float
    network: float
    rate: float
    """FLOP/s, ours, with compute, memory and network at once."""
    logged_rate: float
    peak: float
    memory_rate: float
    network_rate: float
    proven: bool
    gap: float | None


_INTENSITIES = (
    (_MAPPINGS[0], "kbk_8x1"),
    (_MAPPINGS[1], "vendor_8x1"),
    (_MAPPINGS[2], "dfmodel_8x1"),
    (_MAPPINGS[4], "dfmodel_4x2"),
)


def solve_intensities(data: DfModel) -> tuple[FoundIntensity, ...]:
    """Intensities come from the mappings that are best with nothing overlapped, as the authors' do."""
    found = []
    for asked, name in _INTENSITIES:
        overlapped, apart = _run(data, asked.run), _run(data, f"{asked.run}_nooverlap")
        tiles = powers_of_two(apart.sequence, least=_LEAST_TILE)
        best = map_run(apart, tiles, pins=asked.pins, free=asked.free)
        fast = map_run(overlapped, tiles, pins=asked.pins, free=asked.free)
        work = best.work * best.replicas / best.chips
        link = apart.link_rates[0]
        found.append(
            FoundIntensity(
                name=asked.name,
                logged=next(one for one in data.intensities if one.run == name),
                memory=work / best.total("traffic"),
                network=work / (best.total("network") * link),
                rate=fast.rate,
                logged_rate=(overlapped.utilisation or 0.0) * fast.peak,
                peak=fast.peak,
                memory_rate=apart.dram_rate,
                network_rate=link,
                proven=best.found.proven and fast.found.proven,
                gap=apart.gap,
            )
        )
    return tuple(found)


def intensity_document(found: tuple[FoundIntensity, ...]) -> dict[str, Any]:
    """What JSON says of Figure 18."""
    return {
        "rows": [
            {
                "mapping": one.name,
                "logged_memory_flop_per_byte": one.logged.memory,
                "memory_flop_per_byte": one.memory,
                "logged_network_flop_per_byte": one.logged.network,
                "network_flop_per_byte": one.network,
                "logged_tflop_per_s": one.logged_rate / 1e12,
                "tflop_per_s": one.rate / 1e12,
                "proven": one.proven,
                "logged_gap": one.gap,
            }
            for one in found
        ]
    }
