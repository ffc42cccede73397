"""COMET's data and the model of its training: what is read, what must hold, and how verdicts are made."""

import itertools
import shutil
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle import DescriptionError, SourceError, UnknownNameError
from volvelle.catalogue.published.comet import Comet, comet
from volvelle.reproductions.comet.figures import configuration, degrees, expanded_memory, scaled_network, strategies
from volvelle.reproductions.comet.layers import layer_products, parameters
from volvelle.reproductions.comet.targets import WITHIN, verdicts
from volvelle.reproductions.comet.training import LITERAL, OURS, PHASES, READINGS, Machine, crossed, footprint, train

FOLDER = Path(str(resources.files("volvelle.catalogue"))) / "data" / "published" / "comet"
CLUSTERS = ("dgx-a100", "tpu-v4", "dojo")


@pytest.fixture(scope="module")
def data() -> Comet:
    return comet()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "comet"))


def change(folder: Path, name: str, before: str, after: str) -> None:
    text = (folder / name).read_text("utf-8")
    assert before in text
    (folder / name).write_text(text.replace(before, after, 1), "utf-8")


# -- what is read --------------------------------------------------------------------------------------------------


def test_the_clusters_have_as_many_nodes_as_the_tables_say(data: Comet) -> None:
    assert [data.cluster(key).nodes for key in CLUSTERS] == [1024, 4096, 64]


def test_the_model_has_a_trillion_parameters_in_the_cited_width_and_its_products_are_its_weights(data: Comet) -> None:
    cited = replace(data.model, width=data.model.cited_width)
    assert parameters(cited) == pytest.approx(1008e9, rel=1e-3)
    weights = sum(one.k * one.n for one in layer_products(data.model, 1.0) if one.weights)
    assert weights == pytest.approx(12.0 * data.model.width**2)


def test_the_width_follows_from_the_gradients_in_the_workload_file(data: Comet) -> None:
    assert 2 * data.model.width**2 / 128 == 9437184


@pytest.mark.parametrize(
    ("name", "before", "after", "error", "words"),
    [
        ("clusters.yaml", "source: kadiyala2024comet", "source: nobody", SourceError, "cites 'nobody'"),
        ("clusters.yaml", "80 GB", "80", DescriptionError, "memory_capacity"),
        ("model.yaml", "value: 128,", "value: 1.5,", DescriptionError, "a whole number"),
        ("targets.yaml", "rule: equal", "rule: similar", DescriptionError, "targets.yaml does not load"),
        ("sources.yaml", "  model.yaml:", "  toy.yaml:", SourceError, "model.yaml is not listed"),
    ],
)
def test_data_without_a_source_or_of_the_wrong_kind_are_refused(
    copy: Path, name: str, before: str, after: str, error: type[Exception], words: str
) -> None:
    change(copy, name, before, after)
    with pytest.raises(error, match=words):
        comet(copy)


def test_an_unknown_cluster_is_told_from_those_there_are(data: Comet) -> None:
    with pytest.raises(UnknownNameError, match="dojo"):
        data.cluster("doj")


# -- what must hold ------------------------------------------------------------------------------------------------


@given(
    key=st.sampled_from(CLUSTERS),
    reading=st.sampled_from(READINGS),
    power=st.integers(0, 6),
    compute=st.floats(0.1, 8.0),
    network=st.floats(0.1, 8.0),
    rate=st.floats(1e10, 2e12),
)
def test_faster_parts_never_slow_training_down(
    key: str, reading, power: int, compute: float, network: float, rate: float
) -> None:  # type: ignore[no-untyped-def]
    data = comet()
    cluster, mp = data.cluster(key), 2.0**power
    dp = cluster.nodes / mp
    rates = (network,) * len(cluster.dimensions)
    slow = Machine(cluster=cluster, compute=compute, rates=rates, expanded_rate=rate)
    time = train(data.model, slow, mp, dp, reading=reading).time
    for faster in (
        replace(slow, compute=2 * compute),
        replace(slow, rates=tuple(2 * one for one in rates)),
        replace(slow, expanded_rate=2 * rate),
    ):
        assert train(data.model, faster, mp, dp, reading=reading).time <= time * (1 + 1e-12)


@pytest.mark.parametrize("reading", READINGS, ids=[one.name for one in READINGS])
@pytest.mark.parametrize("key", CLUSTERS)
def test_a_row_of_a_sweep_is_the_single_answer(data: Comet, key: str, reading) -> None:  # type: ignore[no-untyped-def]
    cluster = data.cluster(key)
    mp = degrees(cluster.nodes)
    swept = train(data.model, Machine(cluster=cluster), mp, cluster.nodes / mp, reading=reading)
    for row, degree in enumerate(mp):
        one = train(data.model, Machine(cluster=cluster), degree, cluster.nodes / degree, reading=reading)
        assert float(one.time) == pytest.approx(float(swept.time[row]), rel=1e-12)
        assert one.footprint == pytest.approx(float(np.asarray(swept.footprint)[row]), rel=1e-12)


def test_groups_of_both_kinds_fill_the_network(data: Comet) -> None:
    for key in CLUSTERS:
        cluster = data.cluster(key)
        machine, mp = Machine(cluster=cluster), degrees(cluster.nodes)
        inner, outer = machine.tiers(1.0, mp), machine.tiers(mp, cluster.nodes / mp)
        for dimension, one, other in zip(cluster.dimensions, inner, outer, strict=True):
            assert np.asarray(one.chips * other.chips) == pytest.approx(dimension.size)


def test_parts_sum_to_run_time_and_nothing_hidden_is_negative(data: Comet) -> None:
    for key in CLUSTERS:
        swept = strategies(data, key)
        parts = sum(swept.columns[f"{kind}, {phase}"] for kind in ("compute", "exposed") for phase in PHASES)
        assert parts == pytest.approx(swept.columns["run_time"])
        assert min(swept.columns["exposed, weight gradient"]) >= 0.0


def test_each_stage_of_zero_needs_less_memory_than_the_one_before(data: Comet) -> None:
    mp = degrees(1024)[1:]
    held = [np.asarray(footprint(data.model, mp, 1024 / mp, zero=stage)) for stage in range(4)]
    for more, less in itertools.pairwise(held):
        assert np.all(less < more)


def test_memory_that_fits_does_not_care_for_expanded_memory(data: Comet) -> None:
    swept = expanded_memory(data)
    for mp in (64.0, 128.0, 256.0):
        assert np.ptp(swept.columns["run_time"][swept.where(mp=mp)]) == 0.0


def test_time_of_an_iteration_alone_has_no_lowest_point_between_the_extremes(data: Comet) -> None:
    """Why run times are per sequence: the text has the fastest configuration at MP8_DP128."""
    cluster, mp = data.cluster("dgx-a100"), degrees(1024)
    time = train(data.model, Machine(cluster=cluster), mp, cluster.nodes / mp).time
    assert int(np.argmin(time)) in (0, 1, 2)
    assert np.all(np.diff(time)[3:] > 0)


def test_a_design_space_has_every_combination_once() -> None:
    columns = crossed(a=(1, 2, 3), b=(4, 5))
    assert sorted(zip(columns["a"], columns["b"], strict=True)) == [(a, b) for a in (1, 2, 3) for b in (4, 5)]


def test_configurations_are_written_as_in_the_paper() -> None:
    assert configuration(64.0, 1024) == "MP64_DP16"


def test_baselines_are_one(data: Comet) -> None:
    assert scaled_network(data, 64.0).at("run_time", inside=1.0, between=1.0) == pytest.approx(1.0)
    assert expanded_memory(data).at("run_time", mp=64.0, expanded_gbs=500.0) == pytest.approx(1.0)


# -- verdicts ------------------------------------------------------------------------------------------------------


def verdict(data: Comet, measure: str, **changes: object):  # type: ignore[no-untyped-def]
    target = next(one for one in (*data.targets, *data.also_printed) if one.measure == measure)
    (found,) = verdicts(data, [target.model_copy(update=changes)])
    return found


def test_a_verdict_is_computed_from_the_printed_value(data: Comet) -> None:
    ours = verdict(data, "compute-half").ours
    assert verdict(data, "compute-half", value=ours / (1 + 0.9 * WITHIN)).reproduced
    assert not verdict(data, "compute-half", value=ours / (1 + 1.1 * WITHIN)).reproduced
    assert not verdict(data, "dgx-best", value=16).reproduced
    assert not verdict(data, "dgx-footprint-64", value=50).reproduced


def test_a_small_change_passes_as_a_ratio_and_fails_as_a_change(data: Comet) -> None:
    found = verdict(data, "eight-both-half")
    assert found.reproduced
    assert not found.strictly
    assert "the change itself" in found.why


def test_a_pair_in_the_other_order_is_not_reproduced_even_where_its_number_is_near(data: Comet) -> None:
    found = verdict(data, "inside-half")
    assert found.holds
    assert not found.reproduced
    assert "exchanged" in found.why
    assert verdict(data, "inside-half", more_than="").reproduced


def test_the_pair_would_be_reproduced_if_its_numbers_were_exchanged_in_print(data: Comet) -> None:
    """What the remark on it says."""
    assert verdict(data, "inside-half", value=1.22, more_than="", less_than="between-half").reproduced
    assert verdict(data, "between-half", value=1.48, less_than="", more_than="inside-half").reproduced


def test_readings_differ_in_what_they_fail(data: Comet) -> None:
    ours, literal = (verdicts(data, reading=one) for one in (OURS, LITERAL))
    assert {one.target.measure for one in literal if not one.reproduced} > {
        one.target.measure for one in ours if not one.reproduced
    }
