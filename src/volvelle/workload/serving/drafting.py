"""Who drafts tokens that a served model verifies, how many, as a sequence or a tree, and how many are accepted."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod

from volvelle.domains import DEGREE, NumberDomain, check_fields, number
from volvelle.errors import DescriptionError

WINDOW = NumberDomain(0, 64, whole=True)
"""Tokens that are drafted one after another; 0: none."""
BRANCHES = NumberDomain(1, 64, whole=True)
"""Candidates below one token of a tree."""
POSITIONS = NumberDomain(1, 1024, whole=True)
"""Tokens of a sequence that one step verifies."""
ACCEPTANCE = NumberDomain(0.0, 1.0)
DECAY = NumberDomain(0.01, 1.0)
CURVE_TOKENS = NumberDomain(1.0, 65.0)

Windows = tuple[tuple[int, float], ...]
"""Drafted tokens, and tokens that a step of the target yields."""


class DraftMethod(StrEnum):
    """Who drafts."""

    MODEL = "draft"
    """A small model with weights and a cache of its own."""
    EAGLE = "eagle"
    """A head of one layer that reads what the target made of its last tokens."""
    MTP = "mtp"
    """A layer for the token after the next that was trained with the target."""
    PARALLEL = "parallel"
    """A head that drafts all tokens in one pass: P-EAGLE, DSpark."""
    NGRAM = "ngram"
    """What followed the same few tokens before, looked up in the prompt and the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """A way to draft; of what is not said, None."""

    drafter: DraftMethod
    window: int | None = number(WINDOW)
    """Tokens that are drafted one after another, or levels of a tree; None: whichever is best."""
    branching: tuple[int, ...] = ()
    """Candidates below each token of the first levels of a tree; one below all others. Empty: a sequence."""
    model: str = ""
    """Of a draft model, its name."""
    tensor: int | None = number(DEGREE, None)
    """Chips that a draft model is split over; None: as many as the target."""
    first: float | None = number(ACCEPTANCE, None)
    """Acceptance at the first position."""
    decay: float | None = number(DECAY, None)
    """What is left of it at each further position."""
    curve: Windows = ()
    """Measured: tokens that a step yields by the window."""
    curve_name: str = ""

    def __post_init__(self) -> None:
        check_fields(self, "speculation")
        for branches in self.branching:
            BRANCHES.check(branches, "speculation: candidates of a level of the tree")
        if self.branching and self.drafter in (DraftMethod.PARALLEL, DraftMethod.NGRAM):
            raise DescriptionError(f"speculation: {self.drafter} drafts are a sequence; leave the tree away")
        if (self.drafter is DraftMethod.MODEL) != bool(self.model):
            raise DescriptionError("speculation: a draft model, and nothing else, has a model's name")
        if self.tensor is not None and self.drafter is not DraftMethod.MODEL:
            raise DescriptionError(f"speculation: {self.drafter} drafts run where the target does; leave tp away")
        if self.window is None and self.branching:
            raise DescriptionError("speculation: the best window is looked for among sequences; leave the tree away")
        if self.window is not None:
            if len(self.branching) > self.window:
                raise DescriptionError(
                    f"speculation: the tree has {len(self.branching)} levels and {self.window} are drafted; draft "
                    "as many"
                )
            POSITIONS.check(self.positions, "speculation: tokens of a sequence that a step verifies")

    @property
    def levels(self) -> tuple[int, ...]:
        """Candidates below each token, of every level; all one where drafts are a sequence."""
        window = self.window or 0
        return self.branching + (1,) * (window - len(self.branching))

    @property
    def widths(self) -> tuple[int, ...]:
        """Tokens of each level."""
        return tuple(prod(self.levels[: level + 1]) for level in range(len(self.levels)))

    @property
    def positions(self) -> int:
        """Tokens of a sequence that a step verifies: all that were drafted, and the one before them."""
        return 1 + sum(self.widths)

    def with_window(self, window: int) -> "Drafting":
        """The same with so many drafted tokens."""
        return replace(self, window=window)
