"""Points whose work is a graph to map: the answer of the verb, or the reason why there is none."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")

from tests.conftest import ROOT
from volvelle.errors import DescriptionError, MappingError, UnknownNameError
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.points import REASONS
from volvelle.studies.mapped.mapping_search import MappingSearch
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
    real = MappingSearch.answer
    monkeypatch.setattr(MappingSearch, "answer", lambda self, *given: asked.append(given) or real(self, *given))
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
        ({"map": "gpt3-175b", "train": "gpt3-175b"}, {}, "one of train: MODEL, map: GRAPH, serve"),
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


STATED: dict[str, Any] = {
    "workloads": [
        {
            "map": "gpt3-175b",
            "gpt_layer_only": True,
            "micro_batches": 64,
            "tensor": 8,
            "pipeline": 4,
            "execution": "kernels",
            "assumptions": {"split": ["heads", "ffn"], "summed": "q_bwd", "matrix_share": "90 %"},
        }
    ],
    "system": "sn30-node/32",
    "axes": {"network.shape": ["ring 8, switch 4", "switch 8, ring 2, ring 2"], "network.link": ["sn-pcie", "nvlink4"]},
    "measures": ["mfu", "machine_usd"],
    "costs": {"model": "dfmodel", "counts": "dfmodel", "plant": False},
}


def test_a_mapping_that_is_stated_is_charged_as_stated_on_any_shape_of_network() -> None:
    shaped = {**STATED["axes"], "network.shape": "ring 8, switch 4"}
    slow, fast = evaluator(**{**STATED, "axes": shaped}).rows(0, 2).columns["time"]
    assert fast < slow
    eased = {**STATED["workloads"][0], "assumptions": {**STATED["workloads"][0]["assumptions"], "summed": []}}
    assert evaluator(**{**STATED, "axes": shaped, "workloads": [eased]}).rows(0, 1).columns["time"][0] < slow


def test_a_stated_group_must_have_whole_dimensions_of_the_network() -> None:
    for shape, says in (("ring 16, ring 2", "no whole dimension"), ("ring 8, ring 2, ring 2", "along 2 network")):
        with pytest.raises(MappingError, match=says):
            evaluator(**{**STATED, "axes": {"network.shape": shape}}).rows(0, 1)


def test_a_shape_in_words_that_is_none_says_how_to_write_one() -> None:
    for words, says in (("ring", "such as 'ring 8, switch 128'"), ("ring 8, ring 8", "joins 64 accelerators")):
        with pytest.raises(DescriptionError, match=says):
            evaluator(**{**STATED, "axes": {"network.shape": words}}).rows(0, 1)


def test_links_and_ports_are_counted_as_the_study_says() -> None:
    shaped = {**STATED["axes"], "network.shape": "ring 8, switch 4"}
    plain = evaluator(**{**STATED, "axes": shaped}).rows(0, 1).columns["machine_usd"][0]
    costs = {**STATED["costs"], "counts": "cables"}
    cabled = evaluator(**{**STATED, "axes": shaped, "costs": costs}).rows(0, 1).columns["machine_usd"][0]
    assert plain != cabled


def test_assumptions_state_one_mapping() -> None:
    several = {**STATED["workloads"][0], "pipeline": [2, 4]}
    with pytest.raises(MappingError, match="ways to share 32 chips"):
        evaluator(**{**STATED, "workloads": [several]}).rows(0, 1)
