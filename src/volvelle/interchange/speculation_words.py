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
from pathlib import Path

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError, UnknownNameError, brief
from volvelle.input_limits import read_text
from volvelle.workload.serving.drafting import ACCEPTANCE, CURVE_TOKENS, DECAY, WINDOW, Drafter, Drafting, Windows

_FORMS = "'eagle 3', 'mtp 1', 'parallel 5', 'ngram 4', 'draft llama3-8b 4 tp1', 'eagle 3 tree 4x2' or 'eagle best'"
_TENSOR = re.compile(r"tp(\d+)$", re.IGNORECASE)
_TREE = re.compile(r"\d+([x×]\d+)*$", re.IGNORECASE)
_SPELT = {"n-gram": "ngram", "eagle3": "eagle", "eagle-3": "eagle", "p-eagle": "parallel"}
_LARGEST = 2**20
"""Bytes of a curve's file."""


def read_speculation(text: str) -> Drafting:
    """The way to draft that a text describes."""
    words = text.split()
    if not words:
        raise DescriptionError(f"the speculation is empty; write {_FORMS}")
    drafter = _drafter(words.pop(0))
    model = ""
    if drafter is Drafter.MODEL:
        if not words:
            raise _unread(text, "which model drafts is not said")
        model = words.pop(0)
    if not words:
        raise _unread(text, "how many tokens are drafted is not said")
    said: dict[str, object] = {}
    window = None if words[0].lower() == "best" else _whole(words[0], text)
    place = 1
    while place < len(words):
        name = words[place].lower()
        if found := _TENSOR.match(name):
            _once(said, "tensor", int(found[1]), text)
            place += 1
            continue
        if name not in ("tree", "acceptance", "decay", "curve"):
            raise _unread(text, f"{brief(words[place])} is none of tree, tp…, acceptance, decay and curve")
        if place + 1 == len(words):
            raise _unread(text, f"nothing follows {name}")
        value = words[place + 1]
        if name == "tree":
            _once(said, "branching", _branching(value, text), text)
        elif name == "curve":
            file = text.split(words[place], 1)[1].strip()
            _once(said, "curve", _curve(Path(file)), text)
            said["curve_name"] = file
            break
        else:
            field, domain = ("first", ACCEPTANCE) if name == "acceptance" else ("decay", DECAY)
            _once(said, field, _number(value, name, domain, text), text)
        place += 2
    if "curve" in said and {"first", "decay"} & set(said):
        raise _unread(text, "a curve has its own acceptance and decay")
    return Drafting(drafter=drafter, window=window, model=model, **said)  # type: ignore[arg-type]


def _unread(text: str, why: str) -> DescriptionError:
    return DescriptionError(f"the speculation {brief(text)}: {why}; write {_FORMS}")


def _once(said: dict[str, object], name: str, value: object, text: str) -> None:
    if name in said:
        raise _unread(text, f"{name} is said twice")
    said[name] = value


def _drafter(word: str) -> Drafter:
    plain = _SPELT.get(word.lower(), word.lower())
    if plain not in [drafter.value for drafter in Drafter]:
        raise UnknownNameError.among("drafter", word, [drafter.value for drafter in Drafter])
    return Drafter(plain)


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
