"""The ratios that section VI-C of the DFModel paper prints, from our own points: geometric means over design points."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from typing import Any

from volvelle.catalogue.published.dfmodel import DfModel, PublishedRatio
from volvelle.reproductions.dfmodel.design_space import DesignSpace, FoundPoint

MEASURES = ("performance", "per_dollar", "per_watt")

Choice = Callable[[FoundPoint], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRatio:
    """A printed ratio beside ours."""

    workload: str
    comparison: str
    measure: str
    paper: float
    logged: float
    """The same mean over the points that were logged."""
    ours: float


def _on(*chips: str) -> Choice:
    return lambda found: found.point.accelerator in chips


def _not(choice: Choice) -> Choice:
    return lambda found: not choice(found)


def _both(*choices: Choice) -> Choice:
    return lambda found: all(choice(found) for choice in choices)


def _with(name: str, value: str) -> Choice:
    return lambda found: bool(getattr(found.point, name) == value)


_WAFER, _DATAFLOW, _ARRAYS = _on("wse-2"), _on("sn30"), _on("h100", "tpu")
_HBM, _DDR = _with("memory", "hbm"), _with("memory", "ddr")
_FAST, _SLOW = _with("link", "nvlink"), _with("link", "pcie")
_DRAGONFLY = _with("topology", "dragonfly")
_SIMPLE = _not(_DRAGONFLY)

_COMPARISONS: dict[str, tuple[Choice, Choice]] = {
    "RDU vs GPU/TPU": (_DATAFLOW, _ARRAYS),
    "GPU/TPU HBM vs DDR": (_both(_ARRAYS, _HBM), _both(_ARRAYS, _DDR)),
    "RDU HBM vs DDR": (_both(_DATAFLOW, _HBM), _both(_DATAFLOW, _DDR)),
    "dragonfly vs simple; PCIe; no WSE": (
        _both(_DRAGONFLY, _SLOW, _not(_WAFER)),
        _both(_SIMPLE, _SLOW, _not(_WAFER)),
    ),
    "dragonfly vs simple; all": (_both(_DRAGONFLY, _not(_WAFER)), _both(_SIMPLE, _not(_WAFER))),
    "dragonfly vs simple; NVLink": (_both(_DRAGONFLY, _FAST), _both(_SIMPLE, _FAST)),
    "WSE NVLink vs PCIe": (_both(_WAFER, _FAST), _both(_WAFER, _SLOW)),
    "WSE vs others": (_WAFER, _not(_WAFER)),
    "NVLink vs PCIe": (_FAST, _SLOW),
    "dragonfly vs simple": (_DRAGONFLY, _SIMPLE),
    "TPU vs others": (_on("tpu"), _not(_on("tpu"))),
}
"""How the catalogue words a comparison → the points on either side. Those of language models between dragonfly and
other networks leave wafers out: so read, and only so, the points give what the paper prints."""
_ONLY = {("LLM", "dragonfly vs simple; NVLink"): ("performance",)}
"""Where the catalogue repeats a printed figure under a second reading, the measures that are printed for this one."""


def find_ratios(data: DfModel, found: DesignSpace) -> tuple[FoundRatio, ...]:
    """Every ratio of section VI-C."""
    return tuple(each for one in data.ratios if one.comparison in _COMPARISONS for each in _ratios(one, found))


def _ratios(printed: PublishedRatio, found: DesignSpace) -> Iterator[FoundRatio]:
    """Of every measure that the paper prints."""
    points = [one for one in found.points if one.point.workload == printed.workload]
    above, below = ([one for one in points if choice(one)] for choice in _COMPARISONS[printed.comparison])
    for name in _ONLY.get((printed.workload, printed.comparison), MEASURES):
        paper = getattr(printed, name)
        if paper is not None:
            logged, ours = (_mean(above, name, logged=by) / _mean(below, name, logged=by) for by in (True, False))
            yield FoundRatio(
                workload=printed.workload,
                comparison=printed.comparison,
                measure=name,
                paper=paper,
                logged=logged,
                ours=ours,
            )


def _mean(points: Sequence[FoundPoint], name: str, *, logged: bool) -> float:
    return exp(sum(log(one.measure(name, logged=logged)) for one in points) / len(points))


def ratio_document(found: Iterable[FoundRatio]) -> dict[str, Any]:
    """What JSON says of them."""
    return {"rows": [asdict(one) for one in found]}
