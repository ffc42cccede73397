"""Files whose figures name their sources, read into values."""

from pathlib import Path

import pytest

from volvelle.applications.model_error import ModelError
from volvelle.catalogue.sourced_file import Form, Share, ShareFigure, Time, Whole, read_sourced
from volvelle.errors import DescriptionError, SourceError

FIGURE = "{value: %s, kind: assumed, source: volvelle-assumption, note: why}"


class Part(Form):
    share: Share
    same: ShareFigure
    delay: Time
    count: Whole


def written(folder: Path, text: str) -> Path:
    file = folder / "part.yaml"
    file.write_text(text, "utf-8")
    return file


def lines(**values: str) -> str:
    return "\n".join(f"{name}: {FIGURE % value}" for name, value in values.items())


def test_figures_become_values_in_units_of_the_package(tmp_path: Path) -> None:
    text = lines(share="40 %", same="40 %", delay="3 us", count="7")
    part = read_sourced(written(tmp_path, text), Part, name="part.yaml")
    assert (part.share, part.delay, part.count) == (pytest.approx(0.4), pytest.approx(3e-6), 7)
    assert (part.same.value, part.same.source, part.same.note) == (part.share, "volvelle-assumption", "why")


@pytest.mark.parametrize(
    ("before", "after", "error", "said"),
    [
        ("source: volvelle-assumption", "source: nobody", SourceError, "part.yaml: share cites 'nobody'"),
        ("3 us", "3 GB", DescriptionError, "part.yaml: delay"),
        ("value: 7", "value: 7.5", DescriptionError, "part.yaml: count is 7.5; it must be a whole number"),
        ("count:", "number:", DescriptionError, "part.yaml does not load"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_field(
    tmp_path: Path, before: str, after: str, error: type[Exception], said: str
) -> None:
    text = lines(share="40 %", same="40 %", delay="3 us", count="7").replace(before, after, 1)
    with pytest.raises(error, match=said):
        read_sourced(written(tmp_path, text), Part, name="part.yaml")


def test_a_dataclass_knows_no_other_field_either(tmp_path: Path) -> None:
    doubts = lines(inside="1.1", chip="1.2", doubling="1.3")
    assert read_sourced(written(tmp_path, doubts), ModelError, name="part.yaml").chip == 1.2
    with pytest.raises(DescriptionError, match="does not load"):
        read_sourced(written(tmp_path, f"{doubts}\nchipp: 1\n"), ModelError, name="part.yaml")
