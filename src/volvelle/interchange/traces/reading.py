"""A trace from its file, by what the file holds: Chakra, Kineto, execution trace, torch.export, ONNX or phases."""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from volvelle.errors import DescriptionError
from volvelle.interchange.traces.chakra import looks_like_chakra, read_chakra
from volvelle.interchange.traces.chakra_folder import read_chakra_folder
from volvelle.interchange.traces.chakra_json import LONG, read_chakra_json
from volvelle.interchange.traces.execution_trace import read_execution_trace
from volvelle.interchange.traces.kineto import read_kineto
from volvelle.interchange.traces.onnx_graph import looks_like_onnx, read_onnx
from volvelle.interchange.traces.phases import read_phases
from volvelle.interchange.traces.torch_export import read_torch_export
from volvelle.interchange.traces.trace_file import read_whole, text_of
from volvelle.workload.trace.values import Trace

_ZIP: Final = b"PK"
_HEAD: Final = 2**20
FORMATS: Final = "Chakra (.et or JSON), Kineto, PyTorch's execution trace, torch.export (.pt2), ONNX or phases"


@contextmanager
def _many_values() -> Iterator[None]:
    """While millions of values are made that all stay, looking for those that could go doubles the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@_many_values()
def read_trace(file: Path, profile: Path | None = None, *, clock: float | None = None) -> Trace:
    """The trace of a file; an execution trace may have a Kineto `profile` of the same run, which has its times."""
    if file.is_dir() and profile is None:
        return read_chakra_folder(file)
    data = read_whole(file)
    if not _is_json(data):
        if profile is not None:
            raise DescriptionError(f"{str(file)!r} is no execution trace; only one of those is joined with a profile")
        return _binary(data, file)
    text = text_of(data, file)
    del data
    kind = _kind(text)
    if profile is not None:
        return _joined(text, kind, file, profile)
    if kind == "kineto":
        return read_kineto(text, file)
    if kind == "execution trace":
        return read_execution_trace(text, file).trace
    if kind == "chakra":
        return read_chakra_json(text, file)
    if kind == "phases":
        return read_phases(text, file, clock=clock)
    raise DescriptionError(
        f"{str(file)!r} is JSON with neither traceEvents, nodes nor {LONG}; give a trace in {FORMATS}"
    )


def _joined(text: str, kind: str, file: Path, profile: Path) -> Trace:
    """Times of a profile with sizes of an execution trace, given in either order."""
    other = text_of(read_whole(profile), profile)
    kinds = (kind, _kind(other))
    if kinds == ("kineto", "execution trace"):
        text, other, file, profile = other, text, profile, file
    elif kinds != ("execution trace", "kineto"):
        raise DescriptionError(
            f"{str(file)!r} and {str(profile)!r} are {kinds[0] or 'unknown'} and {kinds[1] or 'unknown'}; two files "
            "are an execution trace and the Kineto profile of the same run"
        )
    return read_kineto(other, profile, read_execution_trace(text, file).recorded)


def _is_json(data: bytes) -> bool:
    return data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def _binary(data: bytes, file: Path) -> Trace:
    if data.startswith(_ZIP):
        return read_torch_export(data, file)
    named_onnx = file.name.endswith(".onnx")
    if named_onnx or (not looks_like_chakra(data) and looks_like_onnx(data)):
        return read_onnx(data, file)
    if file.name.endswith(".et") or looks_like_chakra(data):
        return read_chakra(data, file)
    raise DescriptionError(f"{str(file)!r} begins with {data[:8]!r}, which no trace does; give one in {FORMATS}")


def _kind(text: str) -> str:
    """By the names of fields: those of the long lists decide, wherever they stand."""
    head = text[:_HEAD]
    if '"traceEvents"' in head or (len(text) > _HEAD and '"traceEvents"' in text):
        return "kineto"
    if f'"{LONG}"' in head:
        return "chakra"
    if '"nodes"' not in text:
        return ""
    return (
        "phases"
        if re.search(r'"(label|links)"\s*:', head) and not re.search(r'"schema"\s*:', head)
        else "execution trace"
    )
