"""One GPT layer as DFModel draws it: 18 kernels forward, 41 with backward and weight updates.

The graph of Ko and others, "DFModel: Design Space Optimization of Large-Scale Systems Exploiting Dataflow Mappings"
(arXiv:2412.16432), so that its results can be reproduced kernel by kernel. For anything else use
:func:`volvelle.transformer`, whose backward pass is derived and complete.

Every element-wise kernel counts one FLOP a point, softmax and norms too. The 41-kernel graph is written out because
it is not what ``with_backward`` gives. It leaves out:

* the backward pass of the first norm, and the sum of what queries, keys and values hand back to it;
* the gradients that pass along the residual connections;
* what element-wise kernels keep for their gradients: the input of GeLU and of the second norm, the output of softmax,
  the masks of dropouts;
* the edge from the forward result to the loss: the backward pass begins with a kernel of its own (``loss_bwd``).
"""

from dataclasses import dataclass, replace

from volvelle.errors import DescriptionError
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Contraction, Phase, Pointwise
from volvelle.workload.signature import Signature
from volvelle.workload.transforms import seed_of

_STREAM = "batch position hidden"
_HEADS = "batch position heads head_dim"
_KEYS = "batch key_position heads head_dim"
_SCORES = "batch heads position key_position"
_WIDE = "batch position ffn"
_PROJ = "heads head_dim hidden"
_KEYED = "batch key_position hidden"
_UPDATES = ("ffn1_update", "ffn0_update", "proj_update", "v_update", "k_update", "q_update")


@dataclass(frozen=True, slots=True, kw_only=True)
class GptLayer:
    """Sizes of one layer, and how often it repeats."""

    name: str
    hidden: int
    heads: int
    head_dim: int
    ffn: int
    sequence: int
    layers: int = 1
    micro_batch: int = 1
    element: str = "bf16"

    def __post_init__(self) -> None:
        for field in ("hidden", "heads", "head_dim", "ffn", "sequence", "layers", "micro_batch"):
            if getattr(self, field) < 1:
                raise DescriptionError(f"layer {self.name!r}: {field} is {getattr(self, field)}; it must be positive")

    @property
    def sizes(self) -> dict[str, float]:
        """Named dimensions and their sizes."""
        return {
            "batch": self.micro_batch,
            "position": self.sequence,
            "key_position": self.sequence,
            "hidden": self.hidden,
            "heads": self.heads,
            "head_dim": self.head_dim,
            "ffn": self.ffn,
        }


def gpt_layer(shape: GptLayer) -> Workload:
    """The forward layer: 18 kernels and 21 edges, where a tensor with k consumers is k edges."""
    b = BlockBuilder("layer", element=shape.element)
    _forward(b)
    return Workload(name=shape.name, sizes=shape.sizes, blocks=(b.build(outputs=("add_2",), repeat=shape.layers),))


def gpt_layer_training(shape: GptLayer) -> Workload:
    """Forward, backward and weight updates: 41 kernels and 53 edges."""
    b = BlockBuilder("layer", element=shape.element)
    _forward(b)
    seed = b.data(seed_of("add_2"), _STREAM, element=shape.element)
    _backward(b, seed)
    block = _with_gradients(b.build(outputs=("add_2",), repeat=shape.layers))
    return Workload(name=shape.name, sizes=shape.sizes, blocks=(block,))


def _with_gradients(block: Block) -> Block:
    """What weight updates leave is the gradient of the weight, and is called so."""
    called = {name: f"{name.removesuffix('_update')}_weight.grad" for name in _UPDATES}
    return replace(
        block,
        tensors=tuple(replace(one, name=called.get(one.name, one.name)) for one in block.tensors),
        operations=tuple(
            replace(op, outputs=tuple(called.get(name, name) for name in op.outputs)) for op in block.operations
        ),
    )


def _forward(b: BlockBuilder) -> None:
    def each(name: str, dims: str, *inputs: str) -> str:
        return b.pointwise(name, f"{', '.join([dims] * len(inputs))} -> {dims}", *inputs)

    b.part = "norms, residuals"
    x = each("add_previous_layer", _STREAM, b.input("x", _STREAM))
    normed = each("layer_norm_1", _STREAM, x)
    b.part = "attention"
    q, k, v = (b.project(name, f"{_STREAM}, hidden heads head_dim -> {_HEADS}", normed) for name in ("q", "k", "v"))
    scores = b.contract("mha_gemm_1", f"{_HEADS}, {_KEYS} -> {_SCORES}", q, k)
    weights = each("dropout_1", _SCORES, each("softmax", _SCORES, scores))
    mixed = b.contract("mha_gemm_2", f"{_SCORES}, {_KEYS} -> {_HEADS}", weights, v)
    out = b.contract("proj_gemm", f"{_HEADS}, {_PROJ} -> {_STREAM}", mixed, b.weight("proj_weight", _PROJ))
    b.part = "norms, residuals"
    middle = each("add_1", _STREAM, each("dropout_2", _STREAM, out), x)
    normed = each("layer_norm_2", _STREAM, middle)
    b.part = "feed-forward"
    up = b.project("ffn0", f"{_STREAM}, hidden ffn -> {_WIDE}", normed)
    gelu = each("gelu", _WIDE, up)
    down = b.project("ffn1", f"{_WIDE}, ffn hidden -> {_STREAM}", gelu)
    b.part = "norms, residuals"
    each("add_2", _STREAM, each("dropout_3", _STREAM, down), middle)


def _backward(b: BlockBuilder, seed: str) -> None:
    b.phase = Phase.BACKWARD

    def each(name: str, dims: str, x: str) -> str:
        return b.add(f"{name}_bwd", Pointwise(Signature.parse(f"{dims} -> {dims}")), (x,), of=name)

    def product(name: str, of: str, signature: str, first: str, second: str) -> str:
        return b.add(name, Contraction(Signature.parse(signature)), (first, second), of=of)

    b.part = "feed-forward"
    down = each("dropout_3", _STREAM, b.add("loss_bwd", Pointwise(Signature.parse(f"{_STREAM} -> {_STREAM}")), (seed,)))
    wide = product("ffn1_bwd", "ffn1", f"{_STREAM}, ffn hidden -> {_WIDE}", down, "ffn1_weight")
    wide = each("gelu", _WIDE, wide)
    up = product("ffn0_bwd", "ffn0", f"{_WIDE}, hidden ffn -> {_STREAM}", wide, "ffn0_weight")
    b.part = "attention"
    out = each("dropout_2", _STREAM, each("layer_norm_2", _STREAM, up))
    mixed = product("proj_gemm_bwd", "proj_gemm", f"{_STREAM}, {_PROJ} -> {_HEADS}", out, "proj_weight")
    weights = product("mha_gemm_2_bwd1", "mha_gemm_2", f"{_HEADS}, {_KEYS} -> {_SCORES}", mixed, "v")
    dv = product("mha_gemm_2_bwd2", "mha_gemm_2", f"{_HEADS}, {_SCORES} -> {_KEYS}", mixed, "dropout_1")
    product("v_bwd", "v", f"{_KEYS}, hidden heads head_dim -> {_KEYED}", dv, "v_weight")
    scores = each("softmax", _SCORES, each("dropout_1", _SCORES, weights))
    dq = product("mha_gemm_1_bwd1", "mha_gemm_1", f"{_SCORES}, {_KEYS} -> {_HEADS}", scores, "k")
    dk = product("mha_gemm_1_bwd2", "mha_gemm_1", f"{_SCORES}, {_HEADS} -> {_KEYS}", scores, "q")
    product("q_bwd", "q", f"{_HEADS}, hidden heads head_dim -> {_STREAM}", dq, "q_weight")
    product("k_bwd", "k", f"{_KEYS}, hidden heads head_dim -> {_KEYED}", dk, "k_weight")
    b.part = "weight updates"
    product("ffn1_update", "ffn1", f"{_STREAM}, {_WIDE} -> ffn hidden", down, "gelu")
    product("ffn0_update", "ffn0", f"{_WIDE}, {_STREAM} -> hidden ffn", wide, "layer_norm_2")
    product("proj_update", "proj_gemm", f"{_STREAM}, {_HEADS} -> {_PROJ}", out, "mha_gemm_2")
    for name, gradient in (("v", dv), ("k", dk)):
        product(f"{name}_update", name, f"{_KEYS}, {_KEYED} -> hidden heads head_dim", gradient, "layer_norm_1")
    product("q_update", "q", f"{_HEADS}, {_STREAM} -> hidden heads head_dim", dq, "layer_norm_1")
