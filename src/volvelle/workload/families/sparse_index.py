"""The index of sparse attention: which keys each query attends to."""

from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.attention_forms import SparseIndex
from volvelle.workload.families.pieces import STREAM
from volvelle.workload.families.shape import Transformer

INDEX_CORE = "index core"
"""Region of the operations between the projections of the index and its choice."""


def index_sizes(index: SparseIndex, length: int) -> dict[str, float]:
    """Its dimensions; attention itself then has a window of keys for each query."""
    return {"index_heads": index.heads, "index_dim": index.dim, "window": min(index.chosen, length)}


def queries_with_choice(b: BlockBuilder, shape: Transformer, x: str, q: str, *, dims: str) -> str:
    r"""Queries of `dims` that know which keys the index chose for them.

    The index scores every key, as many as there are positions: $\sum_h w_h\,\mathrm{ReLU}(q_h \cdot k)$. Its own
    loss, which compares it with attention, is taken to work its way back like any other: twice the forward work. The
    full attention that the loss compares with is not counted.
    """
    low = shape.latent is not None and shape.latent.query_rank
    source, taken = ("query_latent_norm", "query_rank") if low else (x, "hidden")
    asked, keyed, weighed = "batch position index_heads index_dim", "batch position index_dim", "index_heads position"
    query = b.project("index_query", f"batch position {taken}, {taken} index_heads index_dim -> {asked}", source)
    key = b.project("index_key", f"{STREAM}, hidden index_dim -> {keyed}", x)
    weights = [b.weight(f"index_key_norm_{name}", "index_dim") for name in ("weight", "shift")]
    key = b.normalise(
        "index_key_norm", f"{keyed}, index_dim, index_dim -> {keyed}", key, *weights, along="index_dim", flops=5.0
    )
    share = b.project("index_share", f"{STREAM}, hidden index_heads -> batch position index_heads", x)
    query = b.pointwise("index_query_rotation", f"{asked} -> {asked}", query, flops=3.0)
    key = b.pointwise("index_key_rotation", f"{keyed} -> {keyed}", key, flops=3.0)
    b.region = INDEX_CORE
    signature = f"{asked}, batch key index_dim -> batch {weighed} key"
    scores = b.contract("index_scores", signature, query, key)
    sums = b.contract(
        "index_sum", f"batch {weighed} key, batch position index_heads -> batch position key", scores, share
    )
    choice = b.normalise("index_choice", "batch position key -> batch position", sums, along="key", flops=4.0)
    b.region = ""
    return b.pointwise("index_chosen", f"{dims}, batch position -> {dims}", q, choice, fused=True)
