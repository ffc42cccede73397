"""Words on what is being done, where somebody watches."""

import io

import pytest

from volvelle.cli.waiting import counting, waiting


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _said(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, columns: int) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stderr", stream)
    with waiting("following requests") as told:
        told("following others")
    return stream.getvalue()


def test_words_are_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "following" in _said(monkeypatch, _Terminal(), 80)


def test_a_terminal_too_narrow_for_words_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _said(monkeypatch, _Terminal(), 5) == ""


def test_a_file_gets_no_words_even_where_colours_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _said(monkeypatch, io.StringIO(), 80) == ""


def test_a_count_is_written_over_the_last_one_and_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stderr", terminal)
    with counting("{:,} of {:,} candidates", quiet=False) as told:
        told(1000, 2000)
    assert terminal.getvalue().startswith("\r1,000 of 2,000 candidates\r ")
    with counting("{:,} layouts", quiet=True) as told:
        told(1)
    assert "layouts" not in terminal.getvalue()
