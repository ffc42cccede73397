"""Files up to a size are read whole, and larger ones are refused."""

from pathlib import Path

import pytest

from volvelle.errors import DescriptionError
from volvelle.input_limits import read_bytes


@pytest.mark.parametrize("size", [0, 1, 2**20, 2**20 + 1, 3 * 2**20])
def test_a_file_is_read_whole_up_to_the_most(size: int, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    assert read_bytes(file, most=3 * 2**20) == file.read_bytes()


def test_a_byte_more_than_the_most_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(DescriptionError, match="larger than 1 MiB"):
        read_bytes(file, most=2**20)
