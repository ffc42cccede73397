"""What can happen to a run, made to happen: killed workers and drivers, damaged files, other studies, a full disk."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest

from tests.sweeps import QUICK, SEARCHED, content, reopened, shards, start_driver, study, wait_until
from volvelle.errors import ResultsError
from volvelle.studies.sweep import manifest
from volvelle.studies.sweep.local import run_local
from volvelle.studies.sweep.manifest import Results, open_results
from volvelle.studies.sweep.query import Query

CHUNK = 20


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """The rows of the searched study, from a run that nothing happened to."""
    results = open_results(tmp_path_factory.mktemp("whole") / "out", study(SEARCHED), chunk=100)
    run_local(results)
    return content(results)


@pytest.fixture(scope="module")
def quick_rows(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    results = open_results(tmp_path_factory.mktemp("quick") / "out", study(QUICK), chunk=50)
    run_local(results, workers=1)
    return content(results)


def finished_quick(folder: Path) -> Results:
    results = open_results(folder / "out", study(QUICK), chunk=50)
    run_local(results, workers=1)
    return results


def test_a_killed_worker_costs_no_row_and_doubles_none(tmp_path: Path, undisturbed: pa.Table) -> None:
    results = open_results(tmp_path / "out", study(SEARCHED), chunk=CHUNK)
    told: list[str] = []
    victims: list[int] = []

    def kill_one() -> None:
        wait_until(lambda: len(shards(results.folder)) >= 3)
        victims.append(next(pid for child in active_children() if (pid := child.pid) is not None))
        os.kill(victims[0], signal.SIGKILL)

    killer = Thread(target=kill_one)
    killer.start()
    ran = run_local(results, workers=2, told=told.append)
    killer.join()

    assert victims
    assert told == ["a worker was killed; its chunk is run again"]
    assert ran == len(undisturbed)
    assert len(shards(results.folder)) == results.manifest.chunks
    assert content(results).equals(undisturbed)


def test_a_killed_driver_is_resumed_without_running_finished_chunks_again(
    tmp_path: Path, undisturbed: pa.Table
) -> None:
    folder = tmp_path / "out"
    runner = "from volvelle.studies.sweep.local import run_local; run_local(results, workers=2)"
    driver = start_driver(runner, SEARCHED, folder, CHUNK)
    wait_until(lambda: folder.is_dir() and len(shards(folder)) >= 5)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    wait_until(lambda: not living(driver.pid), seconds=20.0)  # no worker is left behind
    before = shards(folder)
    results = open_results(folder, study(SEARCHED), chunk=999)

    ran = run_local(results, workers=2)

    after = shards(folder)
    assert 5 <= len(before) < results.manifest.chunks
    assert {name: after[name] for name in before} == before
    assert ran == len(undisturbed) - CHUNK * len(before)
    assert content(results).equals(undisturbed)


def living(session: int) -> list[int]:
    """Processes of a session that still run."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of, *_ = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(of) == session and state != "Z":
            found.append(int(place.parent.name))
    return found


def flip_a_byte(file: Path) -> None:
    inside = bytearray(file.read_bytes())
    inside[len(inside) // 2] ^= 1
    file.write_bytes(inside)


def cut_short(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 3)


@pytest.mark.parametrize("harm", [flip_a_byte, cut_short])
def test_a_damaged_shard_is_told_set_aside_and_computed_again(tmp_path: Path, quick_rows: pa.Table, harm) -> None:  # type: ignore[no-untyped-def]
    results = finished_quick(tmp_path)
    victim = sorted(results.folder.glob("part-*"))[1]
    harm(victim)

    again = reopened(results, study(QUICK))
    ran = run_local(again, workers=1)

    assert len(again.told) == 1
    assert victim.name in again.told[0]
    assert "damaged or cut short" in again.told[0]
    assert ran == 50
    assert (results.folder / f"damaged-{victim.name}").exists()
    assert content(again).equals(quick_rows)


def test_a_half_written_file_is_told_and_removed(tmp_path: Path, quick_rows: pa.Table) -> None:
    results = finished_quick(tmp_path)
    left, busy = results.folder / "writing-00000001-77", results.folder / "writing-00000002-78"
    left.write_bytes(b"PAR1")
    busy.write_bytes(b"PAR1")
    hour_ago = time.time() - 3600
    os.utime(left, (hour_ago, hour_ago))

    again = reopened(results, study(QUICK))

    assert again.told == ("1 half-written file was removed",)
    assert list(results.folder.glob("writing-*")) == [busy], "somebody may be writing it"
    assert run_local(again) == 0
    assert content(again).equals(quick_rows)


def test_a_query_of_damaged_results_says_so_rather_than_answer(tmp_path: Path) -> None:
    results = finished_quick(tmp_path)
    cut_short(sorted(results.folder.glob("part-*"))[1])

    with pytest.raises(ResultsError, match="cannot be queried"), Query(results) as query:
        query.rows("SELECT count(*) FROM points")
    with pytest.raises(ResultsError, match=r"lacks 1 of 4 chunks; run the study again"):
        Query(reopened(results, study(QUICK)))


def test_another_study_is_refused_with_what_changed(tmp_path: Path) -> None:
    results = finished_quick(tmp_path)

    with pytest.raises(ResultsError, match=r"another study \(mapping.choices.tensor was 8, is 4\); give .*--fresh"):
        reopened(results, study(QUICK, mapping={"policy": "fixed", "tensor": 4, "pipeline": 8}))


def test_another_version_of_the_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = finished_quick(tmp_path)
    monkeypatch.setattr(manifest, "model_fingerprint", lambda folders=(), published="": "0123456789abcdef")

    with pytest.raises(ResultsError, match=r"another version of the model .*now 0123456789abcdef"):
        reopened(results, study(QUICK))


def test_a_catalogue_of_ones_own_is_part_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "mine" / "chips").mkdir(parents=True)
    before = manifest.model_fingerprint((str(tmp_path / "mine"),))
    (tmp_path / "mine" / "chips" / "new.yaml").write_text("name: new\n")
    manifest.model_fingerprint.cache_clear()

    assert manifest.model_fingerprint((str(tmp_path / "mine"),)) != before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for a few chunks."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_full_disk_is_told_in_one_message_and_the_run_resumes_when_there_is_room(
    small_disk: Path, quick_rows: pa.Table, workers: int
) -> None:
    results = open_results(small_disk / "out", study(QUICK), chunk=10)

    with pytest.raises(ResultsError, match=r"no room left in .* finished chunks are kept") as caught:
        run_local(results, workers=workers)
    before = shards(results.folder)
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    again = reopened(results, study(QUICK))
    ran = run_local(again, workers=workers)

    assert "\n" not in str(caught.value)
    assert 0 < len(before) < results.manifest.chunks
    assert again.told == ()
    assert ran == len(quick_rows) - 10 * len(before)
    assert {name: shards(results.folder)[name] for name in before} == before
    assert content(again).equals(quick_rows)
