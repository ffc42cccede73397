"""Reads a study of a design space from YAML: its form, checked; what the words mean is decided elsewhere.

name: which-machine
workloads:
  - {train: llama3-70b, batch: 1024, tokens: 15e12}   # or {map: GRAPH, execution: dataflow}, or {run: hpl}
system: dgx-h100/1024
axes:
  chip.memory.rate: [2 TB/s, 3.35 TB/s, 4.8 TB/s]
  chip.memory.capacity: {from: 40 GB, to: 320 GB, points: 8, scale: log}
  accelerators: [512, 1024, 2048]
mapping: {policy: best}
objectives: [days, usd]
constraints: [power <= 10 MW]
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from volvelle.domains import (
    ACCELERATORS,
    ENERGY_PRICE,
    ERROR_FACTOR,
    EXPONENT,
    EXTRA,
    FACTOR,
    HAZARD,
    LIFE,
    MARGIN,
    NO_SHARE,
    POINTS,
    RECOVERY,
    RENT,
    SEED,
    SEQUENCES,
    SHARE,
    SPARES,
)
from volvelle.interchange.workload_form import Closed, WorkloadForm, in_domain, with_graphs
from volvelle.interchange.yaml_file import checked_form, read_fields

Scalar = str | int | float | bool
"""What an axis may take: text with a unit, a name, a number, yes or no."""


class RangeForm(Closed):
    """Points from one end to the other, both included."""

    start: Scalar = Field(alias="from")
    end: Scalar = Field(alias="to")
    points: Annotated[int, POINTS]
    scale: Literal["linear", "log"] = "linear"


class AxisForm(Closed):
    """One axis: values, a range, multiples of the base, or several fields that move together."""

    values: tuple[Scalar, ...] | None = None
    start: Scalar | None = Field(default=None, alias="from")
    end: Scalar | None = Field(default=None, alias="to")
    points: Annotated[int, POINTS] | None = None
    scale: Literal["linear", "log"] = "linear"
    times: tuple[Annotated[float, FACTOR], ...] | RangeForm | None = None
    linked: dict[str, tuple[Scalar, ...]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: object) -> object:
        """A bare list is its values; a single value is a list of one."""
        if isinstance(given, list | tuple):
            return {"values": tuple(given)}
        if isinstance(given, str | int | float | bool):
            return {"values": (given,)}
        return given

    @model_validator(mode="after")
    def _one_way(self) -> "AxisForm":
        ranged = any(part is not None for part in (self.start, self.end, self.points))
        ways = [self.values is not None, ranged, self.times is not None, self.linked is not None]
        if sum(ways) != 1:
            raise ValueError("give either values, or from, to and points, or times, or linked")
        if ranged and None in (self.start, self.end, self.points):
            raise ValueError("a range needs from, to and points")
        if self.values == () or self.times == () or self.linked == {} or () in (self.linked or {}).values():
            raise ValueError("the list of values is empty")
        if self.linked is not None and len({len(column) for column in self.linked.values()}) != 1:
            raise ValueError(
                "linked fields move together, so each needs as many values: "
                + ", ".join(f"{name} has {len(column)}" for name, column in self.linked.items())
            )
        return self


Degrees = int | tuple[int, ...]
Words = bool | str | tuple[bool | str, ...]


class MappingForm(Closed):
    """How work is laid out at every point."""

    policy: Literal["fixed", "best"] = "best"
    choices: Mapping[str, Degrees | Words] = {}
    """Fields of a mapping: one value each if fixed; the values to look through if best."""

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, given: object) -> object:
        """Fields of the mapping stand beside the policy."""
        if isinstance(given, str):
            return {"policy": given}
        if isinstance(given, Mapping) and "choices" not in given:
            choices = {key: value for key, value in given.items() if key != "policy"}
            kept = {"policy": given["policy"]} if "policy" in given else {}
            return {**kept, "choices": choices}
        return given


class CostForm(Closed):
    """What money and watts are computed with; the rest is the cost model's own."""

    model: str = "market"
    life: Annotated[str, LIFE] = "4 years"
    use: Annotated[str, SHARE] = "80 %"
    energy_price: Annotated[str, ENERGY_PRICE] = "0.1 USD/kWh"
    load: Annotated[str, SHARE] = "85 %"
    host_load: Annotated[str, SHARE] = "65 %"
    """Mean power of hosts, links and switches over their rated power."""
    overhead: Annotated[str, EXTRA] = "50 %"
    """With the model ``list``: price of hosts and network over that of the chips."""
    price_exponent: Annotated[float, EXPONENT] | None = None
    """By which the price of a chip grows with its logic (``parts``, ``dfmodel``), the next its power; None: as the
    price book says, from the points of DFModel's figure 9."""
    power_exponent: Annotated[float, EXPONENT] | None = None
    counts: Literal["cables", "dfmodel"] = "cables"
    """How links and switch ports are counted: those that shapes need, or as DFModel counts them."""
    plant: bool = True
    """Building, power and cooling are bought with the machine."""
    rent: Annotated[float, in_domain(RENT, "rent"), RENT] | None = None
    """Of one accelerator, like ``3.29 USD/h``: what runs cost is then rented, what machines cost stays owned."""


class FailuresForm(Closed):
    """What interrupts runs and how they recover; what is not said is as studies of the catalogue have it."""

    hazard: Annotated[float, in_domain(HAZARD, "hazard"), HAZARD] | None = None
    """Failures of eight accelerators that stop the job, the middle; like ``4.1e-3 1/d``."""
    hazard_factor: Annotated[float, ERROR_FACTOR] = 1.0
    """One standard deviation of a stated rate, as a factor; as of restart and stall below."""
    recovery: Literal["asynchronous", "synchronous", "memory", "two-tier", "elastic"] = "asynchronous"
    restart: Annotated[float, in_domain(RECOVERY, "restart"), RECOVERY] | None = None
    restart_factor: Annotated[float, ERROR_FACTOR] = 1.0
    stall: Annotated[float, in_domain(RECOVERY, "stall"), RECOVERY] | None = None
    stall_factor: Annotated[float, ERROR_FACTOR] = 1.0
    write: Annotated[float, in_domain(RECOVERY, "write"), RECOVERY] | None = None
    interval: Annotated[float, in_domain(RECOVERY, "interval"), RECOVERY] | None = None
    """Work between checkpoints; none: the best at every point."""
    replicas: Annotated[int, ACCELERATORS] = 1
    """That restart alone, where recovery is elastic."""
    common: Annotated[float, in_domain(NO_SHARE, "common"), NO_SHARE] = 0.0
    """Share of failures that stop all of them nevertheless."""
    survived: Annotated[float, in_domain(NO_SHARE, "survived"), NO_SHARE] | None = None
    """Share of failures that go back to the memory of a peer, where recovery is two-tier; the others to storage."""
    storage_stall: Annotated[float, in_domain(RECOVERY, "storage_stall"), RECOVERY] | None = None
    storage_restart: Annotated[float, in_domain(RECOVERY, "storage_restart"), RECOVERY] | None = None
    spares: Annotated[int, SPARES] | None = None
    """Nodes of eight that are waited for where more are out, and paid for; none: a pool that others fill."""

    @model_validator(mode="after")
    def _factors_of_what_is_stated(self) -> "FailuresForm":
        for name in ("hazard", "restart", "stall"):
            if getattr(self, name) is None and getattr(self, f"{name}_factor") != 1.0:
                raise ValueError(f"{name}_factor is the doubt in a {name} that is stated; state {name} too")
        return self


class StudyForm(Closed):
    """A study as its file states it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$")]
    question: str = ""
    workloads: tuple[WorkloadForm, ...] = ()
    system: str
    """A cluster of the catalogue; or ``published/dfmodel``, whose points come with their own workloads."""
    stack: str = ""
    """Software that trains; empty: the usual one of each chip. It may be an axis too."""
    margin: Annotated[str | float | None, MARGIN] = None
    """Share of memory left free before a layout fits; None: as each chip's calibration says."""
    axes: dict[str, AxisForm] = Field(min_length=1)
    set: dict[str, str | float] = Field(default_factory=dict)
    """Fields computed from others at every point."""
    mapping: MappingForm = MappingForm()
    objectives: tuple[str, ...] = Field(default=("time",), min_length=1, max_length=4)
    """Measures to judge by; the first ranks. ``max mfu`` turns one round."""
    constraints: tuple[str, ...] = ()
    costs: CostForm = CostForm()
    failures: FailuresForm = FailuresForm()
    measures: tuple[str, ...] = ()
    """Further measures to write."""
    facet: str | None = None
    """An axis whose values are answered one by one."""
    seed: Annotated[int, SEED] = 0
    samples: Annotated[int, SEQUENCES] | None = None
    """Points to evaluate at most; fewer than there are, and they are drawn at random."""

    @property
    def published(self) -> str | None:
        """Whose published design space it is, if one's."""
        return self.system.removeprefix("published/") if self.system.startswith("published/") else None

    @model_validator(mode="after")
    def _names_differ(self) -> "StudyForm":
        if not self.workloads and self.published is None:
            raise ValueError("there are no workloads; name at least one, like {train: llama3-70b, batch: 1024}")
        names = [workload.called for workload in self.workloads]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two workloads are called {', '.join(twice)}; give each a name of its own")
        return self

    def canonical(self) -> str:
        """The same text for the same study, whatever the order of keys in its file or its comments."""
        return self.model_dump_json(by_alias=True, exclude_defaults=False)


def read_study_form(source: Path | Mapping[str, object]) -> StudyForm:
    """The study a YAML file states, or its fields; graphs that it names by their files become part of it."""
    if isinstance(source, Mapping):
        return checked_form(with_graphs(source, Path()), StudyForm, where="study", what="study")
    stated = read_fields(source, what="a study", examples="examples/studies")
    return checked_form(with_graphs(stated, source.parent), StudyForm, where=source.name, what="study")
