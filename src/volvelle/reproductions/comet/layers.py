"""Transformer-1T as COMET's Table 2 has it: matrix products and element-wise steps of one layer, as one node sees them.

Degrees of model parallelism may be arrays; then all sizes are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from volvelle.catalogue.published.comet import CometModel
from volvelle.quantities import Bytes, Count

HALF, SINGLE = 2.0, 4.0
"""Bytes of an element in either precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """`often` products of an m×k by a k×n matrix."""

    name: str
    m: Count
    k: Count
    n: Count
    often: Count = 1.0
    weights: bool = True
    """Whether the second operand is trained; else it is another activation."""

    @property
    def work(self) -> Count:
        """FLOP of one."""
        return 2.0 * self.m * self.k * self.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one layer keeps between two checkpoints: elements that one step writes."""

    name: str
    elements: Count
    moved: Count = 0.0
    """Elements read and written by an element-wise step; those of products follow from their operands."""


def layer_products(model: CometModel, degree: Count, *, whole_batch_attention: bool = False) -> Iterator[Product]:
    """The products of a layer, of which each node has one part in `degree`.

    `whole_batch_attention` takes Table 2 by the letter: queries of all sequences meet keys of all sequences.
    """
    tokens, width = float(model.batch * model.sequence), float(model.width)
    share = width / degree
    for name in ("query", "key", "value"):
        yield Product(name=name, m=tokens, k=width, n=share)
    if whole_batch_attention:
        yield Product(name="scores", m=tokens, k=share, n=tokens, weights=False)
        yield Product(name="context", m=tokens, k=tokens, n=share, weights=False)
    else:
        # Table 2 has the batch twice; attention is among tokens of one sequence, head by head.
        length, head, pairs = float(model.sequence), width / model.heads, model.batch * model.heads / degree
        yield Product(name="scores", m=length, k=head, n=length, often=pairs, weights=False)
        yield Product(name="context", m=length, k=length, n=head, often=pairs, weights=False)
    yield Product(name="concat", m=tokens, k=share, n=width)
    yield Product(name="up", m=tokens, k=width, n=4.0 * share)
    yield Product(name="down", m=tokens, k=4.0 * share, n=width)


def layer_steps(model: CometModel, degree: Count) -> Iterator[Step]:
    """What the steps of a layer write; norms and residual additions are not split and read what they write."""
    tensor = float(model.batch * model.sequence * model.width)
    both = 2.0 * tensor
    yield Step(name="norm before attention", elements=tensor, moved=both)
    for name in ("query", "key", "value", "context"):
        yield Step(name=name, elements=tensor / degree)
    yield Step(name="concat", elements=tensor)
    yield Step(name="residual", elements=tensor, moved=both)
    yield Step(name="norm before feed-forward", elements=tensor, moved=both)
    yield Step(name="up", elements=4.0 * tensor / degree)
    yield Step(name="down", elements=tensor)
    # What the last addition writes is the next checkpoint, which the paper off-loads to the host.
    yield Step(name="residual into the next layer", elements=0.0, moved=both)


def layer_gradients(model: CometModel, degree: Count) -> Bytes:
    """Gradients of a node's part of one layer, in half precision."""
    return 12.0 * float(model.width) ** 2 * HALF / degree


def parameters(model: CometModel) -> float:
    """Of all layers, and of one embedding."""
    return 12.0 * model.layers * float(model.width) ** 2 + float(model.vocabulary * model.width)
