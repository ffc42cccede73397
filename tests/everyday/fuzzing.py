"""Asks questions by chance, each in a worker that may be killed, and tells what nobody should ever see."""

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

from tests.everyday.asking import surroundings
from tests.everyday.judgement import absurdities
from tests.everyday.questions import about_serving, question

SECONDS = 10.0
"""Of computing that a question may take."""
PATIENCE = 40.0
"""Seconds after which a worker that does not answer is killed: the machine may be busy with other things."""
MEMORY = 2 * 2**30
"""Bytes that a worker may take."""
LONGEST = 8000
"""Characters of a refusal at the most."""


@dataclass(frozen=True)
class Finding:
    """Something that nobody should ever see."""

    seed: int
    kind: str
    """``traceback``, ``hang``, ``memory``, ``absurd`` or ``message``."""
    what: str
    arguments: tuple[str, ...]


class _TooLong(BaseException):
    """A question that takes longer than it may."""


def _ring(signum: int, frame: FrameType | None) -> None:
    raise _TooLong


def ask(seed: int) -> list[Finding]:
    """Ask the question of a seed in this process; gives what is wrong with the answer."""
    from volvelle.cli import run  # noqa: PLC0415 - loaded in the worker

    with tempfile.TemporaryDirectory(prefix="volvelle-fuzz-") as name:
        asked = question(seed, Path(name))
        given = "".join(file.read_text("utf-8", "replace") for file in Path(name).iterdir() if file.is_file())
        kind, status = "", -1
        with surroundings(Path(name), asked.environment, asked.encoding) as (out, err):
            signal.signal(signal.SIGPROF, _ring)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                status = run([word.replace("\0", "") for word in asked.arguments])
            except _TooLong:
                kind = "hang"
            except BaseException as error:
                kind = f"escaped: {type(error).__name__}: {error}"
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        said = err.getvalue().decode(asked.encoding, "replace")
        shown = out.getvalue().decode(asked.encoding, "replace")

    def finding(kind: str, what: str) -> Finding:
        return Finding(seed, kind, what[:300].replace(name, "FOLDER"), asked.arguments)

    if kind == "hang":
        return [finding("hang", f"more than {SECONDS:.0f} s")]
    if kind or status == 3:
        return [finding("traceback", kind or said.partition("defect: ")[2])]
    if status not in (0, 1, 2):
        return [finding("traceback", f"exit status {status}: {said}")]
    if "not enough memory" in said:
        return [finding("memory", said)]
    if len(said) > LONGEST:
        return [finding("message", f"{len(said)} characters: {said[:100]}")]
    if asked.environment.get("COLUMNS", "80") in ("1", "20", "40") and "--json" not in asked.arguments:
        return []  # words are cut anywhere: Narayanan ends in nan
    return [finding("absurd", what) for what in absurdities(asked.arguments, status, shown, given)]


def _worker(calls: Connection) -> None:
    """Answer seeds until there are no more."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # its own sets a gigabyte aside, used or not
    warnings.simplefilter("error", RuntimeWarning)
    from volvelle.catalogue import loader, prices  # noqa: PLC0415 - loaded in the worker

    # The package's own files are read once for all questions.
    kept: Any = lru_cache(1024)(loader.parsed)
    for module in (loader, prices):
        module.parsed = kept  # type: ignore[attr-defined]
    parent = os.getppid()
    while os.getppid() == parent:  # a worker does not outlive whoever asks
        if calls.poll(5.0):
            calls.send(ask(calls.recv()))


_SHIFT = 200
"""Questions that a worker answers before another takes its place, so that its memory is that of a few of them."""


@dataclass
class _Desk:
    """A worker, and what it works on."""

    seed: int | None = None
    since: float = 0.0
    answered: int = 0

    def __post_init__(self) -> None:
        # Whoever asks may have drawn pictures: the threads that draw do not come along in a fork.
        context = multiprocessing.get_context("forkserver")
        self.calls, theirs = context.Pipe()
        self.process = context.Process(target=_worker, args=(theirs,))  # a study has workers of its own
        self.process.start()
        theirs.close()

    def give(self, seed: int) -> None:
        self.seed, self.since = seed, time.monotonic()
        self.calls.send(seed)


def _compile() -> None:
    """Have what follows loads compiled, once for an installation: no question is blamed for the compiler's time."""
    from volvelle.simulation.batching.machine import (  # noqa: PLC0415 - loaded in a process of its own
        run_in_flight,
        run_prefill_first,
    )
    from volvelle.simulation.compiler import ready  # noqa: PLC0415 - loaded in a process of its own

    if ready(run_in_flight) and ready(run_prefill_first):
        return
    from tests.everyday.asking import ask as asked  # noqa: PLC0415 - loaded in a process of its own

    few = ("--tp=1", "--pp=1", "--weights=bf16", "--kv=bf16", "--max-batched-tokens=8192", "--max-seqs=16")
    load = ("--load=poisson 1/s", "--slo=p99 ttft 2 s", "--requests=5", "--workers=1")
    with tempfile.TemporaryDirectory(prefix="volvelle-fuzz-") as name:
        for engine in ("vllm", "sglang"):
            asked(Path(name), "plan", "llama3-8b", "--serve", f"--engine={engine}", "--on=dgx-h100/1", *few, *load)


def fuzz(seeds: Iterable[int], *, workers: int = 1, patience: float = PATIENCE) -> Iterator[tuple[int, list[Finding]]]:
    """The findings of every seed, as they come."""
    before = multiprocessing.get_context("forkserver").Process(target=_compile)
    before.start()
    before.join()
    desks = [_Desk() for _ in range(workers)]
    try:
        yield from _answers(desks, iter(seeds), patience)
    finally:
        for desk in desks:
            desk.process.kill()


def _answers(desks: list[_Desk], waiting: Iterator[int], patience: float) -> Iterator[tuple[int, list[Finding]]]:
    for desk in desks:
        if (seed := next(waiting, None)) is not None:
            desk.give(seed)
    while busy := [desk for desk in desks if desk.seed is not None]:
        wait([desk.calls for desk in busy], timeout=1.0)
        for place, desk in enumerate(desks):
            if desk.seed is None:
                continue
            seed, findings = desk.seed, None
            if desk.calls.poll():
                try:
                    findings = desk.calls.recv()
                except EOFError:
                    findings = [Finding(seed, "memory", "the worker died", ())]
            elif time.monotonic() - desk.since > patience:
                desk.process.kill()
                findings = [Finding(seed, "hang", f"no answer after {patience:.0f} s", ())]
            if findings is None:
                continue
            yield seed, findings
            desk.answered += 1
            stuck = any(found.kind in ("hang", "memory") for found in findings)
            if stuck or desk.answered == _SHIFT or not desk.process.is_alive():
                desk.process.kill()
                desks[place] = _Desk()
            desks[place].seed = None
            if (following := next(waiting, None)) is not None:
                desks[place].give(following)


def main() -> None:
    """Ask many questions; the last line is a summary as JSON."""
    parser = argparse.ArgumentParser(description="Ask the command questions by chance.")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="Of the first question.")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="Seconds to wait for a worker, of a busy machine."
    )
    parser.add_argument(
        "--serving", action="store_true", help="Ask only those of the questions that are about serving."
    )
    given = parser.parse_args()
    seeds = [seed for seed in range(given.seed, given.seed + given.runs) if about_serving(seed) or not given.serving]
    kinds: Counter[str] = Counter()
    begun = time.monotonic()
    runs = 0
    with suppress(KeyboardInterrupt):  # what was asked so far counts
        for _, findings in fuzz(seeds, workers=given.workers, patience=given.patience):
            runs += 1
            for found in findings:
                kinds[found.kind] += 1
                print(json.dumps(asdict(found)), flush=True)
    seconds = round(time.monotonic() - begun, 1)
    names = ("traceback", "hang", "memory", "absurd", "message")
    print(json.dumps({"runs": runs, "seed": given.seed, "seconds": seconds, **{name: kinds[name] for name in names}}))
    sys.exit(1 if kinds else 0)


if __name__ == "__main__":
    main()
