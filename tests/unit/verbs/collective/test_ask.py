"""One collective: what training would say of it, over any group, by any algorithm the network can do."""

from typing import Any

import numpy as np
import pytest

import volvelle
from volvelle import Catalogue, DescriptionError, UnknownNameError, VolvelleError
from volvelle.estimators.collectives import NESTED
from volvelle.estimators.rates import SustainedRates
from volvelle.questions.collective import CollectiveQuestion, FlowQuestion

GROUPS = {"dgx-h100/1024": ((None, 1024, 1), ("1x64", 64, 8), ("8x64", 512, 1), ("2x64", 128, 4), (8, 8, 1))}


@pytest.mark.parametrize("operation", NESTED, ids=lambda kind: kind.value)
@pytest.mark.parametrize(("group", "count", "stride"), GROUPS["dgx-h100/1024"])
def test_it_equals_the_law_that_training_uses(
    operation: Any, group: Any, count: int, stride: int, catalogue: Catalogue
) -> None:
    rates = SustainedRates.of(catalogue.cluster("dgx-h100/1024"), "bf16")
    for size in (4096.0, 3e6, 1e9):
        answer = volvelle.collective(operation.value, size, on="dgx-h100/1024", group=group)
        trained = float(NESTED[operation](size, rates.tiers(float(count), float(stride))))
        assert answer.time == pytest.approx(trained, rel=1e-12)
        assert answer.chips == count


def test_the_gradients_of_replicas_are_one_of_it() -> None:
    step = volvelle.estimate("gpt2", on="dgx-h100/64", batch=64, zero=0, overlap=False)
    spent = sum(line.time for line in step.estimate.contributions if line.name == "gradient reduction (DP)")
    size = float(step.parameters * 4)
    assert volvelle.collective("all-reduce", size, on="dgx-h100/64").time == pytest.approx(spent, rel=1e-12)


def test_names_are_read_whatever_their_case_and_punctuation() -> None:
    times = {volvelle.collective(name, "1 GB", on="dgx-h100/8").time for name in ("all-reduce", "AllReduce")}
    assert len(times) == 1


def test_rates_are_those_of_nccl_tests() -> None:
    reduced = volvelle.collective("all-reduce", "1 GB", on="dgx-h100/8")
    assert reduced.algorithm_rate == pytest.approx(1e9 / reduced.time)
    assert reduced.bus_rate == pytest.approx(1e9 / reduced.time * 2 * 7 / 8)
    gathered = volvelle.collective("all-gather", "1 GB", on="dgx-h100/8")
    assert gathered.bus_rate == pytest.approx(1e9 / gathered.time * 7 / 8)
    sent = volvelle.collective("broadcast", "1 GB", on="dgx-h100/8")
    assert sent.bus_rate == pytest.approx(1e9 / sent.time)


def test_what_binds_is_the_slow_link_of_long_messages_and_launching_of_short_ones() -> None:
    assert volvelle.collective("all-reduce", "4 GB", on="dgx-h100/1024").bound == (
        "the rate of InfiniBand NDR (infiniband-ndr400)"
    )
    assert volvelle.collective("all-reduce", "1 kB", on="dgx-h100/8").bound == "launching"
    assert volvelle.collective("all-reduce", "1 kB", on="dgx-h100/1024").bound.startswith("the latency of InfiniBand")


def test_time_grows_with_the_message_and_lies_in_its_range() -> None:
    answer = volvelle.collective("all-reduce", "1 GB", on="dgx-h100/1024")
    times = [point.time for point in answer.by_size]
    assert times == sorted(times)
    assert answer.range.low < answer.time < answer.range.high
    assert [point.chips for point in answer.by_group] == [2**power for power in range(1, 11)]
    assert answer.by_group[-1].time == pytest.approx(answer.time, rel=1e-12)


def test_a_faster_link_is_beside_the_machine_as_it_is() -> None:
    answer = volvelle.collective("all-reduce", "1 GB", on="dgx-h100/1024", set={"scale_out.rate": "2x"})
    assert answer.baseline is not None
    assert answer.time < answer.baseline.time
    assert answer.baseline.time == volvelle.collective("all-reduce", "1 GB", on="dgx-h100/1024").time


def test_an_algorithm_is_refused_where_the_network_cannot_do_it() -> None:
    """A torus joins neighbours, HDR InfiniBand is taken to add nothing up; eight MI300X have links of their own."""
    with pytest.raises(DescriptionError, match="does not join any two"):
        volvelle.collective("all-reduce", "1 GB", on="tpu-v4-pod/64", algorithm="halving-doubling")
    with pytest.raises(DescriptionError, match="can add up what it forwards; use nested or ring"):
        volvelle.collective("all-reduce", "1 GB", on="dgx-a100/64", algorithm="in-network")
    with pytest.raises(DescriptionError, match="no link of their own"):
        volvelle.collective("all-reduce", "1 GB", on="dgx-a100/8", algorithm="direct")
    assert volvelle.collective("all-reduce", "1 GB", on="mi300x-cluster/8", algorithm="direct").time > 0


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"size": "0 B"}, "size is 0 B; it must be a data size from 1 B"),
        ({"size": "-1 GB"}, "size is -1 GB; it must be"),
        ({"size": "1"}, "has no unit"),
        ({"operation": "all-reduc"}, "did you mean 'all-reduce'"),
        ({"algorithm": "butterfly"}, "there is no algorithm 'butterfly'; there are: direct"),
        ({"operation": "all-gather", "algorithm": "tree"}, "which all-gather does not have; use nested, ring"),
        ({"group": 2048}, "dgx-h100/64 has 64: give at most that many, or a larger machine, like dgx-h100/2048"),
        ({"group": "16x4"}, "group is 16x4, 16 along NVSwitch; dgx-h100/64 has 8 there"),
        ({"group": "2x2x2"}, "3 dimensions; dgx-h100/64 has 2"),
        ({"group": 24}, "does not divide the 64 GPUs of dgx-h100/64; give 16 or 32"),
        ({"group": 1}, "group is 1; a collective needs at least two GPUs"),
        ({"group": "0x8"}, "group is '0x8'; it must be a whole number from 1 to 100,000,000, or several with 'x'"),
        ({"group": "eight"}, "group is 'eight'; it must be a whole number"),
        ({"group": ""}, "group is ''; it must be a whole number"),
        ({"group": ()}, r"group is \(\); it must be a whole number"),
        ({"group": (8, True)}, r"group is True; it must be a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(question: dict[str, Any], says: str) -> None:
    asked: dict[str, Any] = {"operation": "all-reduce", "size": "1 GB", "on": "dgx-h100/64", **question}
    with pytest.raises((DescriptionError, UnknownNameError), match=says):
        volvelle.collective(**asked)


def test_as_flows_it_says_what_routes_placement_and_others_cost() -> None:
    asked = FlowQuestion(placement="shuffled", routing="random", beside=("same",), seed=1)
    answer = volvelle.collective("all-reduce", "100 MB", on="dgx-h100/1024", group="1x64", flows=asked)
    assert answer.flows is not None
    found = answer.flows.times
    assert found.factor > 1.5
    assert np.prod(list(found.causes.values())) == pytest.approx(found.factor)
    assert found.limiting.name.startswith("InfiniBand NDR rail 0: leaf")
    alone = volvelle.collective("all-reduce", "100 MB", on="dgx-h100/1024", group="1x64", flows=FlowQuestion()).flows
    assert alone is not None
    assert alone.times.factor == pytest.approx(1.0, rel=1e-9)


def test_flows_are_asked_for_by_options_or_by_one_value() -> None:
    asked: dict[str, Any] = {"on": "dgx-h100/1024", "group": "1x64"}
    stated: dict[str, Any] = {"placement": "shuffled", "routing": "random", "beside": "same", "seed": 1}
    by_options = volvelle.collective("all-reduce", "100 MB", estimator="flows", **stated, **asked)
    by_value = volvelle.collective("all-reduce", "100 MB", flows=FlowQuestion(**stated), **asked)
    assert by_options.to_dict() == by_value.to_dict()
    assert by_options.flows is not None
    with pytest.raises(DescriptionError, match="both flows and placement are given; give one or the other"):
        volvelle.collective("all-reduce", "100 MB", flows=FlowQuestion(), placement="shuffled", **asked)
    for name, value in stated.items():
        with pytest.raises(DescriptionError, match=f"{name} is given and not used; add estimator='flows'"):
            volvelle.collective("all-reduce", "100 MB", **asked, **{name: value})


def test_a_group_is_typed_as_it_is_read() -> None:
    question = CollectiveQuestion("all-reduce", "1GB", on="dgx-h100/1024", group=(8, 64))
    assert question.command == "volvelle collective all-reduce 1GB --group 8x64 --on dgx-h100/1024"
    assert question == CollectiveQuestion("all-reduce", "1GB", on="dgx-h100/1024", group="8×64")
    assert CollectiveQuestion("all-reduce", "1GB", on="dgx-h100/1024", group="64").group == 64


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (FlowQuestion(placement="upside-down"), "placement"),
        (FlowQuestion(routing="valiant"), "routing rule"),
        (FlowQuestion(beside=("everything",)), "beside is 'everything'"),
        (FlowQuestion(beside=("same",) * 9), "10 jobs of 64 units"),
    ],
)
def test_what_flows_cannot_be_asked_is_refused_by_name(asked: FlowQuestion, said: str) -> None:
    with pytest.raises(VolvelleError, match=said):
        volvelle.collective("all-reduce", "100 MB", on="dgx-h100/1024", group="1x64", flows=asked)


def test_a_network_that_adds_up_takes_its_law_as_flows() -> None:
    answer = volvelle.collective("all-reduce", "1 GB", on="dgx-h100/8", algorithm="in-network", flows=FlowQuestion())
    assert answer.flows is not None
    assert answer.flows.times.factor == pytest.approx(1.0, rel=0.02)


def test_what_nccl_would_choose_is_told_where_its_cost_model_knows_the_machine() -> None:
    answer = volvelle.collective("all-reduce", "1GB", on="dgx-h100/8")
    assert answer.library is not None
    assert answer.library.chosen == "switch Simple"
    assert answer.library.time == pytest.approx(answer.time, rel=0.05)
    over_nodes = volvelle.collective("all-reduce", "1GB", on="dgx-h100/64").by_size
    assert {point.library.chosen.split()[-1] for point in over_nodes if point.library} == {"LL", "LL128", "Simple"}


@pytest.mark.parametrize(
    ("operation", "on"),
    [("all-reduce", "mi300x-cluster/8"), ("all-to-all", "dgx-h100/8"), ("all-reduce", "dgx-v100/8")],
)
def test_it_is_silent_about_machines_and_collectives_that_it_does_not_know(operation: str, on: str) -> None:
    answer = volvelle.collective(operation, "1GB", on=on)
    assert answer.library is None
    assert all(point.library is None for point in answer.by_size)
