"""Recommendation models by name: those that benchmarks train."""

from volvelle.catalogue.published.dfmodel import dfmodel
from volvelle.errors import UnknownNameError
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables

_LARGE = 40_000_000
CRITEO_ROWS = (
    *(_LARGE, 39_060, 17_295, 7_424, 20_265, 3, 7_122, 1_543, 63),
    *(_LARGE, 3_067_956, 405_282, 10, 2_209, 11_938, 155, 4, 976, 14),
    *(_LARGE, _LARGE, _LARGE, 590_152, 12_973, 108, 36),
)
"""Rows of the 26 tables of Criteo 1TB, capped at 40 million, as MLPerf trains them (facebookresearch/dlrm)."""
CRITEO_POOLING = (3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1)
"""Rows looked up in each for one sample of the multi-hot set: 214 in all."""

DLRM_NAMES = ("dcnv2-mlperf", "dlrm-793b", "dlrm-criteo")


def criteo_tables(width: int = 128, *, several: bool, scale: float = 1.0) -> tuple[EmbeddingTables, ...]:
    """The tables of Criteo 1TB, one row a sample or several, with all rows or a share of them."""
    pooling = CRITEO_POOLING if several else (1,) * len(CRITEO_ROWS)
    return tuple(
        EmbeddingTables(count=1, rows=max(1, round(rows * scale)), width=width, pooling=held)
        for rows, held in zip(CRITEO_ROWS, pooling, strict=True)
    )


def named_dlrm(name: str) -> Dlrm:
    """A model by its name."""
    if name == "dlrm-793b":
        shape = dfmodel().workload(name).shape
        assert isinstance(shape, Dlrm), "DFModel's recommendation model"
        return shape
    if name not in DLRM_NAMES:
        raise UnknownNameError.among("recommendation model", name, DLRM_NAMES)
    several = name == "dcnv2-mlperf"
    return Dlrm(
        name=name,
        dense=13,
        bottom=(512, 256, 128),
        top=(1024, 1024, 512, 256, 1),
        tables=criteo_tables(several=several),
        interaction="cross" if several else "dot",
        element="fp16",
    )
