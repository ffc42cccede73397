"""Shards: one chunk of rows as one Parquet file, whole or not there at all. Only this module knows pyarrow.

A shard's name says which chunk it is, how many rows it has and what its bytes sum to, so that finished work is known
from the folder's listing alone and a damaged file gives itself away.
"""

import errno
import re
import shutil
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from volvelle.errors import ResultsError, needs_extra
from volvelle.mapping.parallelism import CHOICES
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.points import REASONS, Slice

_NAME = re.compile(r"part-(\d{8})-(\d+)-([0-9a-f]{8})\.parquet")
_BLOCK = 1 << 20
_WORDS = {choice.name: list(choice.words) for choice in CHOICES if choice.words}
"""Of layouts: what is written in words, in the order of its numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Shard:
    """A finished chunk."""

    chunk: int
    rows: int
    checksum: str
    """CRC-32 of the file's bytes."""

    @property
    def name(self) -> str:
        """Of its file."""
        return f"part-{self.chunk:08d}-{self.rows}-{self.checksum}.parquet"


def is_shard(name: str) -> bool:
    """Whether a file's name is that of a shard."""
    return _NAME.fullmatch(name) is not None


def every_shard(folder: Path) -> list[Shard]:
    """All shards of a folder, in order."""
    names = (_NAME.fullmatch(file.name) for file in folder.iterdir())
    return sorted(Shard(chunk=int(one[1]), rows=int(one[2]), checksum=one[3]) for one in names if one is not None)


def list_shards(folder: Path) -> dict[int, Shard]:
    """Finished chunks of a folder; where one was written twice, the first."""
    found: dict[int, Shard] = {}
    for shard in every_shard(folder):
        found.setdefault(shard.chunk, shard)
    return found


def damage(folder: Path, shard: Shard) -> str | None:
    """What is wrong with a shard's file; None: nothing."""
    file = folder / shard.name
    try:
        found = _checksum(file)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if found != shard.checksum:
        return f"its {file.stat().st_size:,} bytes sum to {found}, not to {shard.checksum}: damaged or cut short"
    return None


def write_shard(folder: Path, study: DesignStudy, chunk: int, found: Slice) -> Shard:
    """Write a chunk under a passing name, then give it its own in one stroke."""
    pa, pq = _engine()
    table = pa.table(_columns(pa, study, found))
    passing = folder / f"writing-{chunk:08d}-{uuid4().hex}"  # process numbers of two nodes may be the same
    try:
        measures = [name for name in table.column_names if pa.types.is_floating(table.schema.field(name).type)]
        pq.write_table(
            table,
            passing,
            compression="zstd",
            compression_level=1,
            use_dictionary=[name for name in table.column_names if name not in measures and name != "point"],
            write_statistics=True,
        )
        shard = Shard(chunk=chunk, rows=len(found), checksum=_checksum(passing))
        passing.replace(folder / shard.name)
    except BaseException as error:
        passing.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error):
            free = shutil.disk_usage(folder).free
            raise ResultsError(
                f"no room left in {str(folder)!r} for chunk {chunk} ({table.nbytes / 1e6:.1f} MB before compression, "
                f"{free / 1e6:.1f} MB free); free some and run the same command again: finished chunks are kept"
            ) from None
        raise ResultsError(f"chunk {chunk} cannot be written to {str(folder)!r}: {error}") from None
    return shard


def _columns(pa: Any, study: DesignStudy, found: Slice) -> dict[str, Any]:
    columns: dict[str, Any] = {"point": pa.array(found.numbers)}
    for axis in study.axes:
        places = found.positions[axis.name]
        narrow = pa.array(places.astype(np.int16 if len(axis) < 2**15 else np.int32))
        for path, values in axis.columns.items():
            words = any(isinstance(value, str) for value in values)
            counts = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
            kept = pa.array([str(value) if words else int(value) if counts else float(value) for value in values])
            columns[path] = pa.DictionaryArray.from_arrays(narrow, kept)
    for name, column in found.columns.items():
        if name in found.layouts:
            missing = np.isnan(column)
            codes = pa.array(np.where(missing, 0, column).astype(np.int32), mask=missing)
            known = _WORDS.get(name.rpartition(".")[2])
            columns[name] = pa.DictionaryArray.from_arrays(codes, pa.array(known)) if known else codes
        else:
            columns[name] = pa.array(np.ascontiguousarray(column))
    columns["feasible"] = pa.array(found.feasible)
    columns["reason"] = pa.DictionaryArray.from_arrays(pa.array(found.reason), pa.array(REASONS))
    return columns


def _checksum(file: Path) -> str:
    total = 0
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            total = zlib.crc32(block, total)
    return f"{total:08x}"


def _engine() -> tuple[Any, Any]:
    with needs_extra("explore", "results are written as Parquet by pyarrow"):
        import pyarrow  # noqa: PLC0415 - an extra
        import pyarrow.parquet  # noqa: PLC0415
    return pyarrow, pyarrow.parquet


def check_engine() -> None:
    """Refuse to begin where pyarrow is missing."""
    _engine()
