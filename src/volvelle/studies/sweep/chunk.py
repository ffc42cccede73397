"""One chunk of a study: evaluated and written by whichever process is asked; the same bytes wherever that is."""

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from volvelle.interchange.study_file import StudyForm
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.points import PointSource
from volvelle.studies.sweep.manifest import Results
from volvelle.studies.sweep.shards import Shard, write_shard

_LONGEST = 262_144
"""Rows of a chunk at most: its columns take some tens of megabytes."""
_SECONDS = 2.0
"""What a chunk should take: long against handing it out, short against losing it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkJob:
    """A chunk to run, with all it takes; small, and of plain values."""

    study: str
    """The form, as canonical JSON."""
    folders: tuple[str, ...]
    folder: str
    """Where results go."""
    compiled: bool
    chunk: int
    start: int
    stop: int

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.stop - self.start


def jobs(results: Results, *, compiled: bool = False) -> list[ChunkJob]:
    """What remains to be done; paths are absolute, as a worker may stand elsewhere."""
    manifest = results.manifest
    folders = tuple(str(Path(folder).absolute()) for folder in manifest.folders)
    return [
        ChunkJob(
            study=manifest.study,
            folders=folders,
            folder=str(results.folder.absolute()),
            compiled=compiled,
            chunk=chunk,
            start=manifest.span(chunk)[0],
            stop=manifest.span(chunk)[1],
        )
        for chunk in results.pending()
    ]


@lru_cache(maxsize=2)
def evaluator_of(study: str, folders: tuple[str, ...], compiled: bool) -> PointSource:
    """What evaluates a study's points, kept by every process for its next chunk."""
    whole = _study_of(study, folders)
    if whole.published is not None:
        return whole.published.source(whole)
    if not compiled:
        return Evaluator(study=whole)
    from volvelle.estimators.compiled.compiled_form import CompiledClosedForm  # noqa: PLC0415 - an extra

    return Evaluator(study=whole, estimator=CompiledClosedForm())


@lru_cache(maxsize=2)
def _study_of(study: str, folders: tuple[str, ...]) -> DesignStudy:
    return DesignStudy(form=StudyForm.model_validate_json(study), folders=folders)


def run_chunk(job: ChunkJob) -> Shard:
    """Evaluate a chunk and write it."""
    found = evaluator_of(job.study, job.folders, job.compiled).rows(job.start, job.stop)
    return write_shard(Path(job.folder), _study_of(job.study, job.folders), job.chunk, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a study will take, from a few of its points."""

    rows: int
    rate: float
    """Rows a second on one core."""
    layouts: float
    """Layouts evaluated a row."""

    def seconds(self, cores: int) -> float:
        """Time on so many cores."""
        return self.rows / self.rate / cores

    def chunk(self, cores: int) -> int:
        """Rows a chunk should have: some seconds' worth, and enough chunks for all cores."""
        fair = -(-self.rows // (4 * cores))
        return int(max(1, min(_LONGEST, self.rate * _SECONDS, fair)))


def forecast(study: DesignStudy, *, compiled: bool = False, seconds: float = 1.0) -> Forecast:
    """Measure the rate on points from all over the study, for about so long."""
    evaluator = evaluator_of(study.form.canonical(), study.folders, compiled)
    rows = len(study.grid)
    # What is mapped takes a search a point, and is not searched for again: points differ, one at a time.
    size, first = (1, 1) if study.maps else (max(1, min(rows, 8)), 0)
    evaluator.rows(0, size)  # what is built once is not part of the rate
    begun = turn = time.perf_counter()
    done, before = 0, evaluator.evaluated
    alike, took = 0, 0.0  # rows and seconds of slices of the present size: small ones cost more a row
    while turn - begun < seconds and done < rows:
        start = int((first + done * 7919) % max(1, rows - size + 1))
        evaluator.rows(start, start + size)
        now = time.perf_counter()
        done, alike, took, each, turn = done + size, alike + size, took + now - turn, now - turn, now
        larger = min(rows, _LONGEST, 4 * size)
        if not study.maps and each < seconds / 8 and larger > size and done + larger <= rows and now - begun < seconds:
            size, alike, took = larger, 0, 0.0
    rate = alike / took if alike else done / max(turn - begun, 1e-9)
    return Forecast(rows=rows, rate=rate, layouts=(evaluator.evaluated - before) / max(done, 1))
