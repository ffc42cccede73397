"""What the words of a described fleet stand for: instances on machines, loads, limits, policies, prices."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from volvelle.applications.serving.fleet.scaling import Scaling
from volvelle.applications.serving.instance import Instance
from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import owned_terms
from volvelle.catalogue.rents import rent_of
from volvelle.domains import BYTE_RATE, PRICE, RENT, SHARE, WAIT
from volvelle.economics.chip_hours import ChipHours, chip_hours
from volvelle.errors import DescriptionError, brief
from volvelle.estimators.serving.cache import weight_bytes
from volvelle.interchange.fleet_file import ColdStartForm, LoadForm, MachineForm, ScalingForm, ServiceForm
from volvelle.interchange.load_words import read_load
from volvelle.interchange.request_trace import read_trace
from volvelle.system.cluster import Cluster
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.verbs.serving.request_lengths import request_lengths
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.lengths import AbstractShape, Empirical
from volvelle.workload.serving.loads import AbstractSteadyRate, Closed, Recorded
from volvelle.workload.serving.offered import OfferedLoad

_DAY = 24
"""Hours for which a load of one rate is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineKind:
    """A machine of the fleet."""

    name: str
    node: Cluster
    """One node of it."""
    chips: int | None
    """That there are; None: as many as it takes."""
    prices: ChipHours


def machine_kind(name: str, form: MachineForm, catalogue: Catalogue) -> MachineKind:
    """A machine by its name, like ``dgx-h100``, or ``dgx-h100/64`` where there are so many chips."""
    kind, slash, _ = name.partition("/")
    whole = catalogue.cluster(name) if slash else catalogue.node(kind)
    if slash and form.chips is not None:
        raise DescriptionError(f"{name!r} has chips in its name and as a number ({form.chips}); give them once")
    node = catalogue.node(kind)
    if whole.accelerators < node.accelerators:
        node = whole
    rent = rent_of(node.chip.name, node.name)
    priced = node
    if form.price is not None:
        priced = replace(node, chip=node.chip.priced(PRICE.read(form.price, f"machine {name!r}: price")))
    given = None if form.rent is None else RENT.read(form.rent, f"machine {name!r}: rent")
    return MachineKind(
        name=node.name.partition("/")[0],
        node=node,
        chips=whole.accelerators if slash else form.chips,
        prices=chip_hours(
            priced,
            rent=rent.dollars_per_hour if given is None and rent is not None else given,
            offered="as given" if given is not None else "" if rent is None else rent.words,
            assumptions=owned_terms(priced),
        ),
    )


def service_question(service: ServiceForm, machine: MachineKind) -> ServingQuestion:
    """What is asked of one replica of a service on a machine."""
    load = service.load
    asked = ServingQuestion(
        model=service.model,
        on=machine.node.name,
        load=load.words,
        **{name: getattr(service, name) for name in ("engine", "kv", "tensor", "pipeline", "expert", "data")},
        **{
            name: getattr(service, name)
            for name in ("max_batched_tokens", "max_seqs", "chunked_prefill", "memory_share")
        },
        **{name: getattr(load, name) for name in ("input", "output", "lengths")},
    )
    node = machine.node.accelerators
    wanted = (service.tensor or node) * service.pipeline * service.data
    if wanted <= node:
        return asked
    # More stages than a node holds: as many whole nodes as they take.
    return asked.changed(on=f"{machine.name}/{-(-wanted // node) * node}")


def one_replica(question: ServingQuestion, catalogue: Catalogue, shape: Transformer) -> tuple[Instance, Cluster]:
    """The instance that is asked about, and chips that hold one."""
    cluster = catalogue.cluster(question.on)
    return question.instance(catalogue, shape, cluster), cluster


def offered_load(service: ServiceForm, folder: Path | None) -> OfferedLoad:
    """The load of a service, minute by minute; files stand in the folder of the fleet's file."""
    form = service.load
    question = ServingQuestion(
        model=service.model, on="", load=form.words, input=form.input, output=form.output, lengths=form.lengths
    )
    if form.words is None:
        shape = _shape(form, question, folder)
        hours = np.tile(np.array(form.rates, np.float64), form.days)
        return OfferedLoad.of_hours(hours, shape, burstiness=form.burstiness, factor=form.times)
    load = read_load(_placed(form.words, folder))
    if isinstance(load, Recorded):
        if form.lengths_of is not None:
            raise DescriptionError("a trace has lengths of its own; leave lengths_of away")
        request_lengths(load, question)
        return OfferedLoad.of_trace(load.recorded, load.rate_factor)
    if isinstance(load, AbstractSteadyRate):
        rates = np.full(_DAY * form.days, load.rate)
        return OfferedLoad.of_hours(rates, _shape(form, question, folder), burstiness=load.burstiness)
    raise DescriptionError(
        f"service {service.called!r}: the load {brief(form.words)} has no rate that a fleet could follow; write "
        "'trace FILE ×1.5', 'poisson 12/s', 'gamma 12/s 0.5', or a rate for every hour in a file"
    )


def _shape(form: LoadForm, question: ServingQuestion, folder: Path | None) -> AbstractShape:
    if form.lengths_of is not None:
        return Empirical.of(read_trace(_path(form.lengths_of, folder)).requests)
    # The load that is asked with is no trace: any other has lengths of its own in words.
    shape = request_lengths(Closed(clients=1), question)
    assert shape is not None, "only a trace has lengths of its own"
    return shape


def _placed(words: str, folder: Path | None) -> str:
    """The words of a load, the file of a trace found from the folder of the fleet's file."""
    kind, _, rest = words.strip().partition(" ")
    if folder is None or kind.lower() != "trace" or Path(rest.strip()).is_absolute():
        return words
    return f"trace {folder / rest.strip()}"


def _path(name: str, folder: Path | None) -> Path:
    return Path(name) if folder is None else folder / name


def scaling_of(form: ScalingForm) -> Scaling:
    """A policy."""
    return Scaling(
        kind=form.kind,
        target=SHARE.read(form.target, "scaling: target"),
        look_back=WAIT.read(form.look_back, "scaling: look_back"),
        cool_down=WAIT.read(form.cool_down, "scaling: cool_down"),
        least=form.least,
    )


def cold_start_of(form: ColdStartForm, instance: Instance) -> float:
    """Seconds until a replica serves: reading the weights of all of its chips, then the engine's own start."""
    if form.seconds is not None:
        return WAIT.read(form.seconds, "cold_start")
    held = float(weight_bytes(instance.served, instance.layout)) * instance.layout.chips
    read = held / BYTE_RATE.read(form.storage, "cold_start: storage")
    return read + WAIT.read(form.engine, "cold_start: engine")


def kinds_of(machines: Mapping[str, MachineForm], catalogue: Catalogue) -> dict[str, MachineKind]:
    """All machines of a fleet, by the names that it calls them."""
    found = {name: machine_kind(name, form, catalogue) for name, form in machines.items()}
    names = [kind.name for kind in found.values()]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DescriptionError(f"the machine {twice!r} is in the fleet twice; name it once, with all of its chips")
    return found
