"""A fleet from its file."""

from pathlib import Path

import pytest

from volvelle.errors import DescriptionError
from volvelle.interchange.fleet_file import read_fleet_form

FLEET: dict[str, object] = {
    "name": "small",
    "machines": {"dgx-h100": None},
    "services": [{"model": "llama3-8b", "slo": "p99 ttft 2 s", "load": "poisson 4/s"}],
}


def changed(**changes: object) -> dict[str, object]:
    (service,) = FLEET["services"]  # type: ignore[misc]
    fleet = {name: value for name, value in changes.items() if name in ("machines", "scaling", "spare", "cold_start")}
    own = {name: value for name, value in changes.items() if name not in fleet}
    return {**FLEET, **fleet, "services": [{**service, **own}]}


def test_what_is_not_said_has_its_default() -> None:
    form = read_fleet_form(FLEET)
    assert form.services[0].called == "llama3-8b"
    assert form.services[0].load.words == "poisson 4/s"
    assert (form.spare, form.check, form.scaling.kind) == (0, "busiest", "reactive")


def test_short_forms_stand_for_the_long_ones() -> None:
    form = read_fleet_form(changed(cold_start="180 s", on="dgx-h100"))
    assert form.cold_start.seconds == "180 s"
    assert form.services[0].on == ("dgx-h100",)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"machines": {}}, "machines"),
        ({"machines": {"dgx-h100": {"chips": 0}}}, "chips"),
        ({"machines": {"dgx-h100": {"rent": "2.5"}}}, "rent"),
        ({"on": "dgx-a100"}, "no machine of the fleet"),
        ({"load": {"rates": []}}, "give either rates"),
        ({"load": {"rates": [1.0, float("nan")]}}, "rates.1"),
        ({"load": {"rates": [1.0, -2.0]}}, "rates.1"),
        ({"load": {"rates": [1.0], "days": 9000}}, "load.days"),
        ({"load": {"rates": [1.0] * 24, "days": 370}}, "hours in all"),
        ({"load": {"words": "poisson 4/s", "times": 2}}, "times"),
        ({"load": {"rates": [1.0], "lengths_of": "a.csv", "input": 5}}, "not both"),
        ({"scaling": {"target": "0 %"}}, "target"),
        ({"scaling": {"kind": "psychic"}}, "kind"),
        ({"spare": -1}, "spare"),
        ({"tensor": 0}, "tensor"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(changes: dict[str, object], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        read_fleet_form(changed(**changes))


def test_two_services_of_one_name_are_refused() -> None:
    with pytest.raises(DescriptionError, match="two services are called llama3-8b"):
        read_fleet_form({**FLEET, "services": [*FLEET["services"], *FLEET["services"]]})  # type: ignore[misc]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="does not exist"):
        read_fleet_form(tmp_path / "none.yaml")
