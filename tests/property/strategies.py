"""Hypothesis strategies of this package: machines, mappings, quantities."""

from hypothesis import strategies as st

from tests.conftest import small_chip, small_cluster
from volvelle import Cluster, Link, Memory, ParallelMapping, Recompute

rates = st.floats(1e8, 1e13)
latencies = st.floats(0.0, 1e-3)
sizes = st.floats(1.0, 1e12)
groups = st.integers(1, 4096)
efficiencies = st.floats(0.05, 1.0)


@st.composite
def links(draw: st.DrawFn, name: str = "link") -> Link:
    return Link(
        name=name,
        rate=draw(rates),
        latency=draw(latencies),
        setup=draw(latencies),
        efficiency=draw(efficiencies),
        reduces=draw(st.booleans()),
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    chip = small_chip(
        matrix_rates={"bf16": draw(st.floats(1e12, 1e16))},
        vector_rates={"fp32": draw(st.floats(1e11, 1e15))},
        buffer=draw(st.floats(1e4, 1e9)),
        memories=(Memory(name="HBM", capacity=80e9, rate=draw(st.floats(1e10, 1e14))),),
    )
    constants = {name: draw(efficiencies) for name in ("matrix_efficiency", "memory_efficiency")}
    return small_cluster(4, chip=chip, inner=draw(links("inner")), outer=draw(links("outer")), **constants)


@st.composite
def mappings(draw: st.DrawFn, chips: int = 32) -> ParallelMapping:
    """Any layout of 32 chips that the small GPT allows, feasible in memory or not."""
    tensor = draw(st.sampled_from([1, 2, 4, 8]))
    pipeline = draw(st.sampled_from([p for p in (1, 2, 4, 8) if chips % (tensor * p) == 0]))
    data = chips // (tensor * pipeline)
    return ParallelMapping(
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        micro_batch=draw(st.sampled_from([1, 2])),
        interleave=draw(st.sampled_from([1, 8 // pipeline if pipeline > 1 else 1])),
        zero=draw(st.integers(0, 3)),
        overlap=draw(st.booleans()),
        sequence_parallel=draw(st.booleans()),
        recompute=draw(st.sampled_from(list(Recompute))),
        fused_attention=draw(st.booleans()),
    )
