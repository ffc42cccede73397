"""What `volvelle mpi` answers, from traces that were recorded."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.conftest import ROOT
from tests.mpi_traces import trace_of
from volvelle.cli.mpi import mpi as command
from volvelle.errors import DescriptionError
from volvelle.estimators.message_passing.retimed import EAGER
from volvelle.interchange.mpi_traces.csv_file import read_events, write_events
from volvelle.questions.mpi import MpiQuestion
from volvelle.verbs.mpi import ROOFLINE, mpi

TRACES = {ranks: ROOT / "examples" / "mpi" / "traces" / f"conjugate_gradient-{ranks}.csv.gz" for ranks in (4, 8, 16)}


def test_a_recorded_trace_tells_partners_loops_and_collectives() -> None:
    told = mpi([TRACES[16]]).summary
    assert (told.ranks, told.messages, told.message_bytes) == (16, 750, 6000)
    assert [(phase.turns, phase.calls) for phase in told.phases] == [(1, 1), (25, 10), (1, 1)]
    assert [(use.call, use.count) for use in told.collectives] == [("allreduce", 51), ("gather", 1)]
    assert 1.0 <= told.imbalance < 1.5


def test_more_ranks_are_made_and_timed_on_a_machine() -> None:
    found = mpi(list(TRACES.values()), ranks=32, on="dgx-h100/32")
    assert found.extrapolated is not None
    assert all(found.extrapolated.exact.values())
    assert found.summary.messages == 31 * 2 * 25
    assert found.on is not None
    assert found.on.time > found.on.replayed.compute


def test_computation_is_scaled_as_stated_or_by_the_roofline() -> None:
    usual = mpi([TRACES[4]], on="dgx-h100/4").on
    stated = mpi([TRACES[4]], on="dgx-h100/4", compute_ratio=0.5).on
    faster = mpi([TRACES[4]], on="dgx-h100/4", recorded_on="dgx-a100/4", intensity=0.25).on
    assert usual is not None
    assert stated is not None
    assert faster is not None
    assert stated.replayed.compute == pytest.approx(usual.replayed.compute / 2)
    assert faster.ratio == pytest.approx(2.039e12 / 3.35e12, rel=0.01)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"compute_ratio": 2.0}, "compute_ratio is given and not used; give on, and only one way to scale"),
        ({"on": "dgx-h100/4", "intensity": 1.0}, "needs both recorded_on and intensity; give both, or compute_ratio"),
        ({"on": "dgx-h100/2"}, "has 4 ranks, and dgx-h100/2 has 2 chips"),
        ({"ranks": 32}, "the number of traces of different counts of ranks is 1"),
        ({"ranks": 0}, "ranks is 0; it must be a whole number from 1"),
        ({"on": "dgx-h100/4", "eager": "-1"}, "eager"),
    ],
)
def test_questions_that_make_no_sense_are_refused(more: dict[str, object], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        mpi([TRACES[4]], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("traces", "said"),
    [
        ((), "there are no traces; give at least one"),
        (None, "traces is None; it must be a path"),
        ((3,), "traces is 3; it must be a path"),
        ((TRACES[4], TRACES[4]), "2 traces are given, and some have the same number of ranks; give one"),
    ],
)
def test_traces_that_are_none_are_rejected(traces: Any, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        mpi(traces)


def test_messages_wait_for_receivers_from_the_size_on_that_programs_usually_have() -> None:
    assert MpiQuestion([TRACES[4]]).si("eager") == EAGER


def test_the_command_writes_trace_picture_and_json(tmp_path: Path) -> None:
    out, picture = tmp_path / "made.csv.gz", tmp_path / "matrix.png"
    asked = [*map(str, TRACES.values()), "--ranks", "32", "--out", str(out), "--matrix", str(picture), "--json"]
    done = CliRunner().invoke(command, asked)
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert (found["ranks"], found["messages"], found["extrapolation"]["not_generalised"]) == (32, 1550, [])
    assert read_events(out).ranks == 32
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_the_command_prints_phases_and_who_exchanges_most(tmp_path: Path) -> None:
    file = tmp_path / "short.csv"
    write_events(trace_of(tmp_path, "0 send 1 8 1 - 0.1", "1 recv 0 8 1", "0 barrier", "1 barrier"), file)
    done = CliRunner().invoke(command, [str(file), "--on", "dgx-h100/2"])
    assert done.exit_code == 0, done.output
    for words in ("Phases and loops", "Collectives", "Who exchanges most", "messages share links"):
        assert words in done.output


def test_the_time_lies_in_a_range_that_says_what_it_rests_on() -> None:
    found = mpi([TRACES[16]], on="dgx-h100/16").on
    assert found is not None
    assert found.sure.time.low <= found.time <= found.sure.time.high
    assert found.sure.time.low < found.sure.time.high
    assert sum(found.sure.shares.values()) == pytest.approx(1.0)
    assert all(not name.startswith("h100-sxm") for name in found.sure.time.varied), "computation is as recorded"
    assert any(name.startswith("measured collectives") for name in found.sure.time.varied)


def test_the_roofline_of_another_chip_widens_the_range_and_that_of_the_same_does_not() -> None:
    recorded, same, other = (
        mpi([TRACES[4]], on="dgx-h100/4", **more).on
        for more in (
            {},
            {"recorded_on": "dgx-h100/4", "intensity": 0.25},
            {"recorded_on": "dgx-a100/4", "intensity": 0.25},
        )
    )
    assert recorded is not None
    assert same is not None
    assert other is not None
    assert same.sure.time.high == recorded.sure.time.high
    assert other.sure.time.high / other.time > same.sure.time.high / same.time
    assert ROOFLINE in other.sure.time.varied
    assert ROOFLINE not in same.sure.time.varied


def test_the_same_seed_gives_the_same_digits_by_flows_and_by_laws() -> None:
    for sharing in ("flows", "laws"):
        first, again, another = (
            mpi([TRACES[8]], on="dgx-h100/16", sharing=sharing, seed=seed).on  # type: ignore[arg-type]
            for seed in (0, 0, 1)
        )
        assert first is not None
        assert again is not None
        assert another is not None
        assert first.sure == again.sure
        assert first.sure.time != another.sure.time


def test_a_program_that_only_computes_as_recorded_is_as_sure_as_that(tmp_path: Path) -> None:
    file = tmp_path / "alone.csv"
    write_events(trace_of(tmp_path, "0 barrier - - - - 0.1", "0 barrier - - - - 0.2"), file)
    found = mpi([file], on="dgx-h100/1").on
    assert found is not None
    assert found.sure.time.low == pytest.approx(found.sure.time.high) == pytest.approx(0.3)
    assert found.sure.shares == {"computation": pytest.approx(1.0)}


def test_the_document_of_a_trace_on_a_machine_has_its_range() -> None:
    done = CliRunner().invoke(command, [str(TRACES[4]), "--on", "dgx-h100/4", "--json"])
    told = json.loads(done.output)["retimed"]
    assert told["range"]["low"] <= told["seconds"] <= told["range"]["high"]
    assert told["range"]["level"] == 0.8
    assert set(told["rests_on_shares"]) <= {"computation", "messages", "collectives"}
    assert told["weakest_evidence"] in ("measured", "vendor", "derived", "assumed")
