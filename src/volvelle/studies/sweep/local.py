"""Runs a study on the cores of this machine; a worker that is killed costs its chunk in hand, which is run again."""

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread

from volvelle.errors import ResultsError
from volvelle.studies.sweep.chunk import ChunkJob, jobs, run_chunk
from volvelle.studies.sweep.manifest import Results

_TRIES = 4
"""Times a chunk may take its worker down before it is blamed."""


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_local(
    results: Results,
    *,
    workers: int | None = None,
    compiled: bool = False,
    advance: Callable[[int], None] = lambda rows: None,
    told: Callable[[str], None] = lambda text: None,
) -> int:
    """Run what remains; gives the number of rows it ran. `advance` is called with the rows of every finished chunk."""
    todo = jobs(results, compiled=compiled)
    count = min(workers or cores(), max(1, len(todo)))
    if count == 1:
        for job in todo:
            run_chunk(job)
            advance(job.rows)
    left = {job.chunk: job for job in todo if count > 1}
    failures: dict[int, int] = {}
    while left:
        try:
            _in_parallel(left, count, advance)
        except BrokenProcessPool:
            for chunk in list(left)[:count]:
                failures[chunk] = failures.get(chunk, 0) + 1
            worst = max(failures, key=lambda chunk: failures[chunk])
            if failures[worst] >= _TRIES:
                raise ResultsError(
                    f"workers died {_TRIES} times around chunk {worst} (rows {left[worst].start:,} to "
                    f"{left[worst].stop:,}), perhaps for want of memory; try --workers 1, or fewer rows a chunk"
                ) from None
            told("a worker was killed; its chunk is run again")
    return sum(job.rows for job in todo)


def _in_parallel(left: dict[int, ChunkJob], count: int, advance: Callable[[int], None]) -> None:
    """Run chunks until none is left; each is taken off as it finishes, so what remains is known whatever happens."""
    waiting = iter(list(left.values()))
    running: dict[Future[object], ChunkJob] = {}
    with ProcessPoolExecutor(count, mp_context=get_context("forkserver"), initializer=_die_with_parent) as pool:
        try:
            while left:
                while len(running) < 2 * count and (job := next(waiting, None)) is not None:
                    running[pool.submit(run_chunk, job)] = job
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    future.result()
                    del left[job.chunk]
                    advance(job.rows)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _die_with_parent() -> None:
    """See to it that a worker ends when the process that started it is killed; by itself it would wait for ever."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()
