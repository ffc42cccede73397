"""Packed documents change what queries meet, and nothing else."""

import pytest

from tests.conftest import small_llama
from volvelle.errors import DescriptionError
from volvelle.workload.families.transformer import transformer
from volvelle.workload.packing import Lengths, packed

LLAMA = transformer(small_llama())


def test_fewer_keys_mean_less_attention_and_as_much_of_everything_else() -> None:
    whole, half = LLAMA, packed(LLAMA, keys=LLAMA.sizes["position"] / 2)
    cores = sum(
        block.repeat * block.operation_of[name].kind.work().flops(whole.sizes)
        for block in whole.blocks
        for name in ("scores", "context")
        if name in block.operation_of
    )
    assert half.flops() == pytest.approx(whole.flops() - cores / 2)
    assert half.parameters() == whole.parameters()


def test_lengths_are_read_with_their_shares_or_alone() -> None:
    assert Lengths.parse("512:0.7, 4096:0.3") == Lengths(lengths=(512, 4096), shares=(0.7, 0.3))
    assert Lengths.parse("512,4096").shares == (1.0, 1.0)


@pytest.mark.parametrize("text", ["", "x", "512:", "512:nan", "0:1", "-5", "512:-1", "1e3:1"])
def test_lengths_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(DescriptionError, match="length"):
        Lengths.parse(text)
