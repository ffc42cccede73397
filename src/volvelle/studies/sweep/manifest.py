"""The folder of a study's results: which study, which model, which chunks; nothing from another is ever mixed in."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import zip_longest
from pathlib import Path
from uuid import uuid4

from volvelle.errors import ResultsError, brief
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.published_space import published_space
from volvelle.studies.sweep.shards import Shard, damage, every_shard, is_shard, list_shards

_FILE = "manifest.json"
_FORMAT = 1
_ABANDONED = 60.0
"""Seconds after which a half-written file has nobody who writes it."""
_REPORTS = ("report.html", "front.csv", "summary.json")
"""What answering leaves beside the results."""
_SCRATCH = "scratch"
"""Where queries put what does not fit in memory."""


_SHOWN = ("cli", "report", "reproductions", "testing", "__pycache__")
"""Rooms that change no answer."""


@lru_cache(maxsize=4)
def model_fingerprint(folders: tuple[str, ...] = (), published: str = "") -> str:
    """The same for the same formulas and catalogue: a hash of the package's own files, and of those in one's own.

    What only shows answers is left out, and so are papers computed again, but for the one whose `published` design
    space is asked.
    """
    digest = sha256()

    def add(folder: Traversable, path: str) -> None:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if entry.is_dir():
                if entry.name != "__pycache__":
                    add(entry, f"{path}/{entry.name}")
            elif entry.name.endswith((".py", ".yaml", ".csv")):
                digest.update(f"{path}/{entry.name}".encode())
                digest.update(entry.read_bytes())

    root = resources.files("volvelle")
    for entry in sorted(root.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name not in _SHOWN:
            add(entry, entry.name)
    for name in ("quantities.py", "spread.py"):
        digest.update((root / name).read_bytes())
    if published:
        package = published_space(published).package
        add(resources.files(package), package)
    for place, folder in enumerate(folders):
        add(Path(folder), f"own/{place}")
    return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a folder holds results of."""

    study: str
    """Its form, as canonical JSON."""
    fingerprint: str
    model: str
    """Fingerprint of the formulas and the catalogue."""
    folders: tuple[str, ...]
    rows: int
    chunk: int
    """Rows of a chunk; the last may have fewer."""
    format: int = _FORMAT

    @property
    def chunks(self) -> int:
        """How many there are in all."""
        return -(-self.rows // self.chunk)

    def span(self, chunk: int) -> tuple[int, int]:
        """First row of a chunk, and the one past its last."""
        return chunk * self.chunk, min((chunk + 1) * self.chunk, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A folder of results."""

    folder: Path
    manifest: Manifest
    told: tuple[str, ...] = ()
    """What was found amiss on opening, and what was done about it."""
    begun: bool = False
    """Whether this run began the folder."""

    def finished(self) -> dict[int, Shard]:
        """Chunks that are there."""
        return list_shards(self.folder)

    def give_up(self) -> None:
        """Leave no folder behind that this run began and put nothing into, so that another study may have its name."""
        if self.begun and {file.name for file in self.folder.iterdir()} == {_FILE}:
            (self.folder / _FILE).unlink()
            self.folder.rmdir()

    def pending(self) -> list[int]:
        """Chunks that are not."""
        done = self.finished()
        return [chunk for chunk in range(self.manifest.chunks) if chunk not in done]

    def files(self) -> list[str]:
        """One file a chunk, all of them there; what queries read."""
        done = self.finished()
        missing = self.manifest.chunks - len(done)
        if missing:
            raise ResultsError(
                f"{str(self.folder)!r} lacks {missing:,} of {self.manifest.chunks:,} chunks; run the study again to "
                "finish it: what is there is kept"
            )
        for chunk, shard in done.items():
            start, stop = self.manifest.span(chunk)
            if shard.rows != stop - start:
                raise ResultsError(
                    f"{shard.name} has {shard.rows} rows where {stop - start} belong: two runs cut the study "
                    "otherwise; run it again, and it is set aside"
                )
        return [str(self.folder / done[chunk].name) for chunk in sorted(done)]


def open_results(folder: Path, study: DesignStudy, *, chunk: int, fresh: bool = False) -> Results:
    """The folder for a study's results: new, or as an earlier run of the very same study left it.

    Refuses a folder of another study or of another version of the model. Damaged shards are told, moved aside, and
    count as not done.
    """
    wanted = Manifest(
        study=study.form.canonical(),
        fingerprint=study.fingerprint,
        model=model_fingerprint(study.folders, study.form.published or ""),
        folders=study.folders,
        rows=len(study.grid),
        chunk=chunk,
    )
    if fresh and (folder / _FILE).exists():
        _clear(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"results cannot be kept in {str(folder)!r}: {error.strerror}") from None
    begun = not (folder / _FILE).exists()
    if begun:
        names = [file.name for file in folder.iterdir()]
        strange = [name for name in names if not name.startswith("writing-") and name != _SCRATCH]
        if strange:
            raise ResultsError(
                f"{str(folder)!r} holds {strange[0]!r} but no {_FILE}, so it is no folder of results; give an empty one"
            )
        _write(folder, wanted)
    found = read_manifest(folder)
    _refuse_another(folder, found, wanted)
    told = []
    for shard, problem in _suspect(folder, found):
        (folder / shard.name).replace(folder / f"damaged-{shard.name}")
        told.append(f"{shard.name} {problem}; it was set aside as damaged-{shard.name} and is computed again")
    passing = [file for file in folder.iterdir() if file.name.startswith("writing-") and _left_behind(file)]
    for file in passing:
        file.unlink(missing_ok=True)
    if passing:
        told.append(f"{len(passing)} half-written file{'s were' if len(passing) > 1 else ' was'} removed")
    return Results(folder=folder, manifest=found, told=tuple(told), begun=begun)


def read_manifest(folder: Path) -> Manifest:
    """What a folder says it holds."""
    try:
        written = json.loads((folder / _FILE).read_text("utf-8"))
        found = Manifest(**{**written, "folders": tuple(written["folders"])})
    except FileNotFoundError:
        raise ResultsError(f"{str(folder)!r} has no {_FILE}: it is no folder of results") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ResultsError(
            f"{str(folder / _FILE)!r} cannot be read ({error}); start again with --fresh or in another folder"
        ) from None
    if found.format != _FORMAT:
        raise ResultsError(f"{str(folder)!r} has results in format {found.format}; this version reads {_FORMAT}")
    return found


def _refuse_another(folder: Path, found: Manifest, wanted: Manifest) -> None:
    if found.fingerprint != wanted.fingerprint or found.folders != wanted.folders:
        before, now = json.loads(found.study), json.loads(wanted.study)
        shown = _difference(before, now) or "catalogue folders differ"
        raise ResultsError(
            f"{str(folder)!r} holds results of another study ({shown}); give another --out, or --fresh to start again"
        )
    if found.model != wanted.model:
        raise ResultsError(
            f"{str(folder)!r} was made by another version of the model or its catalogue ({found.model}, now "
            f"{wanted.model}); results of two versions are not mixed: give another --out, or --fresh to start again"
        )


def _difference(before: object, now: object, path: str = "") -> str:
    """The first place where two studies differ, and what stands there; nothing where they do not."""
    if isinstance(before, dict) and isinstance(now, dict):
        pairs = [(f"{path}.{key}", before.get(key), now.get(key)) for key in {**before, **now}]
    elif isinstance(before, list) and isinstance(now, list):
        pairs = [(f"{path}[{at}]", *both) for at, both in enumerate(zip_longest(before, now))]
    else:
        said = (brief("nothing" if side is None else side) for side in (before, now))
        return "" if before == now else f"{path.lstrip('.')} was {next(said)}, is {next(said)}"
    return next((found for at, old, new in pairs if (found := _difference(old, new, at))), "")


def _suspect(folder: Path, found: Manifest) -> Iterator[tuple[Shard, str]]:
    """Shards that cannot be used, and why."""
    for shard in every_shard(folder):
        start, stop = found.span(shard.chunk)
        if shard.chunk >= found.chunks:
            yield shard, f"is chunk {shard.chunk} of a study that has {found.chunks}"
        elif (problem := damage(folder, shard)) is not None:
            yield shard, problem
        elif shard.rows != stop - start:
            yield shard, f"has {shard.rows} rows where {stop - start} belong"


def _left_behind(file: Path) -> bool:
    """Whether a half-written file is nobody's: untouched for longer than a chunk takes to write."""
    try:
        return time.time() - file.stat().st_mtime > _ABANDONED
    except FileNotFoundError:
        return False


def _write(folder: Path, manifest: Manifest) -> None:
    passing = folder / f"writing-{uuid4().hex}-{_FILE}"
    try:
        passing.write_text(json.dumps(asdict(manifest), indent=1), "utf-8")
        try:
            os.link(passing, folder / _FILE)  # of two that begin at once, one is first, and both go by its manifest
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            passing.replace(folder / _FILE)
        passing.unlink(missing_ok=True)
    except OSError as error:
        raise ResultsError(f"results cannot be kept in {str(folder)!r}: {error.strerror}") from None


def _clear(folder: Path) -> None:
    """Remove what a run leaves, and nothing else."""
    for file in list(folder.iterdir()):
        ours = is_shard(file.name.removeprefix("damaged-")) or file.name.startswith("writing-")
        if ours or file.name in (_FILE, *_REPORTS):
            file.unlink()
