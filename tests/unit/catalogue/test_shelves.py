"""Entries of the catalogue at hand in a notebook."""

import pickle

import pytest

import volvelle
from volvelle import Catalogue, catalogue


def test_every_model_is_an_attribute_by_its_name() -> None:
    names = set(dir(catalogue.models))
    for name in catalogue.models:
        assert name.replace("-", "_").replace(".", "_") in names
    assert catalogue.models.llama3_70b == Catalogue().model("llama3-70b")
    assert catalogue.models.llama3_2_1b == catalogue.models["llama3.2-1b"]


def test_a_shelf_is_a_mapping_whose_clusters_take_a_count_too() -> None:
    assert "dgx-h100" in catalogue.clusters
    assert len(catalogue.clusters) == len(list(catalogue.clusters)) > 15
    assert catalogue.clusters["dgx-h100/64"].accelerators == 64
    assert catalogue.chips.h100_sxm.name == "h100-sxm"
    assert set(dir(catalogue)) >= {"chips", "clusters", "links", "models", "Catalogue"}


def test_no_two_names_are_the_same_attribute() -> None:
    for shelf in (catalogue.chips, catalogue.clusters, catalogue.links, catalogue.models):
        own = set(dir(shelf)) - set(dir(type(shelf)))
        assert len([name for name in own if not name.startswith("__")]) >= len(shelf)


def test_a_name_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match="did you mean"):
        _ = catalogue.models.llama3_71b


def test_a_shelf_shows_its_names_on_a_screen_and_pickles() -> None:
    lines = repr(catalogue.models).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    assert list(pickle.loads(pickle.dumps(catalogue.models))) == list(catalogue.models)
    assert volvelle.catalogue is catalogue
