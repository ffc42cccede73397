"""Rents by cloud and date."""

from datetime import UTC, datetime

import pytest

from volvelle.catalogue.rents import cloud_rent, clouds
from volvelle.errors import DescriptionError, UnknownNameError


def test_a_cloud_is_asked_for_whole_nodes() -> None:
    rent = cloud_rent("h100-sxm", "Lambda")
    assert (rent.dollars_per_hour, rent.date) == (3.99, "2026-08")
    assert len(clouds()) == 7


def test_a_rent_older_than_two_years_is_warned_of_with_its_date() -> None:
    rent = cloud_rent("h100-sxm", "lambda")
    assert "2026-08" in rent.aged(datetime(2029, 1, 1, tzinfo=UTC))
    assert rent.aged(datetime(2027, 1, 1, tzinfo=UTC)) == ""


def test_what_a_cloud_does_not_offer_is_said() -> None:
    with pytest.raises(DescriptionError, match="no rent of tpu-v5e at lambda"):
        cloud_rent("tpu-v5e", "lambda")
    with pytest.raises(UnknownNameError, match="cloud with known rents"):
        cloud_rent("h100-sxm", "nowhere")
