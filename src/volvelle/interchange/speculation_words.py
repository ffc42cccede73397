"""Speculation in words: ``eagle 3``, ``draft llama3-8b 4 tp1``, ``eagle 3 tree 4x2``, ``mtp 1 acceptance 0.8``.

First who drafts (a draft model with its name), then how many tokens one after another (or ``best``), then in any order:

- ``tree 4x2``: four candidates for the first token, two below each for the second, one below all others;
- ``tp1``: chips that a draft model is split over;
- ``acceptance 0.8``: chance that the target agrees with the first drafted token, and with each further one that it
  comes to ``decay 0.9`` times the chance at the one before;
- ``curve FILE``: both from a CSV file with columns ``window`` and ``tokens_per_step``; it comes last.
"""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, final

from volvelle.domains import DEGREE, NumberDomain, check_fields, number
from volvelle.errors import DescriptionError, UnknownNameError, brief
from volvelle.input_limits import read_text
from volvelle.quantities import plain_number
from volvelle.workload.serving.drafting import ACCEPTANCE, CURVE_TOKENS, DECAY, WINDOW, Drafting, DraftMethod, Windows

_FORMS = "'eagle 3', 'mtp 1', 'parallel 5', 'ngram 4', 'draft llama3-8b 4 tp1', 'eagle 3 tree 4x2' or 'eagle best'"
_TENSOR = re.compile(r"tp(\d+)$", re.IGNORECASE)
_TREE = re.compile(r"\d+([x×]\d+)*$", re.IGNORECASE)
_SPELT = {"n-gram": "ngram", "eagle3": "eagle", "eagle-3": "eagle", "p-eagle": "parallel"}
_LARGEST = 2**20
"""Bytes of a curve's file."""


# -- values ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drafter(ABC):
    """A way to draft tokens that the served model verifies: `Eagle`, `Mtp`, `Parallel`, `Ngram` or `Draft`."""

    _: KW_ONLY
    acceptance: float | None = number(ACCEPTANCE, None)
    """Chance that the target agrees with the first drafted token."""
    decay: float | None = number(DECAY, None)
    """Share of that chance that is left at each further token."""
    curve: Path | str | None = None
    """CSV file of measured tokens per step by window."""

    def __post_init__(self) -> None:
        check_fields(self, "speculation")
        if self.curve is not None:
            object.__setattr__(self, "curve", Path(self.curve))
            if str(self.curve) != str(self.curve).strip():
                raise DescriptionError(f"speculation: the curve {str(self.curve)!r} begins or ends with a blank")
            if self.acceptance is not None or self.decay is not None:
                raise DescriptionError("speculation: a curve has its own acceptance and decay; leave them away")
        self._stated()

    def __str__(self) -> str:
        stated = self._stated()
        words = [stated.drafter.value]
        words += [stated.model] if stated.model else []
        words.append("best" if stated.window is None else f"{stated.window}")
        words += [] if stated.tensor is None else [f"tp{stated.tensor}"]
        words += ["tree", "x".join(map(str, stated.branching))] if stated.branching else []
        words += [] if self.acceptance is None else ["acceptance", plain_number(self.acceptance)]
        words += [] if self.decay is None else ["decay", plain_number(self.decay)]
        words += [] if self.curve is None else ["curve", str(self.curve)]
        return " ".join(words)

    @abstractmethod
    def _stated(self) -> Drafting:
        """Return all of it but the curve."""

    def drafting(self) -> Drafting:
        """Return how tokens are drafted; the file of a curve is read."""
        if self.curve is None:
            return self._stated()
        return replace(self._stated(), curve=_curve(Path(self.curve)), curve_name=str(self.curve))


@final
@dataclass(frozen=True, slots=True)
class Eagle(Drafter):
    """EAGLE: a head of one layer drafts from what the target made of its last tokens.

    Parameters
    ----------
    window
        Tokens that are drafted one after another, or levels of a tree, from 0 to 64. None: the best window is looked
        for.
    tree
        Candidates below each token of the first levels of a tree, ``(4, 2)``; one below all others. Empty: a sequence.
    acceptance
        Chance from 0 to 1 that the target agrees with the first drafted token. None: from published curves of such
        drafters.
    decay
        Share of that chance that is left at each further token. None: likewise.
    curve
        CSV file with columns ``window`` and ``tokens_per_step``, instead of `acceptance` and `decay`.

    Examples
    --------
    >>> from volvelle import Eagle
    >>> str(Eagle(3, tree=(4, 2), acceptance=0.8, decay=0.9))
    'eagle 3 tree 4x2 acceptance 0.8 decay 0.9'
    >>> str(Eagle())
    'eagle best'
    """

    window: int | None = number(WINDOW, None)
    _: KW_ONLY
    tree: tuple[int, ...] = ()

    def _stated(self) -> Drafting:
        return Drafting(
            drafter=DraftMethod.EAGLE,
            window=self.window,
            branching=self.tree,
            first=self.acceptance,
            decay=self.decay,
        )


@final
@dataclass(frozen=True, slots=True)
class Mtp(Drafter):
    """Multi-token prediction: layers that were trained with the target, like those of DeepSeek-V3, draft.

    Parameters
    ----------
    window
        Tokens that are drafted one after another, or levels of a tree, from 0 to 64. None: the best window is looked
        for.
    tree
        Candidates below each token of the first levels of a tree, ``(4, 2)``; one below all others. Empty: a sequence.
    acceptance
        Chance from 0 to 1 that the target agrees with the first drafted token. None: from published curves of such
        drafters.
    decay
        Share of that chance that is left at each further token. None: likewise.
    curve
        CSV file with columns ``window`` and ``tokens_per_step``, instead of `acceptance` and `decay`.

    Examples
    --------
    >>> from volvelle import Mtp
    >>> str(Mtp(1, acceptance=0.85))
    'mtp 1 acceptance 0.85'
    """

    window: int | None = number(WINDOW, None)
    _: KW_ONLY
    tree: tuple[int, ...] = ()

    def _stated(self) -> Drafting:
        return Drafting(
            drafter=DraftMethod.MTP,
            window=self.window,
            branching=self.tree,
            first=self.acceptance,
            decay=self.decay,
        )


@final
@dataclass(frozen=True, slots=True)
class Parallel(Drafter):
    """A head that drafts all tokens in one pass, like P-EAGLE and DSpark.

    Parameters
    ----------
    window
        Tokens that are drafted, from 0 to 64. None: the best window is looked for.
    acceptance
        Chance from 0 to 1 that the target agrees with the first drafted token. None: from published curves of such
        drafters.
    decay
        Share of that chance that is left at each further token. None: likewise.
    curve
        CSV file with columns ``window`` and ``tokens_per_step``, instead of `acceptance` and `decay`.

    Examples
    --------
    >>> from volvelle import Parallel
    >>> str(Parallel(5))
    'parallel 5'
    """

    window: int | None = number(WINDOW, None)

    def _stated(self) -> Drafting:
        return Drafting(drafter=DraftMethod.PARALLEL, window=self.window, first=self.acceptance, decay=self.decay)


@final
@dataclass(frozen=True, slots=True)
class Ngram(Drafter):
    """N-gram drafts: the tokens that followed the same few tokens before, in the prompt or the answer.

    Parameters
    ----------
    window
        Tokens that are drafted, from 0 to 64. None: the best window is looked for.
    acceptance
        Chance from 0 to 1 that the target agrees with the first drafted token. None: from published curves of such
        drafters.
    decay
        Share of that chance that is left at each further token. None: likewise.
    curve
        CSV file with columns ``window`` and ``tokens_per_step``, instead of `acceptance` and `decay`.

    Examples
    --------
    >>> from volvelle import Ngram
    >>> str(Ngram(4))
    'ngram 4'
    """

    window: int | None = number(WINDOW, None)

    def _stated(self) -> Drafting:
        return Drafting(drafter=DraftMethod.NGRAM, window=self.window, first=self.acceptance, decay=self.decay)


@final
@dataclass(frozen=True, slots=True)
class Draft(Drafter):
    """A draft model: a small model of the same family, with weights and a KV cache of its own.

    Parameters
    ----------
    model
        Name of the draft model in the catalogue, or path of its ``config.json``.
    window
        Tokens that are drafted one after another, or levels of a tree, from 0 to 64. None: the best window is looked
        for.
    tp
        GPUs that the draft model is split over. None: as many as the target.
    tree
        Candidates below each token of the first levels of a tree, ``(4, 2)``; one below all others. Empty: a sequence.
    acceptance
        Chance from 0 to 1 that the target agrees with the first drafted token. None: from published curves of such
        drafters.
    decay
        Share of that chance that is left at each further token. None: likewise.
    curve
        CSV file with columns ``window`` and ``tokens_per_step``, instead of `acceptance` and `decay`.

    Examples
    --------
    >>> from volvelle import Draft
    >>> str(Draft("llama3-8b", 4, tp=1))
    'draft llama3-8b 4 tp1'
    """

    model: str
    window: int | None = number(WINDOW, None)
    _: KW_ONLY
    tp: int | None = number(DEGREE, None)
    tree: tuple[int, ...] = ()

    def _stated(self) -> Drafting:
        if self.model.split() != [self.model]:
            raise DescriptionError(
                f"speculation: the draft model is {brief(self.model)}; give a name or a path without blanks"
            )
        return Drafting(
            drafter=DraftMethod.MODEL,
            model=self.model,
            window=self.window,
            tensor=self.tp,
            branching=self.tree,
            first=self.acceptance,
            decay=self.decay,
        )


# -- words -------------------------------------------------------------------------------------------------------------


def read_speculation(speculate: Drafter | str) -> Drafting:
    """Return how tokens are drafted; the file of a curve is read."""
    return (speculation_value(speculate) if isinstance(speculate, str) else speculate).drafting()


def speculation_value(text: str) -> Drafter:
    """Return the way to draft that a text describes; the inverse of ``str``."""
    words = text.split()
    if not words:
        raise DescriptionError(f"the speculation is empty; write {_FORMS}")
    drafter = _drafter(words[0])
    place = 1
    model = ""
    if drafter is DraftMethod.MODEL:
        if len(words) == place:
            raise _unread(text, "which model drafts is not said")
        model = words[place]
        place += 1
    if len(words) == place:
        raise _unread(text, "how many tokens are drafted is not said")
    window = None if words[place].lower() == "best" else _whole(words[place], text)
    said = _options(text, words, place + 1)
    # Looked at with all that was said, so that what a drafter does not have is refused by name.
    Drafting(
        drafter=drafter,
        window=window,
        model=model,
        tensor=said.get("tp"),
        branching=said.get("tree", ()),
        first=said.get("acceptance"),
        decay=said.get("decay"),
    )
    return Draft(model, window, **said) if drafter is DraftMethod.MODEL else _OF_DRAFTER[drafter](window, **said)


_OF_DRAFTER: dict[DraftMethod, Callable[..., Drafter]] = {
    DraftMethod.EAGLE: Eagle,
    DraftMethod.MTP: Mtp,
    DraftMethod.PARALLEL: Parallel,
    DraftMethod.NGRAM: Ngram,
}


def _options(text: str, words: Sequence[str], place: int) -> dict[str, Any]:
    """Return what the words from a place on say, by the names of arguments."""
    said: dict[str, Any] = {}
    while place < len(words):
        name = words[place].lower()
        if found := _TENSOR.match(name):
            _once(said, "tp", int(found[1]), text)
            place += 1
            continue
        if name not in ("tree", "acceptance", "decay", "curve"):
            raise _unread(text, f"{brief(words[place])} is none of tree, tp…, acceptance, decay and curve")
        if place + 1 == len(words):
            raise _unread(text, f"nothing follows {name}")
        value = words[place + 1]
        if name == "tree":
            _once(said, "tree", _branching(value, text), text)
        elif name == "curve":
            # The name of a file may have blanks: it is all that is left.
            said["curve"] = text.strip().split(maxsplit=place + 1)[place + 1]
            break
        else:
            _once(said, name, _number(value, name, ACCEPTANCE if name == "acceptance" else DECAY, text), text)
        place += 2
    if "curve" in said and {"acceptance", "decay"} & set(said):
        raise _unread(text, "a curve has its own acceptance and decay")
    return said


def _unread(text: str, why: str) -> DescriptionError:
    return DescriptionError(f"the speculation {brief(text)}: {why}; write {_FORMS}")


def _once(said: dict[str, object], name: str, value: object, text: str) -> None:
    if name in said:
        raise _unread(text, f"{name} is said twice")
    said[name] = value


def _drafter(word: str) -> DraftMethod:
    plain = _SPELT.get(word.lower(), word.lower())
    if plain not in [drafter.value for drafter in DraftMethod]:
        raise UnknownNameError.among("drafter", word, [drafter.value for drafter in DraftMethod])
    return DraftMethod(plain)


def _whole(word: str, text: str) -> int:
    if not word.isdecimal():
        raise _unread(text, f"{brief(word)} is no number of drafted tokens, nor 'best'")
    WINDOW.check(int(word), f"the speculation {brief(text)}: drafted tokens")
    return int(word)


def _number(word: str, name: str, domain: NumberDomain, text: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise _unread(text, f"{brief(word)} is no {name}") from None
    domain.check(value, f"the speculation {brief(text)}: {name}")
    return value


def _branching(word: str, text: str) -> tuple[int, ...]:
    if not _TREE.match(word):
        raise _unread(text, f"{brief(word)} is no tree like 4x2")
    return tuple(int(branches) for branches in re.split("[x×]", word.lower()))


def _curve(file: Path) -> Windows:
    """Windows of a file, and tokens that a step yielded with each."""
    try:
        lines = read_text(file, most=_LARGEST).splitlines()
    except FileNotFoundError:
        raise DescriptionError(f"there is no curve {str(file)!r}; give a CSV file") from None
    table = csv.DictReader(lines)
    missing = [name for name in ("window", "tokens_per_step") if name not in (table.fieldnames or ())]
    if missing:
        raise DescriptionError(
            f"the curve {str(file)!r} has no column {missing[0]!r}; it needs window, tokens_per_step"
        )
    found: list[tuple[int, float]] = []
    for line, row in enumerate(table, 2):
        where = f"{str(file)!r}, line {line}"
        try:
            window, tokens = int(row["window"]), float(row["tokens_per_step"])
        except (TypeError, ValueError):
            raise DescriptionError(f"{where}: a window and tokens of a step are numbers, like 3,2.7") from None
        WINDOW.check(window, f"{where}: window")
        CURVE_TOKENS.check(tokens, f"{where}: tokens_per_step")
        if not window >= 1 or tokens > window + 1:
            raise DescriptionError(
                f"{where}: {tokens:g} tokens of a step with {window} drafted; there are 1 to {window + 1}, the one "
                "that the target adds included"
            )
        found.append((window, tokens))
    if not found:
        raise DescriptionError(f"the curve {str(file)!r} has no rows; give at least one window")
    return tuple(sorted(found))
