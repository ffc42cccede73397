"""Files that commands write for others: read back as written, and refused with what makes a right one."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.saved_file import is_yaml_name, read_saved_file, write_saved_file
from volvelle.errors import DescriptionError


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    factors: dict[str, float] = {}


ASKED = {"made_by": "volvelle keep", "looks": "a kept file has a name"}


def test_what_was_written_is_read_back_in_the_order_of_its_fields(tmp_path: Path) -> None:
    kept, path = _Kept(name="a", factors={"z": 1.5, "b": 0.1}), tmp_path / "kept.yaml"
    write_saved_file(kept, path, says="What was kept")
    assert read_saved_file(path, _Kept, **ASKED) == kept
    text = path.read_text("utf-8")
    assert text.startswith("# What was kept\nname: a\n")
    assert text.index("z:") < text.index("b:")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: [", "is not YAML"),
        ("factors: {}", "name: Field required; a kept file has a name"),
        ("name: a\nother: 1", "other: Extra inputs are not permitted"),
        ("- 1", "a kept file has a name"),
        ("&a [*a, *a]", "kept.yaml"),
    ],
)
def test_what_is_no_such_file_is_refused_by_its_name(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "kept.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(DescriptionError, match=r"kept\.yaml") as refused:
        read_saved_file(path, _Kept, **ASKED)
    assert told in str(refused.value)


def test_a_file_that_is_not_there_is_named_with_the_command_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"volvelle keep --save none\.yaml"):
        read_saved_file(tmp_path / "none.yaml", _Kept, **ASKED)


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="cannot be written"):
        write_saved_file(_Kept(name="a"), tmp_path / "nowhere" / "kept.yaml", says="")


def test_names_of_files_are_told_from_names_of_entries() -> None:
    assert [is_yaml_name(name) for name in ("mine.yaml", "MINE.YML", "nemo", "yaml")] == [True, True, False, False]
