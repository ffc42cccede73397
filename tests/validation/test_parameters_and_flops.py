"""Against what others count: published parameters, and torch's own counter of operations."""

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle import Catalogue, Transformer, transformer, with_backward
from volvelle.workload.operations import Phase

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", Catalogue().names("models"))
def test_parameter_counts_agree_with_the_published_ones(catalogue: Catalogue, name: str) -> None:
    published = float(catalogue.model_file(name).parameters.value)
    assert transformer(catalogue.model(name)).parameters() == pytest.approx(published, rel=1e-3)


def layer_norm(shape: Transformer, x):  # type: ignore[no-untyped-def]
    weight = torch.ones(shape.hidden, device="meta", requires_grad=True)
    if shape.norm == "rmsnorm":
        return torch.nn.functional.rms_norm(x, (shape.hidden,), weight)
    bias = torch.zeros(shape.hidden, device="meta", requires_grad=True)
    return torch.nn.functional.layer_norm(x, (shape.hidden,), weight, bias)


def linear(x, n_in: int, n_out: int):  # type: ignore[no-untyped-def]
    return x @ torch.empty(n_in, n_out, device="meta", requires_grad=True)


def loss_in_torch(shape: Transformer, batch: int, *, fused: bool):  # type: ignore[no-untyped-def]
    """The same network in plain torch, on the meta device."""
    s, h, d, a, g = shape.sequence, shape.hidden, shape.head_dim, shape.heads, shape.kv_heads
    tokens = torch.zeros(batch, s, dtype=torch.long, device="meta")
    table = torch.empty(shape.vocabulary, h, device="meta", requires_grad=True)
    x = torch.nn.functional.embedding(tokens, table)
    for _ in range(shape.layers):
        y = layer_norm(shape, x)
        q = linear(y, h, a * d).view(batch, s, a, d).transpose(1, 2)
        k, v = (linear(y, h, g * d).view(batch, s, g, d).transpose(1, 2) for _ in range(2))
        k, v = (t.repeat_interleave(a // g, dim=1) for t in (k, v))
        if fused:
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            o = torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v
        x = x + linear(o.transpose(1, 2).reshape(batch, s, a * d), a * d, h)
        y = layer_norm(shape, x)
        if shape.gated:
            y = torch.nn.functional.silu(linear(y, h, shape.ffn)) * linear(y, h, shape.ffn)
        else:
            y = torch.nn.functional.gelu(linear(y, h, shape.ffn))
        x = x + linear(y, shape.ffn, h)
    head = table if shape.tied_embeddings else torch.empty(shape.vocabulary, h, device="meta", requires_grad=True)
    logits = layer_norm(shape, x) @ head.T
    return logits.float().logsumexp(-1).mean()


@pytest.mark.parametrize("shape", [small_gpt(), small_llama()], ids=["GPT", "Llama"])
@pytest.mark.parametrize("batch", [1, 3])
def test_flops_equal_what_torch_counts_forward_and_backward(shape: Transformer, batch: int) -> None:
    from torch.utils.flop_counter import FlopCounterMode  # noqa: PLC0415

    whole = with_backward(transformer(shape, batch=batch))
    with FlopCounterMode(display=False) as forward:
        loss = loss_in_torch(shape, batch, fused=False)
    assert forward.get_total_flops() == whole.flops(phase=Phase.FORWARD)
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert backward.get_total_flops() == whole.flops(phase=Phase.BACKWARD)
