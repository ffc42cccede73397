"""How many chips serve a load of days within limits: the verb."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from volvelle.applications.serving.fleet.capacity import replica_capacity
from volvelle.applications.serving.fleet.placement import Place, placed
from volvelle.applications.serving.fleet.scaling import schedule
from volvelle.applications.serving.fleet.sized import SizedService
from volvelle.applications.serving.rate_bounds import StepFloors, rate_bounds
from volvelle.base.python_function import asks
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError
from volvelle.estimators.result import Violation
from volvelle.interchange.fleet_file import FleetForm, ServiceForm, read_fleet_form
from volvelle.interchange.limit_words import read_limits
from volvelle.questions.serving import FleetQuestion
from volvelle.verbs.fleet.answer import Fleet, PlaceTried
from volvelle.verbs.fleet.cures import (
    cures_of_limits,
    enlarged,
    enough_chips,
    larger_counts,
    missed_always,
    missed_under_load,
)
from volvelle.verbs.fleet.described import (
    MachineKind,
    cold_start_of,
    kinds_of,
    offered_load,
    one_replica,
    scaling_of,
    service_question,
)
from volvelle.verbs.named import catalogue_of
from volvelle.verbs.plan_serving.candidates import Axes, layouts
from volvelle.verbs.remedies.tried import tried
from volvelle.verbs.serving.checkpoint import check_context, served_shape, with_weights
from volvelle.verbs.serving.cures import violations
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.loads import AtOnce
from volvelle.workload.serving.offered import OfferedLoad

Progress = Callable[[str], None]
"""Told in words what is looked at."""
_DRAWN = 2000
"""Requests by which a closed form bounds the rate of a replica."""
_NEVER = 1e-9
"""Requests a second that stand for none where layouts are ordered."""


@asks(FleetQuestion)
def fleet(question: FleetQuestion) -> Fleet:
    """Return how many GPUs serve a load of hours or days within limits, hour by hour, and their cost.

    `model` is a model with `on`, `load` and `slo`, or a described fleet alone: a YAML file or its fields. `on` are
    machines, like ``"dgx-h100"`` or ``"dgx-h100/64"`` for a fixed number of GPUs; the cheapest that keeps the limits is
    used. Without `tensor`, all degrees within a node are tried, and the replica that costs least for this load is used.

    Simulations at several rates find what a replica serves within its limits. `scaling` then sets the number of
    replicas: ``"reactive"`` orders what the last `look_back` needed, ``"ahead"`` what will be needed when a replica
    that is ordered now is ready, ``"fixed"`` what the busiest time needs. Each replica is used to `target`; replicas
    are removed after `cool_down`, down to `least`. A start takes `cold_start`, or as long as weights are read.
    `spare` replicas may fail. Hours are then simulated request by request, as `check` states.
    """
    model = question.model
    known = catalogue_of(question.catalogue)
    stated = {
        part.name: value for part, value in question.given() if part.name not in ("model", "catalogue", "progress")
    }
    if isinstance(model, Mapping) or _is_file(model):
        if stated:
            flags = ", ".join(FleetQuestion.option_named(name).flag for name in stated)
            raise DescriptionError(f"a described fleet says all of it; leave {flags} away, or write it into the file")
        source = model if isinstance(model, Mapping) else Path(str(model))
        form, folder = read_fleet_form(source), None if isinstance(model, Mapping) else Path(str(model)).parent
        shapes = {service.called: served_shape(service.model, known) for service in form.services}
    else:
        shape = served_shape(model, known)
        form, folder = _short_form(shape.name if isinstance(model, Transformer) else str(model), stated), None
        shapes = {form.services[0].called: shape}
    told = question.progress or (lambda words: None)
    found = _sized(form, folder, shapes, known, told)
    if [violation.name for violation in found.violations] != ["chips"]:
        return found

    def works(counts: Mapping[str, int]) -> bool:
        told(f"trying {', '.join(f'{count:,} chips of {name}' for name, count in counts.items())}")
        return _sized(enlarged(found, counts), folder, shapes, known, told).feasible

    (short,) = found.violations
    cures = tuple(
        enough_chips(found, counts, by_options=bool(stated)) for counts in islice(tried(larger_counts(found), works), 1)
    )
    return replace(found, violations=(replace(short, cures=cures),))


def _is_file(model: object) -> bool:
    return isinstance(model, str | Path) and Path(str(model)).suffix.lower() in (".yaml", ".yml")


_POLICY = {"scaling": "kind", "target": "target", "look_back": "look_back", "cool_down": "cool_down", "least": "least"}
_OF_LOAD = ("input", "output", "lengths")
_OF_FLEET = ("spare", "pay", "check", "seed", "cold_start")


def _short_form(model: str, said: Mapping[str, Any]) -> FleetForm:
    """The fleet of one model that options describe."""
    missing = [FleetQuestion.option_named(name).flag for name in ("on", "load", "slo") if name not in said]
    if missing:
        raise DescriptionError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; say --on MACHINE --load LOAD --slo "
            "LIMITS, or give a YAML file that describes a fleet"
        )
    machines = [said["on"]] if isinstance(said["on"], str) else list(said["on"])
    apart = {*_POLICY, *_OF_LOAD, *_OF_FLEET, "on", "load"}
    return read_fleet_form(
        {
            "name": "fleet",
            "machines": {name: {} for name in machines},
            "scaling": {key: said[name] for name, key in _POLICY.items() if name in said},
            "services": [
                {
                    "model": model,
                    "load": {"words": said["load"], **{name: said[name] for name in _OF_LOAD if name in said}},
                    **{name: value for name, value in said.items() if name not in apart},
                }
            ],
            **{name: said[name] for name in _OF_FLEET if name in said},
        }
    )


# -- sizing ------------------------------------------------------------------------------------------------------------


def _sized(
    form: FleetForm, folder: Path | None, shapes: Mapping[str, Transformer], known: Catalogue, progress: Progress
) -> Fleet:
    kinds = kinds_of(form.machines, known)
    tried: dict[str, list[tuple[PlaceTried, SizedService | None]]] = {}
    for service in form.services:
        load = offered_load(service, folder)
        names = service.on or tuple(form.machines)
        check_context(service_question(service, kinds[names[0]]), shapes[service.called])
        tried[service.called] = [
            _cheapest_layout(
                form,
                service,
                load,
                kinds[name],
                shapes[service.called],
                known,
                alone=len(names) == 1,
                progress=progress,
            )
            for name in names
        ]
    pay = form.pay or _usual_pay(tried)
    told = {name: [_priced(place, one, pay) for place, one in places] for name, places in tried.items()}
    found = Fleet(
        form=form,
        kinds=kinds,
        services=(),
        tried=tuple(place for places in told.values() for place, _ in places),
        pay=pay,
        violations=tuple(
            _nowhere(name, [place for place, _ in places])
            for name, places in told.items()
            if all(one is None for _, one in places)
        ),
    )
    return found if found.violations else _with_places(found, told)


def _cheapest_layout(
    form: FleetForm,
    service: ServiceForm,
    load: OfferedLoad,
    machine: MachineKind,
    shape: Transformer,
    known: Catalogue,
    *,
    alone: bool,
    progress: Progress,
) -> tuple[PlaceTried, SizedService | None]:
    """Return a service on a machine in the layout that costs least, or why it cannot be there.

    Where the service names no tensor parallelism, every degree within a node is looked at. A degree is left out if it
    would cost more even at the highest rate that a closed form allows it.
    """
    if service.tensor is not None:
        progress(f"{service.called} on {machine.name}")
        return _tried(form, service, load, machine, shape, known, alone=alone)
    degrees = _degrees(service, machine, shape, known)
    asked = {degree: service.model_copy(update={"tensor": degree}) for degree in degrees}
    bounds = {degree: _highest_rate(form, asked[degree], load, machine, shape, known) for degree in degrees}
    found: dict[int, tuple[PlaceTried, SizedService | None]] = {}
    best: SizedService | None = None
    for count, degree in enumerate(sorted(degrees, key=lambda one: one / max(bounds[one], _NEVER)), 1):
        if best is not None and not _may_cost_less(best, form, asked[degree], load, degree, bounds[degree]):
            continue
        progress(f"{service.called} on {machine.name}: layout {count} of {len(degrees)}, --tp {degree}")
        found[degree] = _tried(form, asked[degree], load, machine, shape, known, alone=alone and len(degrees) == 1)
        one = found[degree][1]
        if one is not None and (best is None or _cost(one, form) < _cost(best, form)):
            best = one
    if best is None:
        return found[max(degrees)]  # where nothing serves it, the widest says what is in the way
    place, _ = found[best.instance.layout.tensor]
    return place, replace(best, degrees=tuple(degrees))


def _degrees(service: ServiceForm, machine: MachineKind, shape: Transformer, known: Catalogue) -> list[int]:
    """Return the degrees of tensor parallelism within a node that the model allows."""
    axes = Axes(pipeline=(service.pipeline,), expert=(service.expert,), data=(service.data,))
    nodes = known.cluster(f"{machine.name}/{machine.node.accelerators * service.pipeline}")
    found = sorted({layout.tensor for layout in layouts(shape, nodes, axes)})
    return [degree for degree in found if degree <= machine.node.accelerators] or [1]


def _highest_rate(
    form: FleetForm,
    service: ServiceForm,
    load: OfferedLoad,
    machine: MachineKind,
    shape: Transformer,
    known: Catalogue,
) -> float:
    """Return the requests a second that a closed form allows a replica at most; 0: it serves none."""
    try:
        instance, _ = one_replica(service_question(service, machine), known, shape)
        requests = AtOnce().requests(load.shape, count=_DRAWN, seed=form.seed)
        floors = StepFloors(instance, requests, seed=form.seed)
        return rate_bounds(instance.rules(), floors, read_limits(service.slo)).rate * instance.layout.data
    except (OutsideDomainError, DescriptionError):
        return 0.0


def _may_cost_less(
    best: SizedService, form: FleetForm, service: ServiceForm, load: OfferedLoad, tensor: int, rate: float
) -> bool:
    """Return whether a layout costs less than the best so far, if its replicas serve the highest rate possible."""
    if rate <= 0.0:
        return False
    plan = schedule(load, rate, scaling_of(service.scaling or form.scaling), cold_start=0.0)
    chips = (plan.ordered + best.spare) * tensor * service.data * service.pipeline
    hours = float((chips * load.seconds).sum()) / 3600.0
    return hours < best.chip_hours or int(chips.max()) < int(best.chips.max())


def _cost(one: SizedService, form: FleetForm) -> tuple[float, float]:
    """Return what a layout costs: money as it is paid where prices are known, then hours of chips."""
    pay = form.pay or ("rented" if one.total.rented is not None else "owned")
    paid = one.total.paid(pay)
    return one.chip_hours if paid is None else paid, one.chip_hours


def _tried(
    form: FleetForm,
    service: ServiceForm,
    load: OfferedLoad,
    machine: MachineKind,
    shape: Transformer,
    known: Catalogue,
    *,
    alone: bool,
) -> tuple[PlaceTried, SizedService | None]:
    """A service on a machine, or why it cannot be there; where there is no other, what is not known is an error."""
    limits = read_limits(service.slo)
    question = service_question(service, machine)

    def no(problem: str, cures: tuple[str, ...] = ()) -> tuple[PlaceTried, None]:
        return PlaceTried(
            service=service.called,
            machine=machine.name,
            rate=None,
            chips=None,
            dollars=None,
            problem=problem,
            cures=cures,
        ), None

    try:
        question = with_weights(question, service.weights, known, shape, known.cluster(question.on))
        instance, cluster = one_replica(question, known, shape)
        unfit = violations(question, instance, cluster, catalogue=known, shape=shape)
        if unfit:
            return no(unfit[0].problem, unfit[0].cures)
        capacity = replica_capacity(instance, load.shape, limits, burstiness=load.burstiness, seed=form.seed)
    except (OutsideDomainError, MappingError) as error:
        if alone:
            raise
        return no(str(error))
    if capacity.rate <= 0.0:
        cures = cures_of_limits(question, capacity, limits, load.shape, catalogue=known, model=shape)
        return no(missed_always(capacity, limits), tuple(cures))
    one = SizedService(
        name=service.called,
        machine=machine.name,
        instance=instance,
        limits=limits,
        load=load,
        capacity=capacity,
        scaling=scaling_of(service.scaling or form.scaling),
        cold_start=cold_start_of(form.cold_start, instance),
        spare=form.spare if service.spare is None else service.spare,
        prices=machine.prices,
    )
    one = replace(one, owned_chips=float(one.chips.max()))
    return PlaceTried(
        service=one.name,
        machine=machine.name,
        rate=capacity.rate,
        chips=int(one.chips.max()),
        dollars=None,
    ), one


def _usual_pay(tried: Mapping[str, Sequence[tuple[PlaceTried, SizedService | None]]]) -> str:
    """Rented where all rents are known, or where no price of a chip is either; else owned."""
    sized = [one for places in tried.values() for _, one in places if one is not None]
    rented = all(one.total.rented is not None for one in sized)
    return "rented" if rented or all(one.total.owned is None for one in sized) else "owned"


def _priced(place: PlaceTried, one: SizedService | None, pay: str) -> tuple[PlaceTried, SizedService | None]:
    if one is None:
        return place, one
    return replace(place, dollars=one.total.paid(pay)), one


def _nowhere(name: str, places: Sequence[PlaceTried]) -> Violation:
    """Why a service can be on no machine."""
    told = "; ".join(f"on {place.machine}: {place.problem}" for place in places)
    cures = tuple(dict.fromkeys(cure for place in places for cure in place.cures))
    return Violation(name="no machine", problem=f"{name} can be served on no machine of the fleet: {told}", cures=cures)


def _with_places(fleet: Fleet, told: Mapping[str, Sequence[tuple[PlaceTried, SizedService | None]]]) -> Fleet:
    """The fleet with every service on the machine that makes all of it cheapest."""
    sized = {name: {one.machine: one for _, one in places if one is not None} for name, places in told.items()}
    cost = {(place.service, place.machine): place.dollars for places in told.values() for place, _ in places}
    # Where no price is known, or not all are, places with one come first, then those that take fewer hours of a chip.
    dearest = sum(dollars for dollars in cost.values() if dollars is not None) + 1.0
    options = {
        name: [
            Place(
                machine=machine,
                chips=one.chips,
                dollars=paid if (paid := cost[name, machine]) is not None else dearest + one.chip_hours,
            )
            for machine, one in places.items()
        ]
        for name, places in sized.items()
    }
    available = {kind.name: kind.chips for kind in fleet.kinds.values()}
    chosen = placed(options, available)
    if chosen is None:
        problem, needed = _too_few(options, available)
        return replace(fleet, violations=(problem,), needed=needed)
    services = _owning([sized[name][place.machine] for name, place in chosen.items()])
    seed = fleet.form.seed
    checked = tuple(_checked(one, fleet.form.check, seed) for one in services)
    missed = tuple(found for one in checked if (found := missed_under_load(one, seed=seed)) is not None)
    order = [service.called for service in fleet.form.services]
    return replace(fleet, services=tuple(sorted(checked, key=lambda one: order.index(one.name))), violations=missed)


def _too_few(
    options: Mapping[str, Sequence[Place]], available: Mapping[str, int | None]
) -> tuple[Violation, Mapping[str, int]]:
    """Return the problem, and the chips that the cheapest places would take of each machine that has too few."""
    unbound = placed(options, dict.fromkeys(available))
    assert unbound is not None, "every service has a place where there are chips without end"
    needed: dict[str, int] = {}
    for machine in available:
        columns = [place.chips for place in unbound.values() if place.machine == machine]
        slots = max((column.size for column in columns), default=0)
        whole = sum((np.pad(column, (0, slots - column.size)) for column in columns), np.zeros(slots, np.int64))
        needed[machine] = int(whole.max(initial=0))
    short = {name: most for name, most in available.items() if most is not None and needed[name] > most}
    told = ", ".join(f"{needed[name]:,} of {name}, which has {most:,}" for name, most in short.items())
    problem = f"there are too few chips, however services are placed: the cheapest way takes {told}"
    return Violation(name="chips", problem=problem, cures=()), {name: needed[name] for name in short}


def _owning(services: Sequence[SizedService]) -> list[SizedService]:
    """Services that each own a share of their machine's most chips, by the hours that theirs are on."""
    found = []
    for one in services:
        beside = [other for other in services if other.machine == one.machine]
        slots = max(other.chips.size for other in beside)
        whole = sum((np.pad(other.chips, (0, slots - other.chips.size)) for other in beside), np.zeros(slots, np.int64))
        hours = sum(other.chip_hours for other in beside)
        share = one.chip_hours / hours if hours else 1.0 / len(beside)
        found.append(replace(one, owned_chips=float(whole.max()) * share))
    return found


def _checked(one: SizedService, which: str, seed: int) -> SizedService:
    """The service with the hours that were followed: the busiest, and the one in which replicas have most to do."""
    if which == "none":
        return one
    from volvelle.applications.serving.fleet.replay import replayed_hour  # noqa: PLC0415 - its compiler is slow

    last = int(one.load.hours[-1])
    busy = np.bincount(one.load.hours, one.load.counts)
    pressed = int(one.load.hours[int(np.argmax(one.strain))])
    hours = sorted({int(np.argmax(busy)), pressed}) if which == "busiest" else range(last + 1)
    found = (replayed_hour(one.instance, one.load, one.plan, hour, one.limits, seed=seed) for hour in hours)
    return replace(one, checks=tuple(check for check in found if check is not None))
