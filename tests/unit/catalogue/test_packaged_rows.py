"""Tables that come with the package."""

import pytest

from volvelle.catalogue.packaged_rows import packaged_rows


@pytest.mark.parametrize("name", ["engines.csv", "stacks.csv", "prices/rents.csv", "prices/accelerators.csv"])
def test_rows_of_a_table_all_have_its_columns(name: str) -> None:
    rows = packaged_rows(name)
    assert rows
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert not any(value is None for row in rows for value in row.values())
