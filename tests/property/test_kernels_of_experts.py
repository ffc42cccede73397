"""What no kernel of experts can break: more work is never faster, and a faster chip is never slower."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from volvelle import Catalogue
from volvelle.estimators.kernel_families import FAMILIES, Kernels

EXPERTS = next(family for family in FAMILIES if family.name == "experts")
CHIP = Catalogue().chip("h100-sxm")
SKEWS = st.sampled_from([0.0, 1.0, 1.01, 1.2, 2.0])
TOKENS = np.array([float(tokens) for power in range(15) for tokens in (2**power, 1.5 * 2**power) if tokens % 1 == 0])


@st.composite
def layers(draw: st.DrawFn) -> dict[str, float]:
    """A layer of experts shared by ranks, no expert by more than there are."""
    experts = 2 ** draw(st.integers(3, 9))
    return {
        "hidden": draw(st.sampled_from([1024.0, 4096.0, 7168.0])),
        "inter": draw(st.sampled_from([512.0, 2048.0, 14336.0])),
        "topk": float(draw(st.integers(1, min(22, experts)))),
        "experts": float(experts),
        "tp": float(2 ** draw(st.integers(0, 5))),
        "ep": float(2 ** draw(st.integers(0, int(np.log2(experts))))),
        "skew": draw(SKEWS),
    }


@st.composite
def constants(draw: st.DrawFn) -> dict[str, float]:
    """Any that a fit may find."""
    return {
        name: float(np.exp(draw(st.floats(np.log(bounds.low), np.log(bounds.high)))))
        for name, bounds in EXPERTS.constants.items()
    }


def times(kernels: Kernels, sizes: Mapping[str, object], values: Mapping[str, float]) -> np.ndarray:
    columns = {name: np.asarray(size, dtype=float) for name, size in sizes.items()}
    return EXPERTS.time(kernels, columns, {name: np.asarray(value) for name, value in values.items()})


ON_H100 = Kernels(chip=CHIP, element="bf16", cache_bytes=2.0)


@given(layers(), constants())
def test_more_tokens_are_never_faster(layer: dict[str, float], values: dict[str, float]) -> None:
    found = times(ON_H100, {**layer, "tokens": TOKENS}, values)
    assert np.all(found > 0)
    assert np.all(np.diff(found) >= -1e-9 * found[1:])


@given(layers(), constants(), st.floats(1.0, 100.0))
def test_a_faster_chip_never_slows_experts_down(
    layer: dict[str, float], values: dict[str, float], factor: float
) -> None:
    asked = {**layer, "tokens": TOKENS}
    slow = times(ON_H100, asked, values)
    multiplies = replace(CHIP, matrix_rates={name: rate * factor for name, rate in CHIP.matrix_rates.items()})
    moves = replace(CHIP, memories=(replace(CHIP.memory, rate=CHIP.memory.rate * factor),))
    for chip in (multiplies, moves):
        assert np.all(times(replace(ON_H100, chip=chip), asked, values) <= slow * (1 + 1e-9))


@given(layers(), constants())
def test_a_wider_layer_is_never_faster(layer: dict[str, float], values: dict[str, float]) -> None:
    found = times(ON_H100, {**layer, "tokens": TOKENS}, values)
    for name in ("hidden", "inter"):
        wider = {**layer, name: 2.0 * layer[name], "tokens": TOKENS}
        assert np.all(times(ON_H100, wider, values) >= found * (1 - 1e-9))


@given(layers(), constants())
def test_a_column_of_layers_is_timed_as_each_by_itself(layer: dict[str, float], values: dict[str, float]) -> None:
    together = times(ON_H100, {**layer, "tokens": TOKENS[:, None], "skew": np.array([0.0, 1.01, 1.2])}, values)
    assert together.shape == (len(TOKENS), 3)
    for row, tokens in enumerate(TOKENS[:4]):
        for column, skew in enumerate((0.0, 1.01, 1.2)):
            alone = times(ON_H100, {**layer, "tokens": tokens, "skew": skew}, values)
            assert np.isclose(together[row, column], float(alone), rtol=1e-12)
