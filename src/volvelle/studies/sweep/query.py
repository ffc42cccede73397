"""Questions to results on disk, through DuckDB; only this module knows it. Rows are streamed, never loaded whole."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import ResultsError, needs_extra
from volvelle.studies.sweep.manifest import Results
from volvelle.studies.sweep.shards import check_engine

_MEMORY = "1GB"


class Query(AbstractContextManager["Query"]):
    """Rows of a folder of results, as a table called ``points``."""

    def __init__(self, results: Results, *, threads: int | None = None) -> None:
        self._engine = _engine()
        settings: dict[str, Any] = {"memory_limit": _MEMORY, "temp_directory": str(results.folder / "scratch")}
        if threads:
            settings["threads"] = threads
        self._connection = self._engine.connect(":memory:", config=settings)
        files = ", ".join("'" + file.replace("'", "''") + "'" for file in results.files())
        self._run(f"CREATE VIEW points AS SELECT * FROM read_parquet([{files}])")

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query, as plain values; for answers of few rows."""
        found = self._run(sql)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def columns(self, sql: str) -> dict[str, NDArray[Any]]:
        """Columns of a query, whole; for answers that fit."""
        found: dict[str, NDArray[Any]] = self._run(sql).fetchnumpy()
        return found

    def batches(self, sql: str, names: Sequence[str], *, rows: int = 1_000_000) -> Iterator[dict[str, NDArray[Any]]]:
        """Columns of a query, so many rows at a time.

        A relation streams, where a result of ``execute`` is held whole before its first batch; and a reader takes its
        connection for itself, so it gets one of its own.
        """
        with self._connection.cursor() as own:
            try:
                for batch in own.sql(sql).to_arrow_reader(rows):
                    yield {name: np.asarray(batch.column(name)) for name in names}
            except self._engine.Error as error:
                raise _unanswered(error) from None

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _run(self, sql: str) -> Any:
        try:
            return self._connection.execute(sql)
        except self._engine.Error as error:
            raise _unanswered(error) from None


def _unanswered(error: Exception) -> ResultsError:
    return ResultsError(f"the results cannot be queried: {str(error).splitlines()[0]}")


def _engine() -> Any:
    with needs_extra("explore", "results are queried through DuckDB"):
        import duckdb  # noqa: PLC0415 - an extra
    return duckdb


def check_engines() -> None:
    """Refuse to begin where an engine is missing that answering will need."""
    _engine()
    check_engine()
