"""A place that cannot be read or written is refused before anything is computed."""

from pathlib import Path

import pytest

import volvelle
from tests.everyday.asking import ask

_ESTIMATE = ("estimate", "llama3-8b", "--on", "dgx-h100/8", "--batch", "8")
_STUDY = str(Path("examples/studies/which-chip-for-a-graph.yaml").resolve())


@pytest.mark.parametrize(
    "words",
    [
        ("explore", _STUDY, "--out", "s3://bucket/x"),
        ("explore", _STUDY, "--out=gs://bucket/x"),
        ("explore", "https://example.org/study.yaml"),
        (*_ESTIMATE, "--html", "az://container/page.html"),
        (*_ESTIMATE, "--catalogue", "s3://bucket/catalogue"),
        (*_ESTIMATE, "--calibrated", "hdfs://cluster/mine.yaml"),
        ("calibrate", "from", "s3://bucket/run.log", "--on", "dgx-h100/8", "--save", "mine.yaml"),
        ("validate", "training", "--data", "http://example.org/rows.csv"),
        ("serve", "llama3-8b", "--on", "dgx-h100/8", "--load", "trace s3://bucket/requests.csv"),
        ("replay", "s3://bucket/trace.json", "--on", "dgx-h100/8"),
        ("map", "gs://bucket/graph.yaml", "--on", "dgx-h100/8"),
    ],
    ids=lambda words: " ".join(words[-2:])[-40:],
)
def test_a_place_with_a_scheme_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    reply = ask(tmp_path, *words)
    assert reply.status == 2
    assert "is not a local path" in reply.last
    assert "not supported" in reply.last
    assert reply.out == ""
    assert list(tmp_path.iterdir()) == []


def test_python_refuses_a_place_with_a_scheme_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for out in ("s3://bucket/x", Path("s3://bucket/x")):
        with pytest.raises(volvelle.DescriptionError, match="is not a local path"):
            volvelle.explore(_STUDY, out=out)
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_the_hub_may_be_named_by_its_address(tmp_path: Path) -> None:
    words = ("estimate", "https://huggingface.co/meta-llama/Meta-Llama-3-8B", "--on", "dgx-h100/8", "--batch", "8")
    assert "is not a local path" not in ask(tmp_path, *words).err
