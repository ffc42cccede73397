"""How long prompts and answers are: the laws that lengths are drawn by, and the words that name them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.errors import DescriptionError, brief
from volvelle.quantities import plain_number
from volvelle.workload.serving.requests import REQUEST_TOKENS, Requests, Whole

RANGE_RATIO = NumberDomain(0.0, 1.0)
USUAL_LENGTHS = "around:0.2"
"""Lengths of requests where the question names none: uniform from 80 % to 120 % of the stated length, which stays the
mean.

Equal lengths would let all clients of a closed loop finish in the same step and send their next prompts together, for
ever. Real answers differ, and so do those of benchmark clients that are told to vary them: InferenceX draws uniformly
from 80 % of a length up to it (``RANDOM_RANGE_RATIO=0.8``, https://github.com/SemiAnalysisAI/InferenceX), and SGLang's
``bench_serving`` from 1 token up to it by default. The default here is what ``vllm bench serve --random-range-ratio
0.2`` draws (https://docs.vllm.ai/en/latest/cli/bench/serve/): its mean is the stated length, and its spread lies
between the other two.
"""
LEAST_VARIED = 5
"""Tokens from which on usual lengths vary: below, a fifth is no whole token, and the mean would move."""
LENGTH_FACTOR = NumberDomain(1.0, 100.0)


class AbstractLengths(ABC):
    """Lengths of prompts, or of answers."""

    @abstractmethod
    def sample(self, generator: np.random.Generator, count: int) -> Whole:
        """Draw so many lengths."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FixedLength(AbstractLengths):
    """All are as long."""

    tokens: int = number(REQUEST_TOKENS)

    def __post_init__(self) -> None:
        check_fields(self, "lengths")

    def sample(self, generator: np.random.Generator, count: int) -> Whole:
        """The length, so many times."""
        return np.full(count, self.tokens, np.int64)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UniformAround(AbstractLengths):
    """Evenly on L·(1 - r) … L·(1 + r), as ``vllm bench serve --random-range-ratio`` draws."""

    tokens: int = number(REQUEST_TOKENS)
    range_ratio: float = number(RANGE_RATIO, 0.0)

    def __post_init__(self) -> None:
        check_fields(self, "lengths")

    def sample(self, generator: np.random.Generator, count: int) -> Whole:
        """Whole numbers, both ends included, and at least one token."""
        low = max(1, int(np.floor(self.tokens * (1.0 - self.range_ratio))))
        high = int(np.ceil(self.tokens * (1.0 + self.range_ratio)))
        return generator.integers(low, high + 1, count)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UniformBelow(AbstractLengths):
    """Evenly on r·L … L, as InferenceX and SGLang's ``bench_serving --random-range-ratio`` draw."""

    tokens: int = number(REQUEST_TOKENS)
    range_ratio: float = number(RANGE_RATIO, 1.0)

    def __post_init__(self) -> None:
        check_fields(self, "lengths")

    def sample(self, generator: np.random.Generator, count: int) -> Whole:
        """Whole numbers, both ends included, and at least one token."""
        return generator.integers(max(1, int(self.tokens * self.range_ratio)), self.tokens + 1, count)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LogNormalLengths(AbstractLengths):
    """Log-normally around a median; one standard deviation up multiplies by `factor`."""

    median: int = number(REQUEST_TOKENS)
    factor: float = number(LENGTH_FACTOR)
    longest: int = number(REQUEST_TOKENS, 10**9)
    """What is drawn longer is this long."""

    def __post_init__(self) -> None:
        check_fields(self, "lengths")

    def sample(self, generator: np.random.Generator, count: int) -> Whole:
        """Rounded, and at least one token."""
        drawn = self.median * self.factor ** generator.standard_normal(count)
        return np.clip(np.rint(drawn), 1, self.longest).astype(np.int64)


# -- how lengths vary, whatever the stated length ----------------------------------------------------------------------


class RequestLengths(ABC):
    """How lengths of requests vary: `LengthsAround`, `LengthsUpTo` or `FixedLengths`; `str` gives the words."""

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def of(self, tokens: int) -> AbstractLengths:
        """Return how lengths are drawn where the stated length is `tokens`."""

    @abstractmethod
    def longest(self, tokens: int) -> int:
        """Return the longest length that is drawn where the stated length is `tokens`."""


@final
@dataclass(frozen=True, slots=True)
class LengthsAround(RequestLengths):
    """Lengths of requests that are uniform on both sides of the stated length, which stays their mean.

    Lengths are whole numbers of tokens, as ``vllm bench serve --random-range-ratio`` draws them.

    Parameters
    ----------
    ratio
        Largest difference from the stated length, as a share of it: 0.2 draws from 80 % to 120 %.

    Examples
    --------
    >>> from volvelle import LengthsAround
    >>> str(LengthsAround(0.2))
    'around:0.2'
    >>> LengthsAround(0.2).longest(1000)
    1200
    """

    ratio: float = number(RANGE_RATIO)

    def __post_init__(self) -> None:
        check_fields(self, "lengths")

    def __str__(self) -> str:
        return f"around:{plain_number(self.ratio)}"

    def of(self, tokens: int) -> AbstractLengths:
        """Return how lengths are drawn around `tokens`."""
        return UniformAround(tokens=tokens, range_ratio=self.ratio)

    def longest(self, tokens: int) -> int:
        """Return the longest length that is drawn where the stated length is `tokens`."""
        return ceil(tokens * (1.0 + self.ratio))


@final
@dataclass(frozen=True, slots=True)
class LengthsUpTo(RequestLengths):
    """Lengths of requests that are uniform from a share of the stated length up to it.

    Lengths are whole numbers of tokens, as InferenceX and SGLang's ``bench_serving`` draw them.

    Parameters
    ----------
    ratio
        Shortest length, as a share of the stated one: 0.8 draws from 80 % to 100 %.

    Examples
    --------
    >>> from volvelle import LengthsUpTo
    >>> str(LengthsUpTo(0.8))
    'uniform:0.8'
    """

    ratio: float = number(RANGE_RATIO)

    def __post_init__(self) -> None:
        check_fields(self, "lengths")

    def __str__(self) -> str:
        return f"uniform:{plain_number(self.ratio)}"

    def of(self, tokens: int) -> AbstractLengths:
        """Return how lengths up to `tokens` are drawn."""
        return UniformBelow(tokens=tokens, range_ratio=self.ratio)

    def longest(self, tokens: int) -> int:
        """Return the stated length."""
        return tokens


@final
@dataclass(frozen=True, slots=True)
class FixedLengths(RequestLengths):
    """Requests that all have the stated length.

    Under a closed load all clients then finish together and send together.

    Examples
    --------
    >>> from volvelle import FixedLengths
    >>> str(FixedLengths())
    'fixed'
    """

    def __str__(self) -> str:
        return "fixed"

    def of(self, tokens: int) -> AbstractLengths:
        """Return the one length."""
        return FixedLength(tokens=tokens)

    def longest(self, tokens: int) -> int:
        """Return the stated length."""
        return tokens


_LENGTHS = "'around:0.2' (a fifth to either side), 'uniform:0.8' (from 0.8 of the length up to it) or 'fixed'"


def request_lengths_value(text: str) -> RequestLengths:
    """Return how lengths vary by the text that says it, ``around:0.2``; the inverse of ``str``."""
    kind, _, ratio = text.strip().lower().partition(":")
    if kind == "fixed" and not ratio:
        return FixedLengths()
    if kind in ("uniform", "around"):
        try:
            share = float(ratio)
        except ValueError:
            share = -1.0
        RANGE_RATIO.check(share, f"lengths {brief(text)}: the ratio")
        return LengthsUpTo(share) if kind == "uniform" else LengthsAround(share)
    raise DescriptionError(f"the lengths {brief(text)} cannot be read; write {_LENGTHS}")


# -- prompts and answers together --------------------------------------------------------------------------------------


class AbstractShape(ABC):
    """Lengths of prompts and answers together."""

    @abstractmethod
    def sample(self, generator: np.random.Generator, count: int) -> tuple[Whole, Whole]:
        """Draw so many prompts and answers."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Independent(AbstractShape):
    """Answers are as long as they are whatever the prompt."""

    input: AbstractLengths
    output: AbstractLengths

    def sample(self, generator: np.random.Generator, count: int) -> tuple[Whole, Whole]:
        """Prompts, then answers."""
        return self.input.sample(generator, count), self.output.sample(generator, count)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Empirical(AbstractShape):
    """Prompts with their answers as somebody's users had them, drawn with repetition."""

    input_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not self.input_tokens.size or self.input_tokens.shape != self.output_tokens.shape:
            raise DescriptionError("empirical lengths need at least one prompt, and an answer for each")

    @classmethod
    def of(cls, requests: Requests) -> "Empirical":
        """The lengths of these requests."""
        return cls(input_tokens=requests.input_tokens, output_tokens=requests.output_tokens)

    def sample(self, generator: np.random.Generator, count: int) -> tuple[Whole, Whole]:
        """Prompts, each with its own answer."""
        rows = generator.integers(0, self.input_tokens.size, count)
        return self.input_tokens[rows], self.output_tokens[rows]
