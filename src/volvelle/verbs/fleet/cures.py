"""Where a service cannot be served as asked, or missed its limits: changes that were tried, and that are enough."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from volvelle.applications.serving.fleet.capacity import ReplicaCapacity
from volvelle.applications.serving.fleet.scaling import Scaling
from volvelle.applications.serving.fleet.sized import SizedService
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.result import Violation
from volvelle.interchange.fleet_file import FleetForm
from volvelle.quantities import SECONDS, numbered, percent, show
from volvelle.verbs.fleet.answer import Fleet
from volvelle.verbs.fleet.described import one_replica
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import Poisson

_LOWER = (0.7, 0.6, 0.5, 0.4)
"""Shares of the capacity that are tried."""
_TRIED = 3000
"""Requests by which a changed replica is tried."""
_ROUNDED = 1.05
"""What a limit that can be kept is above what was found."""


def missed_always(capacity: ReplicaCapacity, limits: tuple[LatencyLimit, ...]) -> str:
    """Why no rate keeps the limits."""
    told = [
        f"{limit.name} {show(found, SECONDS)} of {show(limit.seconds, SECONDS)}"
        for limit in limits
        if (found := limit.found_in(capacity.latencies)) is not None and found > limit.seconds
    ]
    return f"even at {capacity.lowest:.2g} requests/s one replica misses its limits: {', '.join(told)}"


def cures_of_limits(
    question: ServingQuestion,
    capacity: ReplicaCapacity,
    limits: tuple[LatencyLimit, ...],
    shape: AbstractShape,
    *,
    catalogue: Catalogue,
    model: Transformer,
) -> Iterator[str]:
    """A wider instance, narrower weights: each keeps them at that rate; and limits that are kept as it is."""
    tensor = question.layout(model, catalogue.cluster(question.on)).tensor
    for words, changed in (
        (f"tensor parallelism {2 * tensor} (--tp {2 * tensor})", question.changed(tensor=2 * tensor)),
        ("weights in fp8 (--weights fp8)", question.changed(weights="fp8")),
    ):
        if changed != question and _kept_at(capacity.lowest, changed, limits, shape, catalogue, model):
            yield words
    found = [limit.found_in(capacity.latencies) for limit in limits]
    looser = [
        f"{limit.name} {show(max(limit.seconds, (value or 0.0) * _ROUNDED), SECONDS)}"
        for limit, value in zip(limits, found, strict=True)
    ]
    yield f'limits that can be kept, at a low rate: "{", ".join(looser)}"'


def _kept_at(
    rate: float,
    question: ServingQuestion,
    limits: tuple[LatencyLimit, ...],
    shape: AbstractShape,
    catalogue: Catalogue,
    model: Transformer,
) -> bool:
    from volvelle.applications.serving.under_load import answer_under_load  # noqa: PLC0415 - its compiler is slow

    try:
        instance, _ = one_replica(question, catalogue, model)
        if not instance.fits(question.input_tokens + question.output_tokens):
            return False
        found = answer_under_load(instance, Poisson(rate=rate), shape, replicas=1, requests=_TRIED, capacity=False)
    except VolvelleError:
        return False  # there is no such layout, or no such kernel
    return all(limit.kept_by(found.latencies) for limit in limits)


def missed_under_load(one: SizedService, *, seed: int) -> Violation | None:
    """Limits that were missed in hours that were followed, and policies with which they are kept in them."""
    missed = [check for check in one.checks if not check.held]
    if not missed:
        return None
    told = []
    for check in missed:
        for limit in one.limits:
            found = limit.found_in(check.latencies)
            if found is not None and found > limit.seconds:
                told.append(f"hour {check.hour}: {limit.name} {show(found, SECONDS)} of {show(limit.seconds, SECONDS)}")
    hours = [check.hour for check in missed]
    return Violation(
        name="limits",
        problem=f"{one.name} misses its limits: {'; '.join(told)}",
        cures=tuple(_policies(one, hours, seed)),
    )


def _policies(one: SizedService, hours: list[int], seed: int) -> Iterator[str]:
    """One policy that knows what comes, and one that leaves more room."""
    if one.scaling.kind == "reactive":
        ahead = replace(one.scaling, kind="ahead")
        if (found := _kept(one, ahead, hours, seed)) is not None:
            yield f"order replicas ahead of the load (--scaling ahead): {numbered(found, 'chip')} at most"
    for target in (target for target in _LOWER if target < one.scaling.target):
        roomier = replace(one.scaling, target=target)
        if (found := _kept(one, roomier, hours, seed)) is not None:
            yield f"use less of each replica (--target {percent(target, 0)}): {numbered(found, 'chip')} at most"
            return


def _kept(one: SizedService, scaling: Scaling, hours: list[int], seed: int) -> int | None:
    """Chips at most with which the limits are kept in these hours; None: they are not."""
    from volvelle.applications.serving.fleet.replay import replayed_hour  # noqa: PLC0415 - its compiler is slow

    other = replace(one, scaling=scaling, checks=())
    for hour in hours:
        check = replayed_hour(other.instance, other.load, other.plan, hour, other.limits, seed=seed)
        if check is not None and not check.held:
            return None
    return int(other.chips.max())


def larger_counts(fleet: Fleet) -> Iterator[Mapping[str, int]]:
    """Yield chips of each machine that has too few: those needed, those in whole nodes, and twice as many."""
    nodes = {kind.name: kind.node.accelerators for kind in fleet.kinds.values()}
    whole = {name: -(-count // nodes[name]) * nodes[name] for name, count in fleet.needed.items()}
    yield fleet.needed
    if whole != fleet.needed:
        yield whole
    yield {name: 2 * count for name, count in whole.items()}


def enlarged(fleet: Fleet, counts: Mapping[str, int]) -> FleetForm:
    """Return a fleet with so many chips of machines, which are named without their chips."""
    form = fleet.form
    names = {name: f"{kind}/{counts[kind]}" if "/" in name else name for name, kind in _short_of(fleet, counts)}
    machines = {
        names.get(name, name): machine.model_copy(update={"chips": counts[name]})
        if names.get(name) == name
        else machine
        for name, machine in form.machines.items()
    }
    services = tuple(
        service.model_copy(update={"on": tuple(names.get(name, name) for name in service.on)})
        for service in form.services
    )
    return form.model_copy(update={"machines": machines, "services": services})


def enough_chips(fleet: Fleet, counts: Mapping[str, int], *, by_options: bool) -> str:
    """Return so many chips of machines as all --on options of a command, or as they are written in a file."""
    if by_options:
        return " ".join(f"--on {name}" for name in enlarged(fleet, counts).machines)
    return " and ".join(
        f"{kind}/{counts[kind]} in place of {name}" if "/" in name else f"chips: {counts[kind]} of {name}"
        for name, kind in _short_of(fleet, counts)
    )


def _short_of(fleet: Fleet, counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the machines that have too few chips, each as the fleet names it and without its chips."""
    return [(name, kind.name) for name, kind in fleet.kinds.items() if kind.name in counts]
