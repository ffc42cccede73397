"""Reads a log, whichever tool wrote it: the form is recognised by what the file holds, never by its name."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from volvelle.errors import DescriptionError
from volvelle.input_limits import other_reader, read_bytes
from volvelle.interchange.logs import (
    deepspeed,
    gemm,
    hf_trainer,
    hpcg,
    hpl,
    megatron,
    mlperf,
    nccl_files,
    nccl_tests,
    nemo,
    torchtitan,
)
from volvelle.interchange.logs.lines import MOST_LINES, Line, lines_of
from volvelle.interchange.logs.logged import Log, Refused

_LARGEST = 2**30
_SHAPES = (
    "nccl-tests or rccl-tests (text, CSV, JSON), Megatron-LM, torchtitan, NeMo 2, DeepSpeed, Hugging Face's Trainer, "
    "MLPerf, HPL, HPCG, rocblas-bench, or a table with m,n,k,element,seconds"
)
_Read = Callable[[str, Sequence[Line]], tuple[tuple[Any, ...], list[Refused]]]
_FORMS: tuple[tuple[str, str, Callable[[str], bool], _Read], ...] = (
    ("mlperf", "runs", mlperf.is_event, mlperf.read_mlperf),
    ("megatron", "runs", megatron.is_step, megatron.read_megatron),
    ("nemo", "runs", nemo.is_step, nemo.read_nemo),
    ("torchtitan", "runs", torchtitan.is_step, torchtitan.read_torchtitan),
    ("deepspeed", "runs", deepspeed.is_step, deepspeed.read_deepspeed),
    ("deepspeed-profiler", "runs", deepspeed.is_summary, deepspeed.read_profiler),
    ("hf-trainer", "runs", hf_trainer.is_result, hf_trainer.read_trainer),
    ("nccl-tests", "collectives", nccl_tests.is_row, lambda file, lines: nccl_tests.read_nccl_tests(lines)),
    ("nccl-csv", "collectives", nccl_files.is_csv_header, lambda file, lines: nccl_files.read_nccl_csv(lines)),
    ("nccl-json", "collectives", nccl_files.is_json_row, lambda file, lines: nccl_files.read_nccl_json_rows(lines)),
    ("hpl", "linpack", hpl.is_run, lambda file, lines: hpl.read_hpl(lines)),
    ("hpcg", "gradients", hpcg.is_verdict, lambda file, lines: hpcg.read_hpcg(lines)),
    ("gemm", "gemms", gemm.is_header, lambda file, lines: gemm.read_gemms(lines)),
)
"""Tool, what its log holds, what its lines look like, what reads them. Where several fit, most lines decide."""


def read_log(file: Path) -> Log:
    """All that a file says."""
    try:
        held = read_bytes(file, most=_LARGEST)
    except FileNotFoundError:
        raise DescriptionError(f"{str(file)!r} does not exist; give a log of {_SHAPES}") from None
    other = other_reader(str(file), held[:64])
    if other:
        raise DescriptionError(f"{str(file)!r} is no log: {other}")
    if b"\0" in held:
        place = held[: held.index(b"\0")].count(b"\n") + 1
        raise DescriptionError(f"{file.name}, line {place}: binary, not text; give a log of {_SHAPES}")
    return log_of(held.decode("utf-8", "replace").removeprefix("\ufeff"), file.name, sha256(held).hexdigest())


def log_of(text: str, name: str, digest: str = "") -> Log:
    """All that a text says; `name` is for messages."""
    if text.count("\n") > MOST_LINES:
        raise DescriptionError(f"{name}, line {MOST_LINES}: a log of more lines than that is not read; cut its middle")
    lines = tuple(lines_of(text))
    if next((line.text.lstrip() for line in lines if line.text.strip()), "")[:1] in ("{", "["):
        whole = _json("\n".join(line.text for line in lines), name, digest)
        if whole is not None:
            return whole
    counted = [sum(looks(line.text) for line in lines) for _, _, looks, _ in _FORMS]
    if not any(counted):
        where = f"line {len(lines)}" if lines else "line 1"
        raise DescriptionError(f"{name}, {where}: no line up to it is of a tool that is known; give a log of {_SHAPES}")
    tool, kind, _, read = _FORMS[
        max(range(len(_FORMS)), key=lambda place: (counted[place] > 0, _weight(counted, place)))
    ]
    found, refused = read(name, lines)
    also = [f"lines of {_FORMS[place][0]} too, not read" for place, lines_of_it in enumerate(counted) if lines_of_it]
    warnings = tuple(words for words in also if not words.startswith(f"lines of {tool} "))
    return Log(
        file=name,
        tool=tool,
        digest=digest,
        refused=tuple(sorted(refused, key=lambda one: one.line)),
        warnings=warnings,
        lines=len(lines),
        **{kind: tuple(found)},
    )


def _weight(counted: Sequence[int], place: int) -> float:
    """Lines of a form; DeepSpeed's own timer gives way to Megatron's line, which says the batch too."""
    return counted[place] * (0.5 if _FORMS[place][0] in ("deepspeed", "hf-trainer", "deepspeed-profiler") else 1.0)


def _json(text: str, name: str, digest: str) -> Log | None:
    """A file of JSON as a whole; None: it is none."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith(('{"version"', '[{"')):
            line = getattr(error, "lineno", 1)
            raise DescriptionError(f"{name}, line {line}: cut, or no JSON ({error}); copy it again") from None
        return None
    if nccl_files.is_json(whole):
        collectives, refused = nccl_files.read_nccl_json(text)
        return Log(file=name, tool="nccl-json", digest=digest, collectives=collectives, refused=tuple(refused), lines=1)
    if isinstance(whole, dict) and "train_runtime" in whole:
        runs, refused = hf_trainer.read_results_file(name, text)
        return Log(file=name, tool="hf-trainer", digest=digest, runs=runs, refused=tuple(refused), lines=1)
    return None
