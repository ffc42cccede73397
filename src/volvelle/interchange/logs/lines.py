"""Lines of a log as a tool printed them: without colours and what launchers put before them, numbers read strictly."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite

_COLOUR = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]")
_PREFIXES = (
    re.compile(r"^\[(?P<stream>\d+),(?P<rank>\d+)\]<std\w+>:\s?"),  # mpirun --tag-output
    re.compile(r"^\[(?:rank|default|local_rank)\s?(?P<rank>\d+)\]:?\s?"),  # torchrun, SLURM steps
    re.compile(r"^\s?(?P<rank>\d{1,6}): "),  # srun --label
    re.compile(r"^\w[\w./-]*\s+\| \[(?P<rank>\d+)\] "),  # ray, docker compose
    re.compile(r"^\w[\w-]*/\d+ "),  # torchx roles
    re.compile(r"^\[\d{4}-\d\d-\d\dT[\d:.+-]+\] "),  # collectors of logs
    re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z "),
    re.compile(r"^>+ ?"),  # quoted
)
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$")
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$")
MOST_LINES = 5_000_000
"""Of one log."""


class RefusedError(ValueError):
    """Why a line is not taken."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line."""

    number: int
    text: str
    rank: int | None = None
    """Of the process that printed it, where a launcher said so."""
    ended: bool = True
    """Whether the line has an end: the last one of a file that was cut has none."""


def lines_of(text: str) -> Iterator[Line]:
    """Lines of a text, numbered from 1, bare."""
    # A progress bar is rewritten with carriage returns: what was printed after the last one is the line.
    pieces = text.replace("\r\n", "\n").split("\n")
    for number, piece in enumerate(pieces[:-1] if pieces[-1] == "" else pieces, start=1):
        bare, rank = _bare(_COLOUR.sub("", piece).rpartition("\r")[2])
        yield Line(number, bare, rank, ended=number < len(pieces))


def _bare(text: str) -> tuple[str, int | None]:
    rank = None
    for _ in range(len(_PREFIXES)):
        for prefix in _PREFIXES:
            found = prefix.match(text)
            if found is not None:
                text = text[found.end() :]
                said = found.groupdict().get("rank")
                rank = int(said) if rank is None and said is not None else rank
                break
        else:
            break
    return text, rank


def number(text: str, what: str, *, above: float = 0.0, grouped: bool = False) -> float:
    """A finite number above a bound, its thousands `grouped` with commas where the tool does so.

    Where it does not, 2,008 may be 2.008 of another locale, so that it is refused.
    """
    bare = text.strip()
    if grouped and _GROUPED.match(bare):
        bare = bare.replace(",", "")
    elif not _PLAIN.match(bare):
        why = "a decimal comma, or a number that was cut" if "," in bare else "no number"
        raise RefusedError(f"{what} is {text.strip()[:40]!r}: {why}")
    found = float(bare)
    if not isfinite(found):
        raise RefusedError(f"{what} is {text.strip()[:40]!r}: not finite")
    if found <= above:
        raise RefusedError(f"{what} is {text.strip()[:40]}, and must be above {above:g}")
    return found


def count(text: str, what: str) -> int:
    """A whole number above zero."""
    found = number(text, what)
    if found != int(found):
        raise RefusedError(f"{what} is {text.strip()[:40]}, and must be a whole number")
    return int(found)


def printed_flop_rate(text: str) -> float | None:
    """Return FLOP per second from TFLOP/s as printed; None: there is no positive number. A second number is a mean."""
    first = text.partition("/")[0].strip().replace(",", "").removesuffix("TFLOPS")
    try:
        value = float(first)
    except ValueError:
        return None
    return 1e12 * value if 0.0 < value < inf else None


def once(text: str, key: str) -> None:
    """Refuse a line in which a key stands twice: two processes wrote into one line."""
    if text.count(key) > 1:
        raise RefusedError(f"{key.strip()!r} stands in it {text.count(key)} times: lines of several processes in one")
