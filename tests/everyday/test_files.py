"""Files that are not what they should be: refused early, in one line, whatever they stand for."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.everyday.asking import ask
from tests.everyday.mutation import bomb

LLAMA = json.loads((ROOT / "tests" / "data" / "huggingface" / "llama-3-8b.json").read_text("utf-8"))
GRAPH = (ROOT / "examples" / "graphs" / "mlp.yaml").read_text("utf-8")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e30", "1e400", "-4", "0.5", "true", "[1]", '"x"'])
def test_a_size_of_a_config_is_a_whole_number_that_a_model_may_have(tmp_path: Path, value: str) -> None:
    said = f'"num_hidden_layers": {LLAMA["num_hidden_layers"]}'
    text = json.dumps(LLAMA).replace(said, f'"num_hidden_layers": {value}')
    (tmp_path / "config.json").write_text(text)
    for verb in ("estimate", "plan"):
        reply = ask(tmp_path, verb, "config.json", "--on", "dgx-h100/8", "--batch", "8")
        assert (reply.status, reply.out) == (2, "")
        assert "num_hidden_layers is " in reply.last
        assert "it must be a whole number" in reply.last


@pytest.mark.parametrize("depth", [pytest.param(5_000, marks=pytest.mark.long), 100_000])
@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("config.json", ("estimate", "config.json", "--on", "dgx-h100/8", "--batch", "8")),
        ("study.yaml", ("explore", "study.yaml")),
        ("graph.yaml", ("map", "graph.yaml", "--on", "dgx-h100/8")),
        ("dlrm.json", ("plan", "dlrm", "dlrm.json", "--on", "dgx-h100/8")),
    ],
)
def test_values_within_values_without_end_are_refused(
    tmp_path: Path, file: str, words: tuple[str, ...], depth: int
) -> None:
    (tmp_path / file).write_text("[" * depth + "]" * depth)
    reply = ask(tmp_path, *words)
    assert (reply.status, reply.out) == (2, "")
    assert "nested" in reply.last
    assert len(reply.err) < 500


@pytest.mark.parametrize("words", [("explore", "bomb.yaml"), ("map", "bomb.yaml", "--on", "dgx-h100/8")])
def test_ten_lines_that_stand_for_a_thousand_million_values_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "bomb.yaml").write_bytes(bomb())
    reply = ask(tmp_path, *words)
    assert reply.status == 2
    assert "stands for more than 500,000 values" in reply.last
    assert len(reply.err) < 500


def test_a_value_that_holds_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "self.yaml").write_text("name: &a [*a]\n")
    reply = ask(tmp_path, "explore", "self.yaml")
    assert reply.status == 2
    assert "nested more than 50 levels deep" in reply.last


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x00" * 100, "is binary"),
        ("name: x".encode("utf-16"), "cannot be read as text in UTF-8"),
        (b"#" * (17 * 2**20), "is larger than 16 MiB"),
        (b"", "holds NoneType, not named fields"),
        (b"a: " + b"9" * 5000, "is not YAML"),
    ],
)
def test_what_is_no_text_of_this_kind_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "study.yaml").write_bytes(content)
    reply = ask(tmp_path, "explore", "study.yaml")
    assert reply.status == 2
    assert says in reply.last


def test_sizes_of_a_graph_have_an_end(tmp_path: Path) -> None:
    (tmp_path / "graph.yaml").write_text(GRAPH.replace("hidden: 4096", "hidden: 1.0e+30", 1))
    reply = ask(tmp_path, "map", "graph.yaml", "--on", "dgx-h100/8", "--limit", "5")
    assert reply.status == 2
    assert "the size of 'hidden' is 1e+30; it must be a number" in reply.last


def test_a_message_cuts_what_it_quotes(tmp_path: Path) -> None:
    reply = ask(tmp_path, "estimate", "x" * 1_000_000, "--on", "dgx-h100/8", "--batch", "8")
    assert reply.status == 2
    assert len(reply.err) < 5000
