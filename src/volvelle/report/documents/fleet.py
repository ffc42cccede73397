"""What ``volvelle fleet --json`` prints."""

from volvelle.estimators.result import Range, Violation
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.serve import LatencyEntry, ServingBasisEntry, ServingLayoutEntry


class SpentEntry(Document):
    """What an hour, or all of the time, takes and brings."""

    hours: float
    requests: float
    request_rate: float = at("rate")
    """Requests a second, in the mean."""
    input_tokens: float
    output_tokens: float
    chips: int
    """That are on at most."""
    chip_hours: float
    kw: float | None
    """At the meter, in the mean."""
    kwh: float | None
    usd_rented: float | None = at("rented")
    usd_owned: float | None = at("owned")
    usd_rented_for_input: float | None = at("rented_for_input")
    usd_owned_for_input: float | None = at("owned_for_input")
    usd_rented_per_million_input: float | None = at("rented_input_price")
    usd_rented_per_million_output: float | None = at("rented_output_price")
    usd_owned_per_million_input: float | None = at("owned_input_price")
    usd_owned_per_million_output: float | None = at("owned_output_price")


class LimitEntry(Document):
    """A limit of a service."""

    name: str
    seconds: float


class HourCheckEntry(Document):
    """What clients of an hour measure."""

    requests: int
    ranks: int
    minutes: int
    latencies: dict[str, LatencyEntry]
    missed: list[str]
    held: bool


class ServiceHourEntry(Document):
    """One hour of a service."""

    hour: int
    spent: SpentEntry
    replicas: int
    ready: int
    used_share: float | None = at("use")
    check: HourCheckEntry | None


class CapacityEntry(Document):
    """What one replica takes within its limits, in requests a second."""

    request_rate: float = at("rate")
    sustained: float
    binding_limit: str = at("binding")
    running: float
    prompt_share: float
    latencies: dict[str, LatencyEntry]
    range: Range


class FleetServiceEntry(Document):
    """A service on its machine."""

    name: str
    model: str = at("instance.served.shape.name")
    served_on: str = at("machine")
    engine: str = at("instance.engine.name")
    weight_format: str = at("instance.served.weights")
    kv_cache: str = at("instance.served.cache")
    serving_layout: ServingLayoutEntry = at("instance.layout")
    limits: list[LimitEntry]
    replica_capacity: CapacityEntry = at("capacity")
    range_basis: list[ServingBasisEntry] = at("bases")
    """What the range of that rests on."""
    cold_start: float
    spare: int
    replicas: int
    peak_chips: Range
    total: SpentEntry
    service_hours: list[ServiceHourEntry] = at("hours")


class MachineUseEntry(Document):
    """What the fleet takes of a machine."""

    name: str
    chip: str
    services: list[str]
    chips: int
    nodes: int
    available: int | None
    rent_usd_per_hour: float | None = at("rent")
    rent_offered: str
    chip_price_usd: float | None = at("chip_price")
    watts: float | None


class PlaceTriedEntry(Document):
    """A service on a machine that it might be on."""

    service: str
    served_on: str = at("machine")
    request_rate: float | None = at("rate")
    chips: int | None
    usd: float | None = at("dollars")
    problem: str
    cures: list[str]


class FleetHourEntry(Document):
    """One hour of all services."""

    hour: int
    spent: SpentEntry
    held: bool | None


class FleetDocument(Document):
    """How many chips serve what is offered. Times in seconds, money in USD."""

    name: str
    pay: str
    feasible: bool
    total: SpentEntry | None
    ranges: dict[str, Range]
    """Of the most chips, of hours of chips and of dollars."""
    machines: list[MachineUseEntry]
    services: list[FleetServiceEntry]
    fleet_hours: list[FleetHourEntry] = at("hours")
    tried: list[PlaceTriedEntry]
    violations: list[Violation]
    notes: list[str]
