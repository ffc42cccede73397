"""Places and their grids."""

import pytest

from volvelle.catalogue.places import cloud_places, place_called
from volvelle.errors import DescriptionError, UnknownNameError


def test_a_region_is_found_by_its_name_in_its_last_year() -> None:
    place = place_called("europe-north1")
    assert (place.year, place.grams_per_kwh, place.pue) == (2024, 39.32, 1.09)
    assert place_called("europe-north1", 2019).grams_per_kwh == 181.0


def test_a_year_without_data_names_those_that_have_some() -> None:
    with pytest.raises(DescriptionError, match=r"not known for 2010; it is for 2019, 2020"):
        place_called("europe-north1", 2010)


def test_a_region_without_data_is_unknown() -> None:
    with pytest.raises(UnknownNameError, match="place with a known grid"):
        place_called("atlantis")


def test_regions_of_clouds_differ_many_times_over() -> None:
    intensities = [place.grams_per_kwh for place in cloud_places()]
    assert intensities == sorted(intensities)
    assert intensities[-1] > 10 * intensities[0]
