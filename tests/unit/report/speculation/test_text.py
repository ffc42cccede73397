"""What drafts change, in words."""

import pytest

import volvelle
from volvelle.report.serving.text import print_serving
from volvelle.report.speculation.text import gain_lines, gain_sheets, loss_text

ASKED = {"on": "dgx-h100/8", "weights": "fp8", "batch": 16}


@pytest.mark.parametrize(
    ("speculate", "said"),
    [
        ("ngram 4", "a loss from batch"),
        ("ngram 4 acceptance 0", "a loss at every batch"),
        ("eagle 1 acceptance 1 decay 1", "a gain at every batch that fits"),
    ],
)
def test_it_says_where_a_gain_turns_into_a_loss(speculate: str, said: str) -> None:
    found = volvelle.serve("llama3-70b", speculate=speculate, **ASKED).speculation  # type: ignore[arg-type]
    assert found is not None
    assert loss_text(found).startswith(said)
    assert any("without" in line for line in gain_lines(found))
    assert [sheet.title for sheet in gain_sheets(found)] == ["Gain against the batch", "By drafted tokens"]


def test_the_answer_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_serving(volvelle.serve("llama3-70b", speculate="eagle 3 tree 4x2", **ASKED))  # type: ignore[arg-type]
    told = capsys.readouterr().out
    assert "as DFModel counts" in " ".join(told.replace("│", " ").split())
    assert max(len(line) for line in told.splitlines()) <= 80
