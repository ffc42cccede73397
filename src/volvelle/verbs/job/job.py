"""How long a run really takes, with what certainty, and what it costs and burns."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from volvelle.applications.goodput.inputs import (
    Way,
    after_events,
    node_count,
    prior_hazard,
    recorded_out,
    recovery_policy,
    repair_time,
    site_power,
    stated_hazard,
)
from volvelle.applications.goodput.run_estimate import RunEstimate, run_estimate
from volvelle.applications.goodput.run_plan import HourlyPrice, JobHazard, OtherLosses, RecoveryPolicy, RunPlan
from volvelle.applications.goodput.wearing import Batch, preempted, worn
from volvelle.catalogue.places import cloud_places
from volvelle.catalogue.reliability import embodied_mass, own_hazards
from volvelle.catalogue.rents import aged_rent, cloud_rent, clouds, rent_of
from volvelle.domains import (
    ACCELERATORS,
    AGE,
    EVENTS,
    GAP,
    LOST_SHARE,
    NO_SHARE,
    PART_DAYS,
    RECOVERY,
    RENT,
    SEED,
    SEQUENCES,
    SPARES,
    STEP_TIME,
    TOKENS,
    WIDTH,
    YEAR,
    within_domains,
)
from volvelle.economics.usual_terms import USUAL_LIFE, USUAL_USE
from volvelle.errors import DescriptionError, OutsideDomainError, plainly
from volvelle.laws.reliability.emissions import embodied_emissions
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import DAY
from volvelle.questions.machine import Changes
from volvelle.system.cluster import Cluster
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.cost import cost
from volvelle.verbs.job.answer import Job, PlaceCarbon
from volvelle.verbs.job.phases import Phases, read_phases, timed_phases
from volvelle.verbs.job.simulated import simulated
from volvelle.verbs.named import Folder, Machine, Model, catalogue_of, cluster_of

_EMBODIED = {"hopper": ("whole DGX H100", 8), "ampere": ("an eighth of an A100 server", 1)}
"""Families whose making somebody has weighed, and accelerators of the part."""
_KILOGRAMS = 1000.0


@in_command_words
@within_domains
def job(
    model: Model,
    *,
    on: Machine,
    tokens: Annotated[str | float | None, TOKENS] = None,
    phases: Phases | None = None,
    batch: Annotated[int | None, SEQUENCES] = None,
    sequence: Annotated[int | None, WIDTH] = None,
    mapping: ParallelMapping | None = None,
    element: str = "bf16",
    stack: str = "",
    step: Annotated[str | float | None, STEP_TIME] = None,
    recovery: Way = "asynchronous",
    restart: Annotated[str | float | None, RECOVERY] = None,
    stall: Annotated[str | float | None, RECOVERY] = None,
    write: Annotated[str | float | None, RECOVERY] = None,
    interval: Annotated[str | float | None, RECOVERY] = None,
    replicas: Annotated[int, ACCELERATORS] = 1,
    common: Annotated[str | float, NO_SHARE] = 0.0,
    survived: Annotated[str | float | None, NO_SHARE] = None,
    storage_stall: Annotated[str | float | None, RECOVERY] = None,
    storage_restart: Annotated[str | float | None, RECOVERY] = None,
    spares: Annotated[int | None, SPARES] = None,
    hazard: Path | str | None = None,
    events: Annotated[float | None, EVENTS] = None,
    node_days: Annotated[float | None, PART_DAYS] = None,
    age: Annotated[float | None, AGE] = None,
    wear: Batch | None = None,
    preempted_every: Annotated[str | float | None, GAP] = None,
    capacity_wait: Annotated[str | float | None, RECOVERY] = None,
    spot: bool = False,
    planned: Annotated[str | float, LOST_SHARE] = 0.0,
    slow_nodes: Annotated[str | float, NO_SHARE] = 0.0,
    slower: Annotated[str | float, NO_SHARE] = 0.1,
    rent: str | float | None = None,
    own: bool = False,
    region: str | None = None,
    year: Annotated[int | None, YEAR] = None,
    check: Literal["", "simulate"] = "",
    seed: Annotated[int, SEED] = 0,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
    **choices: Any,
) -> Job:
    """Days, money, energy and carbon of training on `tokens` in all, interruptions included.

    The layout is a `ParallelMapping` or its fields by name, as in `estimate`; without any, the best is planned; or the
    time of a `step` is given, as measured. In place of `tokens`, `phases` is a file or a list of phases, each with its
    tokens and what differs from the rest of the question. Failures are those of clusters that were measured, unless
    `hazard` names a file of one's own, or `events` in `node_days` were seen; accelerators of an `age` in years also
    wear out, as a batch of Titan's did (`wear`) or as the file's `ages` say. A job that is `preempted_every` so often
    waits for capacity (`capacity_wait`) each time; with `spot`, it pays a cloud's spot price. `recovery` is
    asynchronous, synchronous, memory (of peers), two-tier (there, which a share of failures is `survived` by, and in
    storage by `storage_stall` and `storage_restart`) or elastic (`replicas` restart alone, but for a `common` share of
    failures); `restart`, `stall`, `write` and `interval` replace what studies say. With `spares`, nodes are waited for
    where more are out. `rent` is a cloud or dollars an hour; with `own`, what owning costs. `region` and `year` say
    whose grid it is. ``check="simulate"`` runs it failure by failure too.
    """
    known = catalogue_of(catalogue)
    cluster = cluster_of(on, known, stack=stack, changes=set)
    timed, notes = timed_phases(
        model,
        cluster=cluster,
        phases=read_phases(phases, tokens),
        step=step,
        asked={"batch": batch, "sequence": sequence, "mapping": mapping, "element": element, "stack": stack},
        settings={"on": on, "set": set, "catalogue": known},
        choices=choices,
    )
    work = sum(phase.run.work for phase in timed)
    failures, said = _hazard(cluster, hazard, events=events, node_days=node_days)
    if age is not None:
        failures, aged = worn(failures, cluster, age=AGE.read(age, "age"), work=work, batch=wear, file=hazard)
        said = (*said, *aged)
    elif wear is not None:
        raise DescriptionError(
            f"accelerators wear out as the {wear} batch did, but not from which age on; give age in years, or leave "
            "wear out"
        )
    spotted = _preemptions(preempted_every, capacity_wait, spot=spot, rent=rent)
    if spotted is not None:
        failures = preempted(failures, every=spotted)
    power, drawn = site_power(cluster, region, year)
    prices = _prices(cluster, on, rent, own=own, spot=spot, settings={"set": set, "catalogue": known})
    policy = recovery_policy(
        recovery,
        **{
            name: None if given is None else RECOVERY.read(given, name)
            for name, given in {
                "restart": restart,
                "stall": stall,
                "write": write,
                "interval": interval,
                "storage_stall": storage_stall,
                "storage_restart": storage_restart,
            }.items()
        },
        survived=None if survived is None else NO_SHARE.read(survived, "survived"),
        replicas=replicas,
        common=NO_SHARE.read(common, "common"),
    )
    policy = replace(
        policy,
        capacity_wait=0.0 if capacity_wait is None else RECOVERY.read(capacity_wait, "capacity_wait"),
    )
    run_plan = RunPlan(
        model=str(getattr(model, "name", model)),
        system=cluster.name,
        accelerators=cluster.accelerators,
        nodes=node_count(cluster),
        phases=tuple(phase.run for phase in timed),
        hazard=failures,
        recovery=policy,
        losses=OtherLosses(
            planned=LOST_SHARE.read(planned, "planned"),
            slow_share=NO_SHARE.read(slow_nodes, "slow_nodes"),
            slower=NO_SHARE.read(slower, "slower"),
        ),
        spares=spares,
        repair=repair_time(),
        dispersion=recorded_out().dispersion,
        power=power,
        prices=prices,
    )
    run = run_estimate(run_plan, seed=seed)
    basis = {
        "failures": failures.basis,
        "recovery": _recovery_words(recovery, policy),
        "spares": "from a pool that others fill: neither waited nor paid for" if spares is None else f"{spares} nodes",
        "planned stops": f"{100 * run_plan.losses.planned:g} % of the time",
        "slow nodes": "as in the runs that the step was calibrated on" if not run_plan.losses.slow_share else "stated",
        "power and place": drawn,
    }
    return Job(
        model=run_plan.model,
        system=cluster.name,
        tokens=run_plan.tokens,
        steps=sum(phase.run.steps for phase in timed),
        step_seconds=work / sum(phase.run.steps for phase in timed),
        mapping=max(timed, key=lambda phase: phase.run.work).mapping,
        phases=timed,
        run=run,
        places=_places(run),
        embodied_tco2e=_embodied(cluster, run),
        basis=basis,
        notes=(*notes, *said, *(price.warning for price in prices if price.warning)),
        simulated=simulated(run, seed) if check == "simulate" else None,
    )


def _recovery_words(way: str, policy: RecoveryPolicy) -> str:
    """Times of a way to recover, with their spread."""
    times = {
        "restart": policy.restart,
        "stall": policy.stall,
        "restart from storage": policy.storage_restart,
        "stall for storage": policy.storage_stall,
    }
    told = ", ".join(
        f"{name} {time.median:.3g} s ×/÷ {time.factor:.2f}" for name, time in times.items() if time is not None
    )
    doubt = f" ×/÷ {policy.write_doubt:.2f}" if policy.write_doubt > 1.0 else ""
    return f"{way}: {told}, write {policy.write:.3g} s{doubt}"


def _hazard(
    cluster: Cluster, file: Path | str | None, *, events: float | None, node_days: float | None
) -> tuple[JobHazard, tuple[str, ...]]:
    """What fails, and what is to be said of it."""
    if (events is None) != (node_days is None):
        raise DescriptionError("events and node_days belong together: so many events in so many days of a node")
    if file is not None and events is not None:
        raise DescriptionError("both hazard and events are given: a stated rate is not updated; give one of them")
    if file is not None:
        return stated_hazard(cluster, own_hazards(Path(file))), ()
    found, notes = prior_hazard(cluster)
    if events is None or node_days is None:
        return found, notes
    return after_events(found, nodes=node_count(cluster), events=events, node_days=node_days), notes


def _preemptions(
    every: str | float | None, wait: str | float | None, *, spot: bool, rent: str | float | None
) -> float | None:
    """Seconds between preemptions; None: there are none."""
    if every is None:
        if spot or wait is not None:
            raise DescriptionError(
                "capacity that may be taken away is asked for, but not how often it is; give preempted_every, like "
                "'12 h': no source of ours has it, and your own log does"
            )
        return None
    if spot and not (isinstance(rent, str) and plainly(rent) in clouds()):
        raise DescriptionError(
            f"spot is a price of a cloud; give rent as one of {', '.join(clouds())}, or leave spot out and give "
            "your own price of it as rent, like '1.5 USD/h'"
        )
    return GAP.read(every, "preempted_every")


def _prices(
    cluster: Cluster, on: Machine, rent: str | float | None, *, own: bool, spot: bool, settings: dict[str, Any]
) -> tuple[HourlyPrice, ...]:
    """Dollars an hour of an accelerator, rented and owned; nothing where nobody says."""
    found = []
    chip = cluster.chip.name
    if isinstance(rent, str) and plainly(rent) in clouds():
        offer = cloud_rent(chip, rent)
        if spot and offer.spot is None:
            raise DescriptionError(
                f"no spot price of {chip} at {offer.cloud} is known; leave spot out and give yours as rent, "
                "like '1.5 USD/h'"
            )
        middle = offer.spot if spot and offer.spot is not None else offer.dollars_per_hour
        found.append(
            HourlyPrice(
                way="rented",
                low=middle if spot else offer.low,
                middle=middle,
                high=middle if spot else offer.high,
                what=f"{offer.cloud} {'spot' if spot else 'on demand'}, {offer.date}",
                warning=offer.aged(),
            )
        )
    elif rent is not None:
        if isinstance(rent, str) and not rent.strip()[:1].isdigit():
            cloud_rent(chip, rent)
        dollars = RENT.read(rent, "rent")
        found.append(HourlyPrice(way="rented", low=dollars, middle=dollars, high=dollars, what="as given"))
    elif not own and (offers := rent_of(chip, cluster.name)) is not None:
        found.append(
            HourlyPrice(
                way="rented",
                low=offers.low,
                middle=offers.dollars_per_hour,
                high=offers.high,
                what=offers.words,
                warning=aged_rent(offers.until),
            )
        )
    if own or not found:
        try:
            account = cost(on=on, **settings)
        except OutsideDomainError:
            if own:
                raise
            return ()  # the answer says that no price is known
        low, typical, high = (
            float(np.max(end.breakdown.dollars_per_second)) * 3600.0 / cluster.accelerators
            for end in (account.low, account.typical, account.high)
        )
        what = "machine, plant, interest, maintenance and energy over 4 years at 80 % use, by the price book"
        found.append(HourlyPrice(way="owned", low=low, middle=typical, high=high, what=what))
    return tuple(found)


def _places(run: RunEstimate) -> tuple[PlaceCarbon, ...]:
    """The cleanest, the middle and the dirtiest region of clouds."""
    known = cloud_places()
    if run.kwh is None:
        return ()
    shown = [known[0], known[len(known) // 4], known[len(known) // 2], known[3 * len(known) // 4], known[-1]]
    return tuple(
        PlaceCarbon(
            place=place.name,
            where=place.where,
            grams_per_kwh=place.grams_per_kwh,
            tco2e=run.kwh.value * place.grams_per_kwh / 1e6,
        )
        for place in shown
    )


def _embodied(cluster: Cluster, run: RunEstimate) -> float | None:
    """Tonnes of making the machine that the run bears: four years at 80 %."""
    part = _EMBODIED.get(cluster.chip.family)
    if part is None:
        return None
    mass = embodied_mass(part[0]).value / part[1] * cluster.accelerators
    return float(embodied_emissions(mass, run.days.value * DAY, life=USUAL_LIFE, use=USUAL_USE)) / _KILOGRAMS
