"""What is put into host memory has room there, a margin of memory is left free, and the answer says so."""

from dataclasses import replace

import pytest

import volvelle
from volvelle import Catalogue
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import MappingTable

_HOSTLESS = {
    *("cs2-cluster", "cs3-cluster", "dojo-exapod", "el-capitan", "fugaku", "hector-xe6"),
    *("sn10-node", "sn30-node", "sn40l-node"),
}
"""Clusters whose chips are their own hosts, or are fed by machines that nobody describes."""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


def test_every_cluster_with_hosts_states_their_memory(catalogue: Catalogue) -> None:
    for name in catalogue.names("clusters"):
        cluster = catalogue.node(name)
        assert (cluster.host_memory is None) == (name in _HOSTLESS), name
        if cluster.host_rate is not None:
            assert cluster.host_memory_rate is not None, name


@pytest.mark.parametrize("system", ["dgx-h100/8", "gb200-nvl72/8", "frontier/16", "mi300x-cluster/8", "perlmutter/16"])
def test_no_layout_that_plan_ranks_takes_more_host_memory_than_there_is(catalogue: Catalogue, system: str) -> None:
    found = volvelle.plan("llama3-70b", on=system, batch=64, sequence=4096, offload=True, top=20, catalogue=catalogue)
    share = found.cluster.host_memory
    assert share is not None
    for layout in found.layouts:
        estimate = ClosedForm().estimate(found.step, found.cluster, layout.mapping)
        assert estimate.facts.get("host_memory_bytes", 0.0) <= 0.95 * share
        assert estimate.memory_bytes <= 0.95 * estimate.capacity


def test_llama_70b_on_eight_h100_says_what_it_takes(catalogue: Catalogue) -> None:
    question = {"on": "dgx-h100/8", "batch": 64, "catalogue": catalogue}
    assert not volvelle.plan("llama3-70b", **question).ranking.best  # type: ignore[arg-type]
    assert volvelle.plan("llama3-70b", offload=True, **question).ranking.best  # type: ignore[arg-type]


def test_off_loading_moves_bytes_and_does_not_lose_them(catalogue: Catalogue) -> None:
    question = {"on": "dgx-h100/8", "batch": 64, "tensor": 4, "catalogue": catalogue}
    here = volvelle.estimate("llama3-8b", **question).estimate  # type: ignore[arg-type]
    there = volvelle.estimate("llama3-8b", offload_optimiser=True, **question).estimate  # type: ignore[arg-type]
    parts = {part.name: part.bytes for part in here.memory}
    assert there.facts["host_memory_bytes"] == pytest.approx(parts["optimiser state"])
    assert there.memory_bytes == pytest.approx(here.memory_bytes - parts["optimiser state"])
    assert "host_memory_bytes" not in here.facts


def test_too_much_for_the_host_is_an_answer_with_cures(catalogue: Catalogue) -> None:
    answer = volvelle.estimate(
        "llama3-70b",
        on="dgx-h100/8",
        batch=64,
        tensor=4,
        micro_batch=8,
        zero=3,
        offload_activations=True,
        offload_optimiser=True,
        catalogue=catalogue,
    )
    (violation,) = answer.estimate.violations
    assert violation.name == "host capacity"
    assert "461 GB of host memory a chip" in violation.problem
    assert any(cure.startswith("--recompute full (") for cure in violation.cures)


def test_a_table_and_one_estimate_agree_on_what_the_host_holds(catalogue: Catalogue) -> None:
    answer = volvelle.estimate(
        "llama3-8b", on="dgx-h100/8", batch=64, zero=3, offload_activations=True, catalogue=catalogue
    )
    small = replace(answer.cluster, host_memory=answer.estimate.facts["host_memory_bytes"])
    table = MappingTable.of([answer.estimate.mapping])
    assert ClosedForm().table(answer.step, answer.cluster, table).feasible.all()
    assert ClosedForm().table(answer.step, small, table).violations["host capacity"].all()


@pytest.mark.long
def test_a_margin_is_left_free_alike_by_every_verb(catalogue: Catalogue) -> None:
    tight = {"on": "dgx-h100/64", "batch": 512, "sequence": 8192, "catalogue": catalogue}
    for margin, most in ((None, 0.95), ("20 %", 0.8), (0.0, 1.0)):
        plan = volvelle.plan("llama3-70b", margin=margin, top=20, **tight)  # type: ignore[arg-type]
        for layout in plan.layouts:
            answer = volvelle.estimate("llama3-70b", mapping=layout.mapping, margin=margin, **tight)  # type: ignore[arg-type]
            assert answer.estimate.feasible
            assert answer.estimate.memory_bytes <= most * answer.estimate.capacity


def test_the_probability_of_fitting_falls_as_memory_fills(catalogue: Catalogue) -> None:
    question = {"on": "dgx-h100/8", "zero": 3, "margin": 0.0, "recompute": "none", "catalogue": catalogue}
    found = [
        volvelle.estimate("llama3-8b", batch=8 * size, micro_batch=size, sequence=2048, **question).estimate.fits  # type: ignore[arg-type]
        for size in (1, 4, 5, 6, 8, 32)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.9  # type: ignore[operator]
    assert found[-1] < 0.05  # type: ignore[operator]


@pytest.mark.parametrize("margin", [-0.1, "95 %", "nan"])
def test_a_margin_outside_its_domain_is_refused(catalogue: Catalogue, margin: object) -> None:
    with pytest.raises(volvelle.VolvelleError, match="margin"):
        volvelle.plan("llama3-8b", on="dgx-h100/8", batch=64, margin=margin, catalogue=catalogue)  # type: ignore[arg-type]
