"""Words that the Tab key offers in a shell, without loading what answers questions."""

from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from itertools import pairwise
from pathlib import Path

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from volvelle.cli.commands import VERBS

_COUNTS = tuple(2**power for power in range(3, 15))
"""Accelerators that are offered after the slash."""
_ELEMENTS = ("bf16", "fp16", "fp8", "fp4", "tf32", "fp32", "fp64", "int8")
_OF_A_MODEL = ("estimate", "plan", "map", "compare", "scale", "serve", "fleet")
_ENGINES = ("vllm", "sglang", "trtllm")
_WEIGHTS = ("bf16", "fp16", "fp8", "fp8-block", "nvfp4", "mxfp4", "int8", "int4")
BENCHMARKS = ("dlrm", "fft", "hpcg", "hpl", "hpl-mxp", "stencil")
_ROOMS = ("chips", "calibrations", "links", "clusters", "models", "reliability", "stacks")


class _Quickly(ShellComplete):
    """Names of the catalogue at once; commands and options as click knows them."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """What may stand in place of the word that is being typed."""
        offered = offers(args, "" if incomplete == "=" else incomplete)
        return super().get_completions(args, incomplete) if offered is None else offered


class _Bash(_Quickly, BashComplete):
    pass


class _Zsh(_Quickly, ZshComplete):
    pass


class _Fish(_Quickly, FishComplete):
    pass


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def answer_shells() -> None:
    """Let shells ask here."""
    for name, kind in SHELLS.items():
        add_completion_class(kind, name)


def offers(words: Sequence[str], begun: str) -> list[CompletionItem] | None:
    """Names that may follow some words of a command; None: click knows better."""
    before = [word for word in words if word != "="]
    if begun.startswith("-"):
        return None
    if not before:
        return [CompletionItem(verb, help=says) for verb, says in VERBS.items() if verb.startswith(begun)]
    folders = [Path(word) for option, word in pairwise(before) if option == "--catalogue"]
    named: dict[str, Callable[[], Iterable[str]]] = {
        "--on": lambda: _systems(begun, folders),
        "--stack": _stacks,
        "--element": lambda: _ELEMENTS,
        "--engine": lambda: _ENGINES,
        "--weights": lambda: _WEIGHTS,
        "--kv": lambda: ("bf16", "fp8"),
    }
    last = before[-1]
    if last in named:
        return _beginning(begun, named[last]())
    verb = before[0]
    if verb in _OF_A_MODEL and (len(before) == 1 or (verb == "compare" and not last.startswith("-"))):
        models = (*_names("models", folders), *(BENCHMARKS if verb == "plan" else ()))
        return _beginning(begun, models) or [CompletionItem(begun, type="file")]
    if verb == "schema":
        return [CompletionItem(name) for name in VERBS if name.startswith(begun)] if len(before) == 1 else None
    if verb in ("catalogue", "catalog"):
        room = next((word for word in before[1:] if word in _ROOMS), None)
        return _beginning(begun, _entries(room, folders) if room else (*_ROOMS, *_entries(None, folders)))
    return None


def _beginning(begun: str, names: Iterable[str]) -> list[CompletionItem]:
    """Those that begin as the word does, whatever its case."""
    return [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(begun.lower())]


def _systems(begun: str, folders: Sequence[Path]) -> Iterable[str]:
    """Clusters, and counts once a slash is typed."""
    cluster, slash, _ = begun.partition("/")
    return [f"{cluster.lower()}/{count}" for count in _COUNTS] if slash else _names("clusters", folders)


def _entries(room: str | None, folders: Sequence[Path]) -> Iterable[str]:
    if room == "stacks":
        return _stacks()
    return _names(room, folders) if room else [name for every in _ROOMS for name in _entries(every, folders)]


def _names(room: str, folders: Sequence[Path]) -> list[str]:
    """Names of entries by their files, read by nobody."""
    data = resources.files("volvelle") / "catalogue" / "data"
    rooms = [folder / room for folder in (*folders, data)]
    return sorted(
        {entry.name[:-5] for place in rooms if place.is_dir() for entry in place.iterdir() if ".yaml" in entry.name}
    )


def _stacks() -> list[str]:
    file = resources.files("volvelle") / "catalogue" / "data" / "stacks.yaml"
    return [line.split(":")[0] for line in file.read_text("utf-8").splitlines() if line[:1].isalpha()]
