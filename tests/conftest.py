"""What many tests need: small machines, small models, strategies."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil, prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from volvelle import (
    Catalogue,
    Chip,
    Cluster,
    Dimension,
    FatTree,
    Link,
    Memory,
    Operation,
    Switch,
    TrainingStep,
    Transformer,
    transformer,
)
from volvelle.estimators.calibration import CalibratedCluster, Calibrations
from volvelle.quantities import Number

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

# The same examples in every run, so that a commit passes or fails; `scripts/test fuzz` draws new ones.
_ALWAYS: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, max_examples=30, **_ALWAYS)
settings.register_profile("fuzz", max_examples=60, **_ALWAYS)
os.environ["VOLVELLE_CONFIG"] = "never"  # no test depends on files of the machine
settings.load_profile(os.environ.get("VOLVELLE_EXAMPLES", "same"))

ROOT = Path(__file__).resolve().parent.parent
LONGEST = (
    "unit/verbs/test_why_unsure.py",
    "unit/applications/training/test_stack_fit.py",
    "unit/verbs/plan_serving/test_split_pools.py",
    "property/test_tuning.py",
    "property/test_batching.py",
    "property/test_pools.py",
    "unit/estimators/test_calibration.py",
    "property/test_compiled.py",
    "unit/applications/goodput/test_run_estimate.py",
    "unit/applications/hpl_mxp/test_estimator.py",
    "fidelity/test_crosscheck.py",
    "unit/estimators/compiled/test_compiled_form.py",
    "unit/verbs/test_verbs.py",
    "extension/test_extension.py",
    "golden/test_golden.py",
)
"""Files that take longest. They go first, so that processes that share tests file by file end together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {ROOT / "tests" / file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue()


def small_chip(**changes: object) -> Chip:
    chip = Chip(
        name="toy",
        matrix_rates={"bf16": 300e12},
        vector_rates={"fp32": 20e12},
        buffer=40e6,
        memories=(Memory(name="HBM", capacity=80e9, rate=2e12),),
        power=400.0,
        price=10_000.0,
    )
    return replace(chip, **changes)  # type: ignore[arg-type]


def small_cluster(
    nodes: int = 4,
    *,
    chip: Chip | None = None,
    inner: Link | None = None,
    outer: Link | None = None,
    **constants: Number,
) -> Cluster:
    return CalibratedCluster(
        name=f"toy/{8 * nodes}",
        chip=chip or small_chip(),
        calibrations=Calibrations.of(**{"matrix_efficiency": 0.8, "memory_efficiency": 0.8, **constants}),
        dimensions=(
            Dimension(
                name="inside",
                size=8,
                topology=Switch(),
                link=inner or Link(name="fast", rate=300e9, latency=2e-6, setup=10e-6, efficiency=0.8),
            ),
            Dimension(
                name="between",
                size=nodes,
                topology=FatTree(),
                link=outer or Link(name="slow", rate=25e9, latency=5e-6, setup=20e-6, efficiency=0.8),
            ),
        ),
    )


def small_gpt(**changes: object) -> Transformer:
    shape = Transformer(
        name="small-gpt",
        layers=8,
        hidden=512,
        heads=8,
        kv_heads=8,
        head_dim=64,
        ffn=2048,
        vocabulary=1024,
        sequence=256,
        activation="gelu",
        norm="layernorm",
        linear_bias="all",
        positions="learned",
        position_slots=256,
        tied_embeddings=True,
        dropout=True,
    )
    return replace(shape, **changes)  # type: ignore[arg-type]


def small_llama(**changes: object) -> Transformer:
    shape = Transformer(
        name="small-llama",
        layers=4,
        hidden=512,
        heads=8,
        kv_heads=2,
        head_dim=64,
        ffn=1408,
        vocabulary=1000,
        sequence=128,
        activation="swiglu",
        norm="rmsnorm",
        norm_bias=False,
        positions="rotary",
    )
    return replace(shape, **changes)  # type: ignore[arg-type]


@pytest.fixture
def step() -> TrainingStep:
    return TrainingStep(model=transformer(small_gpt()), batch=64)


def arithmetic(sizes: Mapping[str, float], degree: int, *, rate: float) -> Callable[[Operation, str | None], float]:
    """Seconds of an operation's arithmetic on one of `degree` chips, each of that many FLOP/s."""

    def seconds(op: Operation, dim: str | None) -> float:
        work = op.kind.work()
        return (
            prod(ceil(sizes[one] / degree) if one == dim else sizes[one] for one in work.dims) * work.per_point / rate
        )

    return seconds
