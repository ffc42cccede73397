"""Attention to keys that an index chooses."""

from dataclasses import replace

import pytest

from tests.conftest import small_llama
from volvelle import LatentAttention, SparseIndex, Transformer, estimate, transformer
from volvelle.workload.graph import Workload

INDEX = SparseIndex(heads=4, dim=32, chosen=64)
LATENT = LatentAttention(query_rank=96, kv_rank=64, rotary_dim=16, value_dim=64)


def latent() -> Transformer:
    return small_llama(kv_heads=8, latent=LATENT)


def work(workload: Workload, name: str) -> float:
    (block,) = (block for block in workload.blocks if name in block.operation_of)
    return block.operation_of[name].kind.work().flops(workload.sizes)


def test_an_index_adds_its_projections_and_the_norm_of_its_key() -> None:
    plain, sparse = (transformer(replace(latent(), sparse=index)) for index in (None, INDEX))
    layers, hidden = latent().layers, latent().hidden
    assert sparse.parameters() - plain.parameters() == layers * (96 * 4 * 32 + hidden * 32 + hidden * 4 + 2 * 32)


def test_without_a_latent_the_index_asks_from_the_stream() -> None:
    plain, sparse = (transformer(small_llama(sparse=index)) for index in (None, INDEX))
    layers, hidden = small_llama().layers, small_llama().hidden
    assert sparse.parameters() - plain.parameters() == layers * (hidden * 4 * 32 + hidden * 32 + hidden * 4 + 2 * 32)


def test_the_index_scores_all_keys_and_attention_those_chosen() -> None:
    short, long = (transformer(replace(latent(), sparse=INDEX), sequence=length) for length in (128, 1024))
    assert work(long, "index_scores") == 64 * work(short, "index_scores")
    assert work(long, "scores") == 8 * work(short, "scores")
    assert work(long, "index_scores") == 2.0 * 4 * 32 * 1024 * 1024


def test_fewer_positions_than_keys_to_choose_are_all_attended_to() -> None:
    plain, sparse = (transformer(replace(latent(), sparse=index), sequence=32) for index in (None, INDEX))
    assert work(sparse, "scores") == work(plain, "scores")


@pytest.mark.parametrize("choices", [{}, {"context": 2}, {"sequence_parallel": False}, {"fused_attention": False}])
def test_it_is_split_over_chips_like_any_attention(choices: dict[str, object]) -> None:
    answer = estimate(replace(latent(), sparse=INDEX), on="dgx-h100/16", batch=64, tensor=4, **choices)  # type: ignore[arg-type]
    assert answer.estimate.time > 0
