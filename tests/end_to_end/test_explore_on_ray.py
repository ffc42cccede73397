"""Studies on a real cluster: a head and two worker nodes, each a group of processes that can be killed."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest

from ray_cluster import LocalCluster
from tests.sweeps import MAPPED, QUICK, SEARCHED, content, shards, start_driver, study, wait_until
from volvelle.errors import DescriptionError, ResultsError
from volvelle.studies.sweep.local import run_local
from volvelle.studies.sweep.manifest import open_results
from volvelle.studies.sweep.on_ray import run_on_ray

CHUNK = 20


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """A head without cores and two nodes of one each; after a test that killed one, there is the other."""
    with LocalCluster() as found:
        found.add_node()
        found.add_node()
        yield found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """The rows of the searched study, from one machine and larger chunks."""
    results = open_results(tmp_path_factory.mktemp("whole") / "out", study(SEARCHED), chunk=100)
    run_local(results)
    return content(results)


@pytest.mark.long
def test_a_driver_killed_on_a_cluster_is_resumed_with_the_rows_of_one_machine(
    tmp_path: Path, cluster: LocalCluster, undisturbed: pa.Table
) -> None:
    folder = tmp_path / "out"
    runner = f"from volvelle.studies.sweep.on_ray import run_on_ray; run_on_ray(results, address={cluster.address!r})"
    driver = start_driver(runner, SEARCHED, folder, CHUNK)
    wait_until(lambda: folder.is_dir() and len(shards(folder)) >= 5)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    before = shards(folder)
    results = open_results(folder, study(SEARCHED), chunk=999)
    done: list[int] = []

    ran = run_on_ray(results, address=cluster.address, advance=done.append)

    after = shards(folder)
    assert 5 <= len(before) < results.manifest.chunks
    assert {name: after[name] for name in before} == before
    assert sum(done) == ran <= len(undisturbed) - CHUNK * len(before)
    assert content(results).equals(undisturbed)


def test_what_goes_wrong_on_a_node_is_raised_here_in_its_own_words(tmp_path: Path, cluster: LocalCluster) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=10)
    strange = replace(results, manifest=replace(results.manifest, model="0123456789abcdef"))

    with pytest.raises(ResultsError, match=r"^node .* has another version of the model"):
        run_on_ray(strange, address=cluster.address)
    assert not shards(results.folder)


def test_a_killed_node_costs_no_row_and_doubles_none(
    tmp_path: Path, cluster: LocalCluster, undisturbed: pa.Table
) -> None:
    results = open_results(tmp_path / "out", study(SEARCHED), chunk=CHUNK)
    victim = cluster.nodes[-1]
    told: list[str] = []
    at_death: list[int] = []

    def kill_it() -> None:
        wait_until(lambda: len(shards(results.folder)) >= 6)
        at_death.append(len(shards(results.folder)))
        cluster.kill(victim)

    killer = Thread(target=kill_it)
    killer.start()
    ran = run_on_ray(results, address=cluster.address, told=told.append)
    killer.join()

    assert at_death[0] < results.manifest.chunks
    assert all("run again" in text for text in told)  # nothing is told if it had just handed in its chunk
    assert ran == len(undisturbed)
    assert len(shards(results.folder)) == results.manifest.chunks
    assert content(results).equals(undisturbed)


@pytest.mark.long
def test_mapped_points_are_the_same_rows_on_a_cluster_that_loses_a_node(tmp_path: Path, cluster: LocalCluster) -> None:
    whole = open_results(tmp_path / "whole", study(MAPPED), chunk=12)
    run_local(whole, workers=1)
    victim = cluster.add_node()
    results = open_results(tmp_path / "out", study(MAPPED), chunk=2)

    def kill_it() -> None:
        wait_until(lambda: len(shards(results.folder)) >= 3)
        cluster.kill(victim)

    killer = Thread(target=kill_it)
    killer.start()
    run_on_ray(results, address=cluster.address)
    killer.join()

    assert content(results).equals(content(whole))


def test_an_address_where_nobody_listens_is_refused_at_once(tmp_path: Path) -> None:
    results = open_results(tmp_path / "out", study(QUICK), chunk=10)

    with pytest.raises(DescriptionError, match=r"no Ray cluster answers at '127\.0\.0\.1:1'"):
        run_on_ray(results, address="127.0.0.1:1")
