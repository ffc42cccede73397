import pytest

from volvelle.errors import UnitError
from volvelle.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    FRACTION,
    JOULES,
    SECONDS,
    format,  # noqa: A004
    parse,
    show,
    whole_text,
)


def test_gigabytes_gibibytes_and_gigabits_differ() -> None:
    assert parse("1 GB", BYTES) == 1e9
    assert parse("1 GiB", BYTES) == 2**30
    assert parse("8 Gb", BYTES) == 1e9


def test_a_rate_may_be_written_in_bits() -> None:
    assert parse("400 Gb/s", BYTES_PER_SECOND) == 50e9


def test_an_hour_of_a_kilowatt_is_3_6_megajoules() -> None:
    assert parse("1 kWh", JOULES) == 3.6e6


@pytest.mark.parametrize("bare", [300, 3.5, "300", "1e6"])
def test_a_bare_number_is_refused_with_an_example(bare: object) -> None:
    with pytest.raises(UnitError, match=r"no unit.*TB/s"):
        parse(bare, BYTES_PER_SECOND)


def test_a_quantity_of_another_kind_is_named_as_such() -> None:
    with pytest.raises(UnitError, match="'80 GB' is a data size, but a data rate is wanted"):
        parse("80 GB", BYTES_PER_SECOND)


def test_an_unknown_unit_is_shown_with_those_there_are() -> None:
    with pytest.raises(UnitError, match=r"'gb'.*GB.*case matters"):
        parse("80 gb", BYTES)


@pytest.mark.parametrize("text", ["", "fast", "GB/s 3", "1,5 s"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse(text, SECONDS)


def test_format_picks_the_unit_a_person_would() -> None:
    assert format(3.35e12, BYTES_PER_SECOND) == "3.35 TB/s"
    assert format(80e9, BYTES) == "80 GB"
    assert format(2e-6, SECONDS) == "2 us"


def test_show_rounds_and_keeps_thousands_together() -> None:
    assert show(0.0123456, SECONDS) == "12.3 ms"
    assert show(0.816, FRACTION) == "81.6 %"
    assert show(85899345920, BYTES) == "85.9 GB"
    assert show(0.0, SECONDS) == "0 s"
    assert show(999.9e-6, SECONDS) == "1.00 ms"


def test_parts_of_a_number_are_shown_where_they_matter() -> None:
    shown = [whole_text(value) for value in (1234.5, 10.0, 9.87654, 0.0123, 0.0)]
    assert shown == ["1,234", "10", "9.88", "0.0123", "0"]
