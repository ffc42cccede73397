"""The verb ``map``, as a person types it."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.end_to_end.test_command import volvelle

STATE_SPACE = str(ROOT / "examples" / "graphs" / "state_space.yaml")
UNET = str(ROOT / "examples" / "graphs" / "unet.yaml")


DATAFLOW = ("--execution", "dataflow")


def mapped(*words: str) -> dict[str, object]:
    found = volvelle("map", *words, "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)  # type: ignore[no-any-return]


def test_a_graph_that_is_none_of_ours_is_mapped_with_a_proof() -> None:
    found = mapped(STATE_SPACE, "--on", "dgx-h100/8", "--micro-batches", "2", *DATAFLOW)
    assert found["proven"]
    assert found["gap"] <= 1e-6  # type: ignore[operator]
    parts = found["contributions"]
    assert sum(part["seconds"] for part in parts if part["exposed"]) == pytest.approx(found["seconds"])  # type: ignore[attr-defined]


def test_fusing_is_never_slower_than_kernel_by_kernel() -> None:
    fused, apart = (mapped(UNET, "--on", "dgx-h100/8", *DATAFLOW, *more) for more in ((), ("--no-fuse",)))
    assert fused["seconds"] < apart["seconds"]  # type: ignore[operator]
    assert apart["seconds"] == pytest.approx(apart["bound"], rel=1e-5)


def test_a_search_without_time_says_that_it_has_no_answer_not_that_nothing_runs() -> None:
    found = volvelle("map", "gpt2", "--on", "sn30-node/8", "--tp", "8", "--limit", "0.01")
    assert found.returncode == 1
    assert "no answer yet" in found.stdout
    assert "no plan was found within the time limit" in found.stdout
    assert "fix:" not in found.stdout
    assert "cannot run" not in found.stdout


@pytest.mark.long
def test_degrees_that_are_asked_for_are_kept() -> None:
    found = mapped(UNET, "--on", "dgx-h100/8", "--tp", "2", "--pp", "1", "--limit", "5")
    assert {axis: one["degree"] for axis, one in found["degrees"].items()} == {"tensor": 2, "pipeline": 1, "data": 4}  # type: ignore[attr-defined]


def test_pictures_of_the_graph_and_its_roofline_are_written(tmp_path: Path) -> None:
    found = volvelle("map", UNET, "--on", "dgx-h100/8", *DATAFLOW, "--out", str(tmp_path))
    assert found.returncode == 0
    assert "optimum, proven" in found.stdout
    pictures = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert set(pictures) == {"graph-small-U-Net.svg", "roofline.svg"}
    assert all(text.startswith("<svg") and text.endswith("</svg>\n") for text in pictures.values())
    assert pictures["graph-small-U-Net.svg"].count(": partition ") == 16


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no-such-graph", "--on", "dgx-h100/8"), "no graph"),
        ((UNET, "--on", "dgx-h100/8", "--tp", "3"), "makes 8 chips"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(words: tuple[str, ...], said: str) -> None:
    found = volvelle("map", *words)
    assert found.returncode == 2
    assert said in found.stderr


def test_a_cycle_is_refused_with_its_place(tmp_path: Path) -> None:
    graph = tmp_path / "loop.yaml"
    lines = ("name: loop", "sizes: {n: 4}", "inputs: {x: n}", "kernels:", "  a: pointwise x, b -> n")
    graph.write_text("\n".join((*lines, "  b: pointwise a -> n", "outputs: b")), "utf-8")
    found = volvelle("map", str(graph), "--on", "dgx-h100/8")
    assert found.returncode == 2
    assert "loop.yaml" in found.stderr
    assert "a → b → a" in found.stderr
