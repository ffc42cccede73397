"""Points whose work is a graph to map: the answer of the verb, or the reason why there is none."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")

from tests.conftest import ROOT
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.points import REASONS
from volvelle.studies.mapped.map_question import MapQuestion
from volvelle.verbs.map import map as map_graph

GRAPH = ROOT / "examples" / "graphs" / "unet.yaml"
FIELDS: dict[str, Any] = {
    "name": "mapped",
    "workloads": [{"map": str(GRAPH), "name": "unet", "micro_batches": 64, "execution": "dataflow"}],
    "system": "sn30-node/8",
    "axes": {"chip.memory.rate": ["300 GB/s", "1 TB/s"], "chip.price": ["10000 USD", "20000 USD"]},
    "objectives": ["time"],
}


def evaluator(**changes: object) -> Evaluator:
    return Evaluator(study=read_study({**FIELDS, **changes}))


def test_a_point_takes_what_the_verb_says() -> None:
    found = evaluator().rows(0, 1)
    asked = map_graph(
        GRAPH, on="sn30-node/8", execution="dataflow", micro_batches=64, set={"chip.memory.rate": "300 GB/s"}
    )

    assert asked.mapping.plan is not None
    assert found.columns["time"][0] == pytest.approx(asked.mapping.plan.time, rel=1e-12)
    assert found.columns["memory"][0] == asked.mapping.plan.memory_bytes
    assert found.columns["mfu"][0] == pytest.approx(asked.mapping.plan.utilisation, rel=1e-12)
    assert found.columns["gap"][0] == 0.0
    assert found.columns["tensor"][0] == asked.mapping.plan.degrees.tensor


def test_machines_that_differ_in_price_alone_are_mapped_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    real = MapQuestion.answer
    monkeypatch.setattr(MapQuestion, "answer", lambda self, *given: asked.append(given) or real(self, *given))
    found = evaluator().rows(0, 4)

    assert len(found) == 4
    assert len(asked) == 2


def test_an_axis_may_name_the_workload_that_runs() -> None:
    works = [*FIELDS["workloads"], {"map": str(GRAPH), "name": "half", "micro_batches": 32, "execution": "dataflow"}]
    alone = evaluator(workloads=works, axes={"workload": ["unet", "half"]}).rows(0, 2)
    mixed = evaluator(workloads=works, axes={"accelerators": [8]}).rows(0, 1)

    assert mixed.columns["time"][0] == pytest.approx(sum(alone.columns["time"]), rel=1e-12)
    assert "time.half" in mixed.columns
    assert "time.half" not in alone.columns


def test_an_axis_may_vary_what_is_asked_of_the_mapping() -> None:
    found = evaluator(axes={"workload.tensor": [1, 2]}).rows(0, 2)

    assert found.columns["tensor"].tolist() == [1.0, 2.0]


def test_a_graph_that_no_chip_can_hold_says_what_stops_it() -> None:
    found = evaluator(axes={"chip.buffer": ["10 kB"]}).rows(0, 1)

    assert not found.feasible[0]
    assert REASONS[found.reason[0]] == "chip"


@pytest.mark.parametrize(
    ("work", "axes", "said"),
    [
        ({"map": "no-such.yaml"}, {}, "'no-such.yaml' does not exist"),
        ({"map": "gpt3-175b", "train": "gpt3-175b"}, {}, "one of train: MODEL, map: GRAPH, or run"),
        ({"map": "gpt3-175b", "batch": 3}, {}, "batch means nothing to gpt3-175b"),
        ({"train": "gpt3-175b", "batch": 3, "fuse": False}, {}, "fuse means nothing to gpt3-175b"),
        ({"map": "gpt3-175b"}, {"workload": ["other"]}, "axis workload: there is no workload 'other'"),
        ({"map": "gpt3-175b"}, {"workload.batch": [3]}, "no workload of the study has it"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(work: dict[str, object], axes: dict[str, object], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        evaluator(workloads=[work], axes=axes or FIELDS["axes"])


def test_an_unknown_graph_is_told_with_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match="workload 'gpt9'"):
        evaluator(workloads=[{"map": "gpt9"}]).rows(0, 1)


def test_a_study_holds_the_graph_whose_file_it_names(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GRAPH.read_text("utf-8"), "utf-8")
    file = tmp_path / "study.yaml"
    file.write_text("{name: a, workloads: [{map: mine.yaml}], system: sn30-node/8, axes: {accelerators: [8]}}", "utf-8")
    study = read_study(file)
    (tmp_path / "mine.yaml").unlink()

    again = read_study(study.form.model_dump(mode="json", by_alias=True))

    assert isinstance(study.form.workloads[0].map, dict)
    assert again.fingerprint == study.fingerprint
