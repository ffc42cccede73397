"""Fields of a measured row, each from the column that holds it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from volvelle.applications.measured_table import RowHead, read_columns
from volvelle.applications.table_cells import column, columns_that, fields_from
from volvelle.errors import DescriptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Sprint:
    head: RowHead
    runner: str
    laps: int | None = column("laps", "rounds", needed=True)
    seconds: float | None = column("time_ms", scale=1e-3, measured=True)
    wind: float | None = column("wind", zero=True)
    indoors: bool | None = None
    widths: tuple[int, ...] = column("lanes")


def test_a_field_is_read_by_its_kind_in_the_unit_of_the_package() -> None:
    cells = {"runner": "A", "laps": "3", "time_ms": "12", "wind": "0", "indoors": "yes", "lanes": "4-2"}
    assert fields_from(Sprint, cells) == {
        "runner": "A",
        "laps": 3,
        "seconds": pytest.approx(0.012),
        "wind": 0.0,
        "indoors": True,
        "widths": (4, 2),
    }


def test_the_first_filled_column_counts_and_an_empty_one_is_nothing() -> None:
    assert fields_from(Sprint, {"laps": "", "rounds": "5"})["laps"] == 5
    assert set(fields_from(Sprint, {}).values()) == {"", None, ()}


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"rounds": "2.5"}, "rounds is 2.5; it must be a whole number"),
        ({"time_ms": "0"}, "time_ms is 0; it must be a positive number"),
        ({"indoors": "maybe"}, "indoors is 'maybe'; it must be 0 or 1"),
        ({"lanes": "4-x"}, "lanes is '4-x'; it must be widths joined by hyphens"),
    ],
)
def test_a_cell_of_another_kind_is_told_by_its_column(cells: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fields_from(Sprint, cells)


def test_a_table_must_have_what_its_rows_need_and_something_measured(tmp_path: Path) -> None:
    assert (columns_that(Sprint, "needed"), columns_that(Sprint, "measured")) == (("laps",), ("time_ms",))
    file = tmp_path / "sprints.csv"
    file.write_text("row_id,runner\nA,B\n", "utf-8")
    with pytest.raises(DescriptionError, match="lacks the columns laps, time_ms"):
        read_columns("sprints", Sprint, file=file)
    file.write_text("row_id,runner,laps,time_ms\nX,B,3,12\n", "utf-8")
    (row,) = read_columns("sprints", Sprint, file=file).rows
    assert (row.head.row_id, row.head.split, row.runner, row.laps) == ("X", "given", "B", 3)
