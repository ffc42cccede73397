"""Reads a fleet from YAML: machines, services with their limits and loads, and how it is scaled; its form, checked.

name: chat-and-batch
pay: rented
machines:
  dgx-h100: {chips: 64, rent: 2.5 USD/h}
  dgx-a100: {}
scaling: {kind: reactive, target: 80 %, look_back: 5 min, cool_down: 10 min}
cold_start: {storage: 2 GB/s, engine: 60 s}
spare: 1
services:
  - name: chat
    model: llama3-70b
    weights: fp8
    tensor: 4
    slo: p99 ttft 2 s, p95 tpot 50 ms
    load: {rates: [2, 1, 1, 4, 9, 6], input: 1024, output: 256, lengths: "uniform:0.5", times: 2}
  - {name: code, model: llama3-8b, tensor: 1, slo: p99 e2el 60 s, load: trace code.csv ×3}
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from volvelle.domains import (
    ACCELERATORS,
    BYTE_RATE,
    DEGREE,
    ENGINE_SEQUENCES,
    NO_DEGREE,
    PRICE,
    RENT,
    REQUEST_LENGTH,
    SEED,
    SHARE,
    SPARES,
    STEP_BUDGET,
    WAIT,
)
from volvelle.interchange.yaml_file import read_form
from volvelle.workload.serving.lengths import RequestLengths
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import BURSTINESS, RATE_FACTOR, Load
from volvelle.workload.serving.offered import HOURLY_RATE, LOAD_HOURS

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$", max_length=60)]
_MOST_SERVICES, _MOST_MACHINES = 24, 12


def _in_words(given: object) -> object:
    """Return values of Python in the words of a file; all else as it is."""
    several = given if isinstance(given, list | tuple) else (given,)
    if several and all(isinstance(one, LatencyLimit) for one in several):
        return ", ".join(limit.words for limit in several)
    return str(given) if isinstance(given, Load | RequestLengths) else given


Words = Annotated[str, BeforeValidator(_in_words)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MachineForm(_Closed):
    """What there is of a machine, and what a chip of it costs; nothing said: no limit, and the catalogue's prices."""

    chips: Annotated[int, ACCELERATORS] | None = None
    rent: Annotated[str, RENT] | None = None
    """Of a chip an hour."""
    price: Annotated[str, PRICE] | None = None
    """Of a chip."""


class ScalingForm(_Closed):
    """A policy."""

    kind: Literal["fixed", "reactive", "ahead"] = "reactive"
    target: Annotated[str | float, SHARE] = 0.8
    look_back: Annotated[str | float, WAIT] = "5 min"
    cool_down: Annotated[str | float, WAIT] = "10 min"
    least: Annotated[int, NO_DEGREE] = 1


class ColdStartForm(_Closed):
    """What the start of a replica takes."""

    storage: Annotated[str | float, BYTE_RATE] = "2 GB/s"
    """Rate at which weights of one replica are read."""
    engine: Annotated[str | float, WAIT] = "60 s"
    """Until it serves, once it has its weights."""
    seconds: Annotated[str | float, WAIT] | None = None
    """All of it, where that is known."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: object) -> object:
        """A bare time is all of it."""
        return {"seconds": given} if isinstance(given, str | int | float) else given


class LoadForm(_Closed):
    """A rate for every hour, with lengths of requests."""

    words: str | None = None
    """In words, in place of all else: ``trace FILE ×1.5`` or ``poisson 12/s``."""
    rates: tuple[Annotated[float, HOURLY_RATE], ...] = ()
    """Requests a second, hour by hour."""
    days: Annotated[int, LOAD_HOURS] = 1
    """How often these hours are repeated."""
    times: Annotated[float, RATE_FACTOR] = 1.0
    burstiness: Annotated[float, BURSTINESS] = 1.0
    input: Annotated[int, REQUEST_LENGTH] | None = None
    output: Annotated[int, REQUEST_LENGTH] | None = None
    lengths: Words | None = None
    lengths_of: str | None = None
    """A trace whose requests are as long."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: object) -> object:
        """Bare text is a load in words, and so is a value."""
        return {"words": _in_words(given)} if isinstance(given, str | Load) else given

    @model_validator(mode="after")
    def _one_way(self) -> "LoadForm":
        if (self.words is None) == (not self.rates):
            raise ValueError("give either rates, one for each hour, or words like 'trace FILE ×1.5' or 'poisson 12/s'")
        if self.lengths_of is not None and (self.input, self.output, self.lengths) != (None, None, None):
            raise ValueError("lengths are those of a trace (lengths_of), or input, output and lengths; not both")
        if self.words is not None and (self.times, self.burstiness) != (1.0, 1.0):
            raise ValueError("times and burstiness go with rates; say them in the words: 'trace FILE ×2'")
        if not LOAD_HOURS.holds(max(len(self.rates), 1) * self.days):
            raise ValueError(f"the hours in all must be {LOAD_HOURS}")
        return self


class ServiceForm(_Closed):
    """A model that is served, within limits, under a load."""

    name: Name | None = None
    model: str
    slo: Words
    load: LoadForm
    on: tuple[str, ...] = ()
    """Machines that it may be on; none named: all of the fleet."""
    engine: str = "vllm"
    weights: str | None = None
    """None: the format of the published checkpoint."""
    kv: str = "bf16"
    tensor: Annotated[int, DEGREE] | None = None
    pipeline: Annotated[int, DEGREE] = 1
    expert: Annotated[int, DEGREE] = 1
    data: Annotated[int, DEGREE] = 1
    max_batched_tokens: Annotated[int, STEP_BUDGET] | None = None
    max_seqs: Annotated[int, ENGINE_SEQUENCES] | None = None
    memory_share: Annotated[str | float, SHARE] | None = None
    chunked_prefill: bool | None = None
    spare: Annotated[int, SPARES] | None = None
    """Replicas that may fail; nothing said: as many as the fleet says."""
    scaling: ScalingForm | None = None
    """Nothing said: as the fleet."""

    @property
    def called(self) -> str:
        """Its name, or its model's."""
        return self.name or self.model

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: object) -> object:
        """One machine may be named without a list."""
        if isinstance(given, Mapping) and isinstance(given.get("on"), str):
            return {**given, "on": (given["on"],)}
        return given


class FleetForm(_Closed):
    """A fleet as its file states it."""

    name: Name
    machines: dict[str, MachineForm] = Field(min_length=1, max_length=_MOST_MACHINES)
    services: tuple[ServiceForm, ...] = Field(min_length=1, max_length=_MOST_SERVICES)
    pay: Literal["rented", "owned"] | None = None
    """By what money places are chosen; nothing said: rented where all rents are known, else owned."""
    scaling: ScalingForm = ScalingForm()
    cold_start: ColdStartForm = ColdStartForm()
    spare: Annotated[int, SPARES] = 0
    check: Literal["busiest", "every", "none"] = "busiest"
    """Hours that are followed request by request."""
    seed: Annotated[int, SEED] = 0

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: object) -> object:
        """A machine of which nothing more is said may stand alone."""
        if isinstance(given, Mapping) and isinstance(found := given.get("machines"), Mapping):
            return {**given, "machines": {name: {} if form is None else form for name, form in found.items()}}
        return given

    @model_validator(mode="after")
    def _names(self) -> "FleetForm":
        names = [service.called for service in self.services]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two services are called {', '.join(twice)}; give each a name of its own")
        for service in self.services:
            unknown = sorted(set(service.on) - set(self.machines))
            if unknown:
                raise ValueError(
                    f"service {service.called!r} is to be on {', '.join(unknown)}, which is no machine of the fleet; "
                    f"it has {', '.join(self.machines)}"
                )
        return self


def read_fleet_form(source: Path | Mapping[str, object]) -> FleetForm:
    """The fleet that a YAML file states, or its fields."""
    return read_form(source, FleetForm, what="fleet", examples="examples/fleets")
