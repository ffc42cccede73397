"""Packed sequences: documents of mixed lengths side by side in sequences of one length, each seeing only itself."""

from dataclasses import dataclass, replace
from typing import Self

from volvelle.domains import DOCUMENT_SHARE, WIDTH
from volvelle.errors import DescriptionError, brief
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Contraction

_KEY, _WINDOW = "key", "window"
"""Dimensions of the keys that a query meets: those of its sequence, and those that local attention reaches over."""
_MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Lengths of documents, and how many of all documents have each."""

    lengths: tuple[int, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.lengths or len(self.lengths) != len(self.shares):
            raise DescriptionError("lengths of documents need at least one length, and a share for each")
        if len(self.lengths) > _MOST:
            raise DescriptionError(f"{len(self.lengths):,} lengths of documents are more than {_MOST:,}; group them")
        for length, share in zip(self.lengths, self.shares, strict=True):
            WIDTH.check(length, "lengths: a document's tokens")
            DOCUMENT_SHARE.check(share, "lengths: a share of documents")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``"512:0.7,4096:0.3"``: lengths, each with how many documents have it (alone: as many as others)."""
        lengths, shares = [], []
        for part in filter(None, (piece.strip() for piece in text.replace("\n", ",").split(","))):
            length, colon, share = part.partition(":")
            try:
                lengths.append(int(length))
                shares.append(float(share) if colon else 1.0)
            except ValueError:
                raise DescriptionError(
                    f"lengths: {brief(part)} is not a length with a share; write them like 512:0.7,4096:0.3"
                ) from None
        return cls(lengths=tuple(lengths), shares=tuple(shares))

    @property
    def longest(self) -> int:
        """Tokens of the longest document."""
        return max(self.lengths)


def packed(workload: Workload, *, keys: float, window: float | None = None) -> Workload:
    """The workload with `keys` a query meets on average in place of its whole sequence; in local attention `window`."""
    if _KEY not in workload.sizes:
        raise DescriptionError(
            f"{workload.name} has no attention over positions, so lengths of documents change nothing"
        )
    sizes = {**workload.sizes, _KEY: keys}
    if window is not None and _WINDOW in sizes:
        sizes[_WINDOW] = window
    return replace(workload, sizes=sizes, blocks=tuple(_narrowed(block) for block in workload.blocks))


def _narrowed(block: Block) -> Block:
    """Products over keys as over a window: each query meets fewer than there are."""
    operations = tuple(
        replace(op, kind=replace(op.kind, window=_KEY))
        if isinstance(op.kind, Contraction) and not op.kind.window and _KEY in op.kind.signature.dims
        else op
        for op in block.operations
    )
    return replace(block, operations=operations)
