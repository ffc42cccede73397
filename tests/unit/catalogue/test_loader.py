from pathlib import Path

import pytest

from volvelle import Catalogue, DescriptionError, Evidence, SourceError, UnitError, UnknownNameError
from volvelle.catalogue.build import build_model

LINK = """
name: mine
title: My link
rate: {value: 10 GB/s, kind: vendor, source: my-sheet}
latency: {value: 1 us, kind: assumed, source: my-sheet}
efficiency: {value: 80 %, kind: measured, source: my-sheet}
"""
REFERENCE = """
my-sheet: {title: My data sheet, authors: Me, year: 2026, place: drawer}
"""


def own(folder: Path, link: str = LINK, reference: str = REFERENCE) -> Catalogue:
    (folder / "links").mkdir()
    (folder / "links" / "mine.yaml").write_text(link)
    (folder / "references").mkdir()
    (folder / "references" / "mine.yaml").write_text(reference)
    return Catalogue(folder)


def test_an_entry_of_ones_own_is_found_beside_the_packages(tmp_path: Path) -> None:
    catalogue = own(tmp_path)
    assert catalogue.link("mine").rate == 10e9
    assert catalogue.link("mine").figures["latency"].evidence is Evidence.ASSUMED
    assert catalogue.link("nvlink3").rate == 300e9


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        (", source: my-sheet}\nlatency", "}\nlatency", SourceError, "rate.source"),
        ("source: my-sheet}\nlatency", "source: nowhere}\nlatency", SourceError, "cites 'nowhere'"),
        ("10 GB/s", "10", UnitError, r"link 'mine': rate: .*no unit"),
        ("10 GB/s", "10 GB", UnitError, "is a data size"),
        ("kind: vendor", "kind: guess", DescriptionError, r"rate.kind.*found 'guess'"),
        ("name: mine", "name: other", DescriptionError, "calls itself 'other'"),
        ("title: My link", "title: My link\ncolour: red", DescriptionError, "colour"),
        ("title: My link", "title: [", DescriptionError, "not YAML"),
    ],
)
def test_a_bad_entry_does_not_load_and_says_why(tmp_path, old, new, error, words) -> None:  # type: ignore[no-untyped-def]
    assert old in LINK
    with pytest.raises(error, match=words):
        own(tmp_path, LINK.replace(old, new, 1)).link("mine")


def test_two_references_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="volvelle-assumption"):
        own(tmp_path, reference=REFERENCE + REFERENCE.replace("my-sheet", "volvelle-assumption")).link("mine")


def test_a_misspelt_name_offers_the_nearest(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'h100-sxm'"):
        catalogue.chip("h100-smx")


@pytest.mark.parametrize("name", ["dgx-a100/", "dgx-a100/0", "dgx-a100/many", "dgx-a100/-8"])
def test_a_cluster_needs_a_whole_number_after_its_slash(catalogue: Catalogue, name: str) -> None:
    with pytest.raises(DescriptionError, match="number of accelerators"):
        catalogue.cluster(name)


def test_yaml_is_read_as_1_2_so_that_no_is_a_word_and_1e_6_a_number(tmp_path: Path) -> None:
    catalogue = own(tmp_path, LINK.replace("title: My link", "title: no"))
    assert catalogue.link_file("mine").title == "no"


@pytest.mark.parametrize(
    ("pattern", "kinds"), [("LLX", {"L": "attention + mlp"}), ("L", {"L": "mlp", "G": "attention"}), ("", {"L": "mlp"})]
)
def test_each_letter_of_a_pattern_of_layers_is_explained(
    catalogue: Catalogue, pattern: str, kinds: dict[str, str]
) -> None:
    file = catalogue.model_file("llama3-8b")
    architecture = file.architecture.model_copy(update={"pattern": pattern, "kinds": kinds})
    with pytest.raises(DescriptionError, match="explain each letter of the pattern, and no other"):
        build_model(file.model_copy(update={"architecture": architecture}), catalogue.references)
