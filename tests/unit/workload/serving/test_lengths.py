"""How long prompts and answers are."""

import numpy as np
import pytest

from volvelle.errors import DescriptionError
from volvelle.workload.serving.lengths import Empirical, FixedLength, LogNormalLengths, UniformAround, UniformBelow


def drawn(law: object, count: int = 50_000) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return law.sample(np.random.default_rng(3), count)  # type: ignore[attr-defined,no-any-return]


def test_vllm_draws_around_the_length_and_inferencex_below_it() -> None:
    around, below = drawn(UniformAround(tokens=100, range_ratio=0.2)), drawn(UniformBelow(tokens=100, range_ratio=0.8))
    assert (around.min(), around.max()) == (80, 120)
    assert (below.min(), below.max()) == (80, 100)
    assert below.mean() == pytest.approx(90, rel=0.01)


def test_a_length_is_never_zero() -> None:
    assert drawn(UniformAround(tokens=1, range_ratio=1.0)).min() == 1
    assert drawn(UniformBelow(tokens=5, range_ratio=0.0)).min() == 1
    assert drawn(LogNormalLengths(median=2, factor=10.0, longest=50)).min() == 1


def test_log_normal_lengths_have_their_median_and_longest() -> None:
    found = drawn(LogNormalLengths(median=500, factor=2.0, longest=4000))
    assert np.median(found) == pytest.approx(500, rel=0.02)
    assert found.max() == 4000


def test_empirical_lengths_keep_prompts_with_their_answers() -> None:
    shape = Empirical(input_tokens=np.array([1, 2, 3]), output_tokens=np.array([10, 20, 30]))
    prompts, answers = shape.sample(np.random.default_rng(0), 100)
    np.testing.assert_array_equal(answers, 10 * prompts)
    with pytest.raises(DescriptionError, match="an answer for each"):
        Empirical(input_tokens=np.array([1]), output_tokens=np.array([], np.int64))


def test_all_fixed_lengths_are_alike() -> None:
    assert set(drawn(FixedLength(tokens=7)).tolist()) == {7}
