"""What can go wrong, as one tree.

    VolvelleError
    ├── DescriptionError        something we were given does not make sense
    │   ├── UnitError           text that is not a quantity of the kind asked for
    │   ├── UnknownNameError    a name that is in no catalogue, graph or table
    │   ├── SourceError         a number without a source, or a source nobody knows
    │   ├── GraphError          a workload graph that does not hold together
    │   └── MappingError        a mapping that contradicts its workload or its system
    ├── OutsideDomainError      a model asked for something it does not describe
    ├── MissingFigureError      a figure that an answer does not have, with the reason
    ├── ResultsError            a folder of results that is damaged, full, or of another study
    └── MissingExtraError       an optional engine is not installed

Every message names the thing, shows what was found and says what to do; what it quotes is cut (:func:`brief`).
*Infeasible* is not an error: a mapping that does not fit is an answer, with violations and cures
(:class:`volvelle.Violation`).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from reprlib import Repr

_NOW = {
    "Mapping": "ParallelMapping",
    "attention_half": "attention_kv_half",
    "budget": "tokens",
    "depth_half": "gemm_k_half",
    "dispatch": "host_dispatch_time",
    "launch": "kernel_launch_time",
    "lent": "communication_sm_share",
    "relay_tokens": "hierarchical_dispatch",
    "shard": "zero_group",
    "swap_heads": "ulysses",
    "watts": "power",
    "whole_experts": "expert_tensor_parallel",
}
"""What has another name now: fields, options and names of the package."""
_REMOVED = {
    "estimate --trace-format goal": "use chakra, which holds the same kernels, transfers and dependencies",
    "estimate --trace-format smpi": "to compare with SimGrid, use `volvelle crosscheck MODEL --with closed,simgrid`",
    "job --age": "state today's failure rate of your accelerators in a file, and name it by --hazard",
    "job --wear": "state today's failure rate of your accelerators in a file, and name it by --hazard",
}
"""Options, or choices of an option, that a command had; and what to use instead."""


def renamed(name: str, known: Iterable[str]) -> list[str]:
    """What a former name is called now, among known names: ``mapping.shard`` is ``mapping.zero_group``.

    Options are known by their words, for and against: ``--shard`` is ``--zero-group``.
    """

    def word(written: str) -> str:
        return written.rpartition(".")[2].lstrip("-").replace("-", "_").removeprefix("no_")

    return [candidate for candidate in known if word(candidate) == _NOW.get(word(name))]


def removed(command: str, option: str, choice: str = "") -> str:
    """Return a sentence on an option that was removed, or on a choice of it; empty if there never was one.

    >>> removed("estimate", "--trace-format", "goal")
    '--trace-format goal was removed: use chakra, which holds the same kernels, transfers and dependencies'
    """
    words = f"{option} {choice}".rstrip()
    instead = _REMOVED.get(f"{command} {words}", "")
    return instead and f"{words} was removed: {instead}"


def plainly(name: str) -> str:
    """A name without case and punctuation: ``DGX-H100`` and ``dgx_h100`` are one.

    >>> plainly("Llama 3 70B")
    'llama370b'
    """
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that are most like one, whatever its case and punctuation."""
    plain = plainly(name[:100])
    names = {plainly(candidate): candidate for candidate in sorted(known, reverse=True)}
    holding = sorted((other for other in names if len(plain) > 1 and plain in other), key=len)
    return [names[other] for other in (holding or get_close_matches(plain, list(names), n=3, cutoff=0.5))[:3]]


_LISTED = 24
"""Names that a message lists where none is near; of more it says how many there are."""
_LONGEST = 4000
"""Characters of a message at the most."""
_BRIEF = Repr()
_BRIEF.maxlevel, _BRIEF.maxdict, _BRIEF.maxlist, _BRIEF.maxtuple = 2, 3, 4, 4
_BRIEF.maxstring = _BRIEF.maxother = 100


def brief(found: object) -> str:
    """What was found, as a message quotes it: however large or nested it is, in a few words."""
    if isinstance(found, int) and abs(found) >= 10**40:
        return f"a whole number of {found.bit_length()} bits"
    return _BRIEF.repr(found)


class VolvelleError(Exception):
    """Anything this package raises on purpose."""

    def __str__(self) -> str:
        said = super().__str__()
        return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 200]} … {said[-190:]}"


class DescriptionError(VolvelleError):
    """Something we were given does not make sense."""


class UnitError(DescriptionError):
    """Text that is not a quantity of the kind asked for."""


class UnknownNameError(DescriptionError):
    """A name that is in no catalogue, graph or table."""

    @classmethod
    def among(cls, kind: str, name: str, known: Iterable[str], *, listed_by: str = "") -> "UnknownNameError":
        """Say which names there are, nearest first; where they are many, by which command they are listed."""
        names = sorted(known)
        near = renamed(name, names) or nearest_names(name, names)
        if near:
            return cls(f"there is no {kind} {brief(name)}; did you mean {' or '.join(map(repr, near))}?")
        if listed_by and len(names) > _LISTED:
            return cls(f"there is no {kind} {brief(name)}; {listed_by} lists all {len(names)}")
        return cls(f"there is no {kind} {brief(name)}; there are: {', '.join(names) or 'none'}")


class SourceError(DescriptionError):
    """A number without a source, or a source nobody knows."""


class GraphError(DescriptionError):
    """A workload graph that does not hold together."""


class MappingError(DescriptionError):
    """A mapping that contradicts its workload or its system."""


class OutsideDomainError(VolvelleError):
    """A model asked for something it does not describe."""


class MissingFigureError(VolvelleError):
    """A figure that an answer does not have: nothing runs, or a price is unknown."""


class ResultsError(VolvelleError):
    """A folder of results that is damaged, full, unfinished, or of another study."""


class MissingExtraError(VolvelleError):
    """An optional engine is not installed."""


def install_line(extra: str) -> str:
    """What to run to add an optional engine to this very installation, from the clone or the wheel it came of."""
    import json  # noqa: PLC0415 - only where something is missing
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415

    try:
        origin = distribution("volvelle").read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    came_of = f" @ {json.loads(origin)['url']}" if origin else ""
    return f"pip install 'volvelle[{extra}]{came_of}'"


@contextmanager
def needs_extra(extra: str, why: str) -> Iterator[None]:
    """Imports of an optional engine, and `why` there are any: said where they fail, with what to install."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(f"{why}, which is not installed; run {install_line(extra)}") from None
