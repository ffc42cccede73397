"""Shards, the folder they lie in, and who runs what remains."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("pyarrow")

import pyarrow.parquet as pq

from tests.sweeps import QUICK, content, reopened, shards, study
from volvelle.errors import DescriptionError, MissingExtraError, ResultsError
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.sweep import on_ray, query
from volvelle.studies.sweep import shards as shard_files
from volvelle.studies.sweep.chunk import Forecast, forecast, jobs, run_chunk
from volvelle.studies.sweep.local import run_local
from volvelle.studies.sweep.manifest import open_results
from volvelle.studies.sweep.query import Query
from volvelle.studies.sweep.shards import damage, list_shards, write_shard


def test_a_chunk_written_twice_is_one_file_of_the_same_bytes(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=50)
    job = jobs(results)[1]

    first, second = run_chunk(job), run_chunk(job)

    assert first == second
    assert [file.name for file in results.folder.glob("part-*")] == [first.name]
    assert damage(results.folder, first) is None


def test_a_shard_holds_every_axis_measure_and_reason_of_its_points(tmp_path: Path) -> None:
    asked = study(QUICK)
    rows = Evaluator(study=asked).rows(20, 30)

    shard = write_shard(tmp_path, asked, 2, rows)
    table = pq.read_table(tmp_path / shard.name).to_pydict()

    assert table["point"] == list(range(20, 30))
    assert set(table) == {"point", *QUICK["axes"], "time", "memory", "days", "mfu", "feasible", "reason"}
    assert table["days"] == rows.columns["days"].tolist()
    assert list_shards(tmp_path) == {2: shard}


def test_of_two_files_of_one_chunk_only_one_is_read(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=100)
    run_local(results, workers=1)
    shard = results.finished()[0]
    (results.folder / replace(shard, checksum="ffffffff").name).write_bytes((results.folder / shard.name).read_bytes())

    assert len(results.files()) == 2
    assert len(content(results)) == 180


def test_a_file_that_says_other_rows_than_its_chunk_has_is_set_aside(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=100)
    run_local(results, workers=1)
    shard = results.finished()[1]
    (results.folder / shard.name).rename(results.folder / replace(shard, rows=79).name)

    again = reopened(results, study(QUICK))

    assert "has 79 rows where 80 belong" in again.told[0]
    assert again.pending() == [1]


def test_the_last_chunk_has_what_is_left(tmp_path: Path) -> None:
    manifest = open_results(tmp_path / "out", study(QUICK), chunk=70).manifest

    assert [manifest.span(chunk) for chunk in range(manifest.chunks)] == [(0, 70), (70, 140), (140, 180)]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(ResultsError, match=r"holds 'thesis.tex' but no manifest.json"):
        open_results(tmp_path, study(QUICK), chunk=10)


def test_starting_afresh_removes_results_and_nothing_else(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=100)
    run_local(results, workers=1)
    (results.folder / "notes.txt").write_text("mine")
    other = study(QUICK, seed=3)

    with pytest.raises(ResultsError, match=r"notes.txt"):
        open_results(results.folder, other, chunk=100, fresh=True)
    assert (results.folder / "notes.txt").read_text() == "mine"
    assert not shards(results.folder)


def test_starting_afresh_in_a_folder_of_something_else_removes_nothing(tmp_path: Path) -> None:
    for name in ("report.html", "part-list.txt"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(ResultsError, match="no folder of results"):
        open_results(tmp_path, study(QUICK), chunk=10, fresh=True)
    assert {file.name for file in tmp_path.iterdir()} == {"report.html", "part-list.txt"}


def test_of_two_that_begin_at_once_both_go_by_one_manifest(tmp_path: Path) -> None:
    first = open_results(tmp_path / "out", study(QUICK), chunk=50)
    second = open_results(tmp_path / "out", study(QUICK), chunk=70)
    assert first.manifest == second.manifest


def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=100)
    (results.folder / "manifest.json").write_text('{"study": ')

    with pytest.raises(ResultsError, match=r"manifest.json' cannot be read .*--fresh"):
        reopened(results, study(QUICK))


@pytest.mark.parametrize(("workers", "chunk"), [(1, 7), (2, 50), (3, 180)])
def test_rows_are_the_same_whatever_the_workers_and_chunks(tmp_path: Path, workers: int, chunk: int) -> None:
    asked = study(QUICK)
    results = open_results(tmp_path / "out", asked, chunk=chunk)
    advanced: list[int] = []

    ran = run_local(results, workers=workers, advance=advanced.append)

    found, expected = content(results), Evaluator(study=asked).rows(0, 180)
    assert sum(advanced) == ran == 180
    assert run_local(results, workers=workers) == 0
    assert found["point"].to_pylist() == list(range(180))
    for name in ("time", "memory", "days", "mfu"):
        assert found[name].to_pylist() == expected.columns[name].tolist()


def test_jobs_name_absolute_paths_as_workers_may_stand_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    found = jobs(open_results(Path("out"), study(QUICK), chunk=100))

    assert [job.folder for job in found] == [str(tmp_path / "out")] * 2


def test_a_query_counts_every_row_once(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=50)
    run_local(results, workers=1)

    with Query(results, threads=1) as asked:
        rows = asked.rows("SELECT count(*) AS n, count(DISTINCT point) AS d FROM points")
        batches = asked.batches("SELECT days FROM points", ["days"], rows=64)
        first = len(next(batches)["days"])
        between = asked.rows("SELECT max(point) AS last FROM points")
        others = sum(len(batch["days"]) for batch in batches)

    assert rows == [{"n": 180, "d": 180}]
    assert between == [{"last": 179}]
    assert first + others == 180


def test_unfinished_results_are_not_queried(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=50)
    run_chunk(jobs(results)[0])

    with pytest.raises(ResultsError, match=r"lacks 3 of 4 chunks"):
        Query(results)


def test_a_forecast_gives_chunks_for_all_cores() -> None:
    assert Forecast(rows=1000, rate=1e6, layouts=1.0).chunk(10) == 25
    assert Forecast(rows=10**9, rate=100.0, layouts=1.0).chunk(10) == 200
    assert Forecast(rows=10**9, rate=1e9, layouts=1.0).chunk(10) == 262_144
    assert forecast(study(QUICK), seconds=0.05).rate > 0


@pytest.mark.parametrize(
    ("module", "missing", "extra"),
    [(shard_files, "pyarrow", "explore"), (query, "duckdb", "explore"), (on_ray, "ray", "ray")],
)
def test_a_missing_engine_is_told_with_what_to_install(  # type: ignore[no-untyped-def]
    module, missing: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(MissingExtraError, match=rf"pip install 'volvelle\[{extra}\]"):
        module._engine()


def test_without_an_address_a_cluster_is_looked_for_and_none_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def init(*, address: str, **_: object) -> None:
        asked.append(address)
        raise ConnectionError("Could not find any running Ray instance.\nPlease specify one.")

    engine = SimpleNamespace(
        is_initialized=lambda: False, init=init, exceptions=SimpleNamespace(RayError=type("RayError", (Exception,), {}))
    )
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(on_ray, "_engine", lambda: engine)
    results = open_results(tmp_path / "out", study(QUICK), chunk=50)

    with pytest.raises(DescriptionError, match=r"^no Ray cluster could be joined here: Could not find .* instance\.$"):
        on_ray.run_on_ray(results, address=None)
    assert asked == ["auto"]
