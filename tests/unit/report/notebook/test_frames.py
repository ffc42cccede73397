"""Rows as frames, and what is said where there is no library for them."""

import importlib.util
import sys

import pytest

from volvelle.errors import MissingExtraError, UnknownNameError
from volvelle.report.notebook.frames import columns_of, frame_of

ROWS = [{"name": "a", "run": {"days": 1, "usd": None}, "offload": []}, {"name": "b", "run": {"days": 2.5}, "new": True}]


def test_what_is_nested_becomes_columns_of_one_kind() -> None:
    assert columns_of(ROWS) == {
        "name": ["a", "b"],
        "run.days": [1.0, 2.5],
        "run.usd": [None, None],
        "offload": ["", None],
        "new": [None, True],
    }


def test_a_frame_has_a_row_for_each() -> None:
    pytest.importorskip("narwhals")
    pytest.importorskip("pyarrow")
    assert frame_of(ROWS, "pyarrow").num_rows == 2
    assert frame_of([], "pyarrow").num_rows == 0


def test_a_library_nobody_knows_is_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'pandas'"):
        frame_of(ROWS, "panda")


def test_a_library_that_is_missing_is_told_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("narwhals")
    monkeypatch.setattr("volvelle.report.notebook.frames.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="pip install polars"):
        frame_of(ROWS, "polars")
    with pytest.raises(MissingExtraError, match=r"pandas or polars or pyarrow, .* pip install pandas"):
        frame_of(ROWS)


def test_without_narwhals_one_is_told_which_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(MissingExtraError, match=r"volvelle\[frames\]"):
        frame_of(ROWS)


def test_polars_is_as_good() -> None:
    if importlib.util.find_spec("polars") is None:
        pytest.skip("polars is not installed")
    assert frame_of(ROWS, "polars").shape == (2, 5)
