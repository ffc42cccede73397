"""Against what others count: published parameters, and torch's own counter of operations."""

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle import Catalogue, Transformer, transformer, with_backward
from volvelle.workload.families.shape import DeltaNet, LayerKind, Mamba, Mamba2
from volvelle.workload.operations import Phase

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", Catalogue().names("models"))
def test_parameter_counts_agree_with_the_published_ones(catalogue: Catalogue, name: str) -> None:
    published = float(catalogue.model_file(name).parameters.value)
    assert transformer(catalogue.model(name)).parameters() == pytest.approx(published, rel=1e-3)


SIGLIP = 14 * 14 * 3 * 1152 + 1152 + 4096 * 1152  # patches, their bias, places
SIGLIP += 27 * (4 * (1152 * 1152 + 1152) + 2 * 1152 * 4304 + 4304 + 1152 + 4 * 1152) + 2 * 1152  # layers, last norm
SIGLIP += 1152 * 5376 + 1152  # projection into the stream, its norm
"""Numbers in the vision tower of Gemma 3 27B, from its published vision_config."""

LLAMA4_VISION = 14 * 14 * 3 * 1408 + 1408 + 577 * 1408 + 4 * 1408  # patches, class, places, norms around
LLAMA4_VISION += 34 * (4 * (1408 * 1408 + 1408) + 2 * 1408 * 5632 + 5632 + 1408 + 4 * 1408)  # layers
LLAMA4_VISION += 5632 * 4096 + 4096 * 4096 + 4096 * 5120  # after shuffling pixels; projection into the stream
"""Numbers in the vision tower of Llama 4, from its published vision_config."""


@pytest.mark.parametrize(
    ("name", "whole", "vision"),
    [
        ("gemma3-27b", 54_864_813_280 // 2, SIGLIP),  # total_size of MedGemma 27B, the same network, all bf16
        ("llama4-maverick", 401_583_781_376, LLAMA4_VISION),  # numbers in the checkpoint, as hosts count them
        ("llama4-scout", 108_641_793_536, LLAMA4_VISION),
    ],
)
def test_a_text_model_and_its_vision_tower_are_the_published_checkpoint(
    catalogue: Catalogue, name: str, whole: int, vision: int
) -> None:
    assert transformer(catalogue.model(name)).parameters() + vision == whole


def test_jamba_has_its_published_billions_in_all_and_at_work_on_a_token(catalogue: Catalogue) -> None:
    """398 and 94 (Jamba-1.5, arXiv:2408.12570); no list of the checkpoint's tensors could be found."""
    shape = catalogue.model("jamba-1.5-large")
    assert shape.experts is not None
    parameters = transformer(shape).parameters()
    idle = 36 * (shape.experts.count - shape.experts.chosen) * 3 * shape.hidden * shape.experts.ffn
    assert parameters // 10**9 == 398
    assert (parameters - idle) // 10**9 == 94


def test_nemotron_has_its_published_billions(catalogue: Catalogue) -> None:
    """56 (model card); no list of the checkpoint's tensors could be found."""
    assert transformer(catalogue.model("nemotron-h-56b")).parameters() // 10**9 == 56


@pytest.mark.parametrize(
    ("name", "billions", "at_work"),
    [("qwen3.5-397b-a17b", 396.35, 17), ("qwen3.6-35b-a3b", 34.66, 3)],
)
def test_qwen_with_delta_nets_has_as_many_parameters_as_others_count(
    catalogue: Catalogue, name: str, billions: float, at_work: int
) -> None:
    """All: as llama.cpp counts the text part, but for the gates of shared experts. At work: by their names."""
    shape = catalogue.model(name)
    assert shape.experts is not None
    parameters = transformer(shape).parameters()
    idle = shape.layers * (shape.experts.count - shape.experts.chosen) * 3 * shape.hidden * shape.experts.ffn
    assert round(parameters / 1e9, 2) == billions
    assert (parameters - idle) // 10**9 == at_work


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


# -- layers of several kinds ---------------------------------------------------------------------------------------


def chunked_attention(shape: Transformer, x, batch: int, w: int):  # type: ignore[no-untyped-def]
    """Queries in chunks against the keys of their own chunk, as in Llama 4: a window of keys for each query."""
    s, h, d, a, g = shape.sequence, shape.hidden, shape.head_dim, shape.heads, shape.kv_heads
    q = linear(x, h, a * d).view(batch, s // w, w, a, d).transpose(2, 3)
    k, v = (linear(x, h, g * d).view(batch, s // w, w, g, d).transpose(2, 3) for _ in range(2))
    k, v = (tensor.repeat_interleave(a // g, dim=2) for tensor in (k, v))
    o = torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v
    return linear(o.transpose(2, 3).reshape(batch, s, a * d), a * d, h)


def depthwise(x, taps: int):  # type: ignore[no-untyped-def]
    """Each channel's last few positions, as products: of a convolution torch counts padding, and all groups at once."""
    padded = torch.nn.functional.pad(x, (0, 0, taps - 1, 0))
    weight = torch.empty(x.shape[-1], taps, 1, device="meta", requires_grad=True)
    windows = padded.unfold(1, taps, 1).permute(2, 0, 1, 3).reshape(x.shape[-1], -1, taps)
    return torch.nn.functional.silu(torch.bmm(windows, weight).view(x.shape[-1], *x.shape[:2]).permute(1, 2, 0))


def selective_scan(x, step, into, out):  # type: ignore[no-untyped-def]
    """What depends on what, without products: torch counts only those."""
    return x * step * (into * out).sum(-1, keepdim=True)


def mamba(shape: Transformer, x, batch: int):  # type: ignore[no-untyped-def]
    space = shape.mamba
    assert space is not None
    into, gate = (linear(x, shape.hidden, space.inner) for _ in range(2))
    into = depthwise(into, space.taps)
    step = linear(linear(into, space.inner, space.step_rank), space.step_rank, space.inner)
    vectors = [linear(into, space.inner, space.state) for _ in range(2)]
    return linear(selective_scan(into, step, *vectors) * torch.nn.functional.silu(gate), space.inner, shape.hidden)


def mamba2(shape: Transformer, x, batch: int):  # type: ignore[no-untyped-def]
    """The chunked form of Dao and Gu (listing 1), with several heads a group; decays are left out."""
    space = shape.mamba2
    assert space is not None
    chunks, per = shape.sequence // space.chunk, space.heads // space.groups
    inner = space.heads * space.head_dim
    gate, into = linear(x, shape.hidden, inner), depthwise(linear(x, shape.hidden, inner), space.taps)
    b, c = (depthwise(linear(x, shape.hidden, space.groups * space.state), space.taps) for _ in range(2))
    b, c = (vector.view(batch, chunks, space.chunk, space.groups, space.state) for vector in (b, c))
    step = linear(x, shape.hidden, space.heads).view(batch, chunks, space.chunk, space.groups, per)
    v = into.view(batch, chunks, space.chunk, space.groups, per, space.head_dim) * step.unsqueeze(-1)
    weights = torch.einsum("bclgn,bcsgn->bcgls", c, b).unsqueeze(3) * torch.ones(per, 1, 1, device="meta")
    within = torch.einsum("bcghls,bcsghp->bclghp", weights, v)
    states = torch.einsum("bclgn,bclghp->bcghpn", b, v).cumsum(1)
    made = within + torch.einsum("bclgn,bcghpn->bclghp", c, states)
    return linear(made.reshape(batch, shape.sequence, inner) * torch.nn.functional.silu(gate), inner, shape.hidden)


def delta_net(shape: Transformer, x, batch: int):  # type: ignore[no-untyped-def]
    """The chunked form of Yang et al., with what is inverted between keys taken as it is; decays are left out."""
    net = shape.delta_net
    assert net is not None
    chunks, per = shape.sequence // net.chunk, net.value_heads // net.key_heads
    wide = net.value_heads * net.value_dim
    q, k = (depthwise(linear(x, shape.hidden, net.key_heads * net.key_dim), net.taps) for _ in range(2))
    q, k = (vector.view(batch, chunks, net.chunk, net.key_heads, net.key_dim) for vector in (q, k))
    q, k = (vector.repeat_interleave(per, dim=3) for vector in (q, k))
    v = depthwise(linear(x, shape.hidden, wide), net.taps)
    v = v.view(batch, chunks, net.chunk, net.value_heads, net.value_dim)
    gate, write, decay = (linear(x, shape.hidden, width) for width in (wide, net.value_heads, net.value_heads))
    written = (write * decay).view(batch, chunks, net.chunk, net.value_heads, 1)
    between = torch.einsum("bclhk,bcshk->bchls", k * written, k)
    keys, values = (torch.einsum("bchls,bcshd->bclhd", between, vector) for vector in (k, v))
    state = torch.empty(batch, net.value_heads, net.key_dim, net.value_dim, device="meta", requires_grad=True)
    read = []
    for chunk in range(chunks):
        new = values[:, chunk] - torch.einsum("blhk,bhkv->blhv", keys[:, chunk], state)
        seen = torch.einsum("blhk,bshk->bhls", q[:, chunk], k[:, chunk])
        within = torch.einsum("bhls,bshv->blhv", seen, new)
        read.append(torch.einsum("blhk,bhkv->blhv", q[:, chunk], state) + within)
        state = state + torch.einsum("blhk,blhv->bhkv", k[:, chunk], new)
    made = (torch.stack(read, dim=1) + state.mean()).reshape(batch, shape.sequence, wide)
    return linear(made * torch.nn.functional.silu(gate), wide, shape.hidden)


def attention(shape: Transformer, x, batch: int):  # type: ignore[no-untyped-def]
    return chunked_attention(shape, x, batch, shape.sequence)


def local_attention(shape: Transformer, x, batch: int):  # type: ignore[no-untyped-def]
    return chunked_attention(shape, x, batch, shape.window)


MIXERS = {
    "attention": attention,
    "local attention": local_attention,
    "mamba": mamba,
    "mamba2": mamba2,
    "delta net": delta_net,
}
PATTERNS = {
    "local": {"pattern": ("local attention + mlp", "local attention + mlp", "attention + mlp"), "window": 32},
    "mamba": {
        "pattern": ("mamba + mlp", "attention + mlp", "mamba"),
        "mamba": Mamba(inner=1024, state=16, step_rank=32),
    },
    "mamba2": {
        "pattern": ("mamba2", "mlp", "attention", "mlp"),
        "mamba2": Mamba2(heads=16, head_dim=64, groups=4, state=32, chunk=16),
    },
    "delta net": {
        "pattern": ("delta net + mlp", "attention + mlp", "delta net"),
        "delta_net": DeltaNet(value_heads=8, key_heads=4, key_dim=32, value_dim=64, chunk=16),
    },
}


@pytest.mark.parametrize("name", PATTERNS)
def test_flops_of_layers_of_several_kinds_equal_what_torch_counts(name: str) -> None:
    from torch.utils.flop_counter import FlopCounterMode  # noqa: PLC0415

    fields = PATTERNS[name]
    pattern = tuple(LayerKind.parse(text) for text in fields["pattern"])  # type: ignore[attr-defined]
    shape, batch = small_llama(layers=7, **{**fields, "pattern": pattern}), 2
    whole = with_backward(transformer(shape, batch=batch))
    with FlopCounterMode(display=False) as forward:
        x = torch.empty(batch, shape.sequence, shape.hidden, device="meta", requires_grad=True)
        for kind in shape.kinds:
            if kind.mixer != "none":
                x = x + MIXERS[kind.mixer](shape, layer_norm(shape, x), batch)
            if kind.feed == "mlp":
                y = layer_norm(shape, x)
                y = torch.nn.functional.silu(linear(y, shape.hidden, shape.ffn)) * linear(y, shape.hidden, shape.ffn)
                x = x + linear(y, shape.ffn, shape.hidden)
        loss = linear(x, shape.hidden, shape.vocabulary).sum()
    assert forward.get_total_flops() == whole.flops(phase=Phase.FORWARD)
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert backward.get_total_flops() == whole.flops(phase=Phase.BACKWARD)
