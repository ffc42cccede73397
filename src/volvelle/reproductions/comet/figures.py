"""COMET's Figures 5, 7, 8, 9, 10 and 12 as columns: each a design space, computed in one call."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.published.comet import Comet
from volvelle.reproductions.comet.training import OURS, PHASES, Machine, Reading, Training, crossed, footprint, train

Columns = dict[str, NDArray[np.float64]]
GIGA = 1e9
BASELINE, BEST = 64.0, 8.0
"""Model-parallel degrees on DGX: the fastest that fits 80 GB in the paper, and the fastest of all."""
FIGURE_5_STAGES = (0, 1, 2, 3)
FIGURE_8_RATES = (100.0, 250.0, 500.0, 750.0, 1000.0, 1500.0, 2039.0)
FIGURE_9_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FIGURE_9_RATES = (500.0, 1000.0, 1500.0, 2039.0)
FIGURE_10_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
_HIGHEST_8 = 256.0
"""The paper omits higher degrees from Figure 8: they fit, and are slower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Columns of one design space, one row a point."""

    key: str
    title: str
    columns: Columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def where(self, **values: float) -> NDArray[np.int64]:
        """Rows at those values of the axes."""
        chosen = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            chosen &= np.isclose(self.columns[name], value)
        return np.flatnonzero(chosen)

    def at(self, column: str, **values: float) -> float:
        """One value, at the only row with those values of the axes."""
        (row,) = self.where(**values)
        return float(self.columns[column][row])


def configuration(mp: float, nodes: int) -> str:
    """As the paper writes it: MP64_DP16."""
    return f"MP{mp:.0f}_DP{nodes / mp:.0f}"


def degrees(nodes: int) -> NDArray[np.float64]:
    """Powers of two up to all nodes, largest first."""
    return 2.0 ** np.arange(int(np.log2(nodes)), -1, -1, dtype=float)


def per_node_memory(data: Comet) -> Sweep:
    """Figure 5: bytes of a node of 1024, by stage of ZeRO and degree of model parallelism."""
    nodes = data.cluster("dgx-a100").nodes
    columns = crossed(zero=FIGURE_5_STAGES, mp=degrees(nodes))
    mp = columns["mp"]
    held = footprint(data.model, mp, nodes / mp, zero=columns["zero"])
    return Sweep(
        key="fig5",
        title="Figure 5: memory of a node by ZeRO stage",
        columns={**columns, "dp": nodes / mp, "footprint_gb": np.asarray(held) / GIGA},
    )


def _training_columns(found: Training, base: float) -> Columns:
    columns = {
        f"{kind}, {phase}": found.part(kind, phase) / base for kind in ("compute", "exposed") for phase in PHASES
    }
    return {
        **columns,
        "run_time": found.per_sample / base,
        "footprint_gb": np.asarray(found.footprint, dtype=float) / GIGA,
        "seconds_per_sample": found.per_sample,
    }


def strategies(data: Comet, key: str, *, reading: Reading = OURS, base: float | None = None) -> Sweep:
    """Figures 7 and 12: time by phase and memory of a node for every split into MP × DP.

    Run times are relative to `base` seconds a sequence; without one, to the fastest here.
    """
    cluster = data.cluster(key)
    mp = degrees(cluster.nodes)
    found = train(data.model, Machine(cluster=cluster), mp, cluster.nodes / mp, reading=reading)
    figure = {"dgx-a100": "7", "tpu-v4": "12a", "dojo": "12b"}.get(key, "")
    columns = _training_columns(found, float(found.per_sample.min()) if base is None else base)
    return Sweep(
        key=f"fig{figure}",
        title=f"Figure {figure}: {cluster.title}",
        columns={"mp": mp, "dp": cluster.nodes / mp, **columns},
    )


def _baseline(data: Comet, reading: Reading, mp: float = BASELINE) -> float:
    """Seconds a sequence on DGX as it is."""
    cluster = data.cluster("dgx-a100")
    return float(train(data.model, Machine(cluster=cluster), mp, cluster.nodes / mp, reading=reading).per_sample)


def expanded_memory(
    data: Comet, rates: tuple[float, ...] = FIGURE_8_RATES, *, reading: Reading = OURS, most: float = _HIGHEST_8
) -> Sweep:
    """Figure 8: run time with memory beyond 80 GB at some rate, relative to MP64_DP16."""
    cluster = data.cluster("dgx-a100")
    mp = degrees(cluster.nodes)
    columns = crossed(mp=mp[mp <= most], expanded_gbs=rates)
    machine = Machine(cluster=cluster, expanded_rate=columns["expanded_gbs"] * GIGA)
    found = train(data.model, machine, columns["mp"], cluster.nodes / columns["mp"], reading=reading)
    return Sweep(
        key="fig8",
        title="Figure 8: rate of expanded memory",
        columns={**columns, **_training_columns(found, _baseline(data, reading))},
    )


def scaled_compute(data: Comet, *, reading: Reading = OURS) -> Sweep:
    """Figure 9: MP8_DP128 with faster and slower nodes, for some rates of expanded memory, relative to × 1 at 2039."""
    cluster = data.cluster("dgx-a100")
    columns = crossed(expanded_gbs=FIGURE_9_RATES, compute=FIGURE_9_FACTORS)
    machine = Machine(cluster=cluster, compute=columns["compute"], expanded_rate=columns["expanded_gbs"] * GIGA)
    found = train(data.model, machine, BEST, cluster.nodes / BEST, reading=reading)
    return Sweep(
        key="fig9",
        title="Figure 9: compute of a node, MP8_DP128",
        columns={**columns, **_training_columns(found, _baseline(data, reading, BEST))},
    )


def scaled_network(data: Comet, mp: float, *, reading: Reading = OURS) -> Sweep:
    """Figure 10: one configuration with both dimensions of the network faster and slower, relative to × 1."""
    cluster = data.cluster("dgx-a100")
    columns = crossed(inside=FIGURE_10_FACTORS, between=FIGURE_10_FACTORS)
    machine = Machine(cluster=cluster, rates=(columns["inside"], columns["between"]))
    found = train(data.model, machine, mp, cluster.nodes / mp, reading=reading)
    return Sweep(
        key="fig10",
        title=f"Figure 10: network, {configuration(mp, cluster.nodes)}",
        columns={**columns, **_training_columns(found, _baseline(data, reading, mp))},
    )
