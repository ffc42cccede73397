"""Runs a study on a Ray cluster: workers write shards into a folder that all nodes share; only this module knows Ray.

Every node needs this package, the same version of it with the same catalogue, or its chunks are refused: install it
there, or let Ray do so (``ray job submit --runtime-env-json '{"pip": ["volvelle[ray]"]}' -- volvelle explore …``).
"""

import logging
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from volvelle.errors import DescriptionError, ResultsError, VolvelleError, needs_extra
from volvelle.interchange.study_file import StudyForm
from volvelle.studies.sweep.chunk import ChunkJob, jobs, run_chunk
from volvelle.studies.sweep.manifest import Results, model_fingerprint, read_manifest
from volvelle.studies.sweep.shards import Shard

_TRIES = 6
"""Times a chunk may be lost with its worker before it is blamed; more than at home, where nodes are not taken away."""
_AHEAD = 3
"""Chunks handed out for every core: none waits for work, and a cluster that grows on demand sees that there is more."""
_FEWEST = 4
"""Chunks handed out however few cores there are: a cluster may start with none and grow when asked."""
_PAUSE = 0.1
"""Seconds between looks at what has finished."""
_LOOK = 2.0
"""Seconds between looks at how many cores there are."""
_SETTLE = 10.0
"""Seconds that chunks in hand are given when the run is given up."""
_APPEAR = 10.0
"""Seconds a file may take to be seen here after a node wrote it: network file systems cache."""


def run_on_ray(
    results: Results,
    *,
    address: str | None,
    compiled: bool = False,
    advance: Callable[[int], None] = lambda rows: None,
    told: Callable[[str], None] = lambda text: None,
) -> int:
    """Run what remains on the cluster at `address`; gives the number of rows it ran.

    ``None`` is the cluster of ``RAY_ADDRESS``, or the one running on this machine; none is started, as for one machine
    `run_local` is better. Chunks of a worker or node that is lost are run again elsewhere; nodes may come and go.
    """
    todo = jobs(results, compiled=compiled)
    if not todo:
        return 0
    ray = _engine()
    with _connected(ray, address):
        _Run(ray=ray, results=results, advance=advance, told=told).finish(todo)
    return sum(job.rows for job in todo)


def _chunk_here(job: ChunkJob, model: str) -> Shard | VolvelleError:
    """Run a chunk on whichever node this is. Errors of our own are answers: Ray would wrap them in a traceback."""
    try:
        _check_node(job.folder, job.folders, StudyForm.model_validate_json(job.study).published or "", model)
        return run_chunk(job)
    except VolvelleError as error:
        return error


@lru_cache(maxsize=8)
def _check_node(folder: str, folders: tuple[str, ...], published: str, model: str) -> None:
    """Refuse to work on a node that has another model, or that does not see the folder; once a process."""
    node = socket.gethostname()
    found = model_fingerprint(folders, published)
    if found != model:
        raise ResultsError(
            f"node {node!r} has another version of the model or its catalogue ({found}, here {model}); install the "
            "same on every node"
        )
    try:
        read_manifest(Path(folder))
    except ResultsError:
        raise ResultsError(
            f"node {node!r} does not see the results in {folder!r}; give a folder that all nodes share"
        ) from None


@dataclass(kw_only=True)
class _Run:
    """Chunks handed out and not yet back."""

    ray: Any
    results: Results
    advance: Callable[[int], None]
    told: Callable[[str], None]
    running: dict[Any, ChunkJob] = field(default_factory=dict)
    lost: dict[int, int] = field(default_factory=dict)
    """Chunk → times it was lost."""

    def __post_init__(self) -> None:
        # Ray would try again by itself, but silently, and for ever a chunk that takes every worker down.
        self._task = self.ray.remote(num_cpus=1, max_retries=0)(_chunk_here)
        self._looked = -_LOOK
        self._cores = 0

    def finish(self, todo: list[ChunkJob]) -> None:
        """Run all of them."""
        waiting = todo[::-1]
        try:
            while waiting or self.running:
                while waiting and len(self.running) < self._limit():
                    job = waiting.pop()
                    self.running[self._task.remote(job, self.results.manifest.model)] = job
                done, _ = self.ray.wait(list(self.running), num_returns=len(self.running), timeout=_PAUSE)
                again = [back for ref in done if (back := self._settle(ref)) is not None]
                if again:
                    self.told(_lost_text(again))
                    waiting.extend(again)
        except VolvelleError:
            self._let_settle()
            raise

    def _limit(self) -> int:
        """Chunks that may be out at a time, by the cores there are now."""
        if time.monotonic() - self._looked >= _LOOK:
            cores = int(self.ray.cluster_resources().get("CPU", 0))
            if not cores and (self._cores or self._looked < 0):
                self.told("the cluster has no core at present; waiting for a node that has")
            self._cores, self._looked = cores, time.monotonic()
        return max(_FEWEST, _AHEAD * self._cores)

    def _settle(self, ref: Any) -> ChunkJob | None:
        """Take note of a chunk that is back; gives it if it must be run again."""
        job = self.running.pop(ref)
        errors = self.ray.exceptions
        try:
            found: Shard | VolvelleError = self.ray.get(ref)
        except errors.RayTaskError as error:
            if "failed to import" in str(error):
                raise DescriptionError(
                    "a node of the cluster cannot import volvelle and what it needs; install the same version on every "
                    "node, or submit the run with a runtime environment that does (ray job submit)"
                ) from None
            raise
        except errors.RayError as error:
            self.lost[job.chunk] = self.lost.get(job.chunk, 0) + 1
            if self.lost[job.chunk] < _TRIES:
                return job
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ResultsError(
                f"chunk {job.chunk} (rows {job.start:,} to {job.stop:,}) was lost with its worker {_TRIES} times, the "
                f"last time because: {said} Perhaps for want of memory; take nodes with more a core"
            ) from None
        if isinstance(found, VolvelleError):
            raise found
        self._see(found)
        self.advance(job.rows)
        return None

    def _see(self, shard: Shard) -> None:
        """Make sure that what a node wrote is here as well."""
        file = self.results.folder / shard.name
        until = time.monotonic() + _APPEAR
        while not file.exists():
            if time.monotonic() > until:
                raise ResultsError(
                    f"chunk {shard.chunk} was written by a node, but {str(file)!r} is not there as seen from here; "
                    "give a folder that all nodes share"
                )
            time.sleep(_PAUSE)

    def _let_settle(self) -> None:
        """Give what is out some seconds to be written whole.

        It is not cancelled: where ``ray.cancel`` meets a task that is just finishing, Ray 2.60 aborts this process
        (Check failed: it != submissible_tasks_.end(); the race is told in ray-project/ray pull request 54798).
        """
        if self.running:
            self.ray.wait(list(self.running), num_returns=len(self.running), timeout=_SETTLE)


def _lost_text(again: list[ChunkJob]) -> str:
    if len(again) == 1:
        return f"a worker was lost; its chunk {again[0].chunk} is run again"
    return f"{len(again)} workers were lost; their chunks are run again"


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    """Join the cluster, and leave it, unless the caller had joined before.

    None is started: one that ``ray.init`` starts keeps a token in the home folder, and clusters of later would ask
    for it.
    """
    if ray.is_initialized():
        yield
        return
    _answers(address or os.environ.get("RAY_ADDRESS"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray's own, about what is to change in Ray
            ray.init(address=address or "auto", log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        where = f"at {address!r}" if address else "here"
        raise DescriptionError(f"no Ray cluster could be joined {where}: {said}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _answers(address: str | None) -> None:
    """Refuse an address where nobody listens: Ray itself would go on asking for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
    except OSError as error:
        raise DescriptionError(
            f"no Ray cluster answers at {address!r} ({error.strerror or error}); start one with 'ray start --head', or "
            "give the address that 'ray status' shows"
        ) from None


def _engine() -> Any:
    with needs_extra("ray", "a cluster is reached through Ray"):
        import ray  # noqa: PLC0415 - an extra
        import ray.exceptions  # noqa: PLC0415
    return ray
