"""Pools in words."""

import pytest

from volvelle.errors import DescriptionError
from volvelle.interchange.pool_words import PoolWords, read_pool


def test_a_pool_is_so_many_workers_of_a_layout() -> None:
    assert read_pool("2x tp4", "--prefill") == PoolWords(workers=2, tensor=4)
    found = read_pool("1× DP8 ep16 tp2 on gb200-nvl72/72 weights NVFP4", "--decode")
    assert found == PoolWords(workers=1, tensor=2, data=8, expert=16, on="gb200-nvl72/72", weights="nvfp4")


@pytest.mark.parametrize("text", ["2x tp4", "1x tp1", "3x tp2 pp2 ep4 dp2 on dgx-h200/8 weights fp8"])
def test_words_are_read_as_they_are_written(text: str) -> None:
    assert str(read_pool(text, "--prefill")) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tp4", "does not say how many workers"),
        ("", "does not say how many workers"),
        ("2x tq4", "'tq4' cannot be read"),
        ("2x tp4 tp8", "says tensor twice"),
        ("2x tp4 on", "nothing follows 'on'"),
    ],
)
def test_words_that_mean_nothing_are_named_with_their_place(text: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said) as raised:
        read_pool(text, "--prefill")
    assert "--prefill" in str(raised.value)


@pytest.mark.parametrize("text", ["0x tp4", "2x tp0", "2x tp999999999999999999999999"])
def test_numbers_have_a_domain(text: str) -> None:
    with pytest.raises(DescriptionError, match=r"--decode .* must be a whole number from 1"):
        read_pool(text, "--decode")
