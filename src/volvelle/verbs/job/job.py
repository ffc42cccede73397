"""How long a run really takes, with what certainty, and what it costs and burns."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from volvelle.applications.goodput.inputs import (
    after_events,
    node_count,
    preempted,
    prior_hazard,
    recorded_out,
    recovery_policy,
    repair_time,
    site_power,
    stated_hazard,
)
from volvelle.applications.goodput.run_estimate import RunEstimate, run_estimate
from volvelle.applications.goodput.run_plan import HourlyPrice, JobHazard, OtherLosses, RecoveryPolicy, RunPlan
from volvelle.base.python_function import ask, asks
from volvelle.catalogue.places import cloud_places
from volvelle.catalogue.reliability import own_hazards
from volvelle.catalogue.rents import aged_rent, cloud_rent, clouds, rent_of
from volvelle.domains import RENT
from volvelle.errors import DescriptionError, OutsideDomainError, plainly
from volvelle.questions.cost import CostQuestion
from volvelle.questions.job import JobQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.cost import cost
from volvelle.verbs.job.answer import Job, PlaceCarbon
from volvelle.verbs.job.phases import read_phases, timed_phases
from volvelle.verbs.job.simulated import simulated
from volvelle.verbs.named import catalogue_of, cluster_of


@asks(JobQuestion)
def job(question: JobQuestion) -> Job:
    """Return the days, money, energy and carbon of a training run, failures included.

    The layout is a `ParallelMapping` or its fields by name, as in `estimate`. Without a layout, the fastest layout of
    `plan` is used; a measured time of a `step` needs none. Instead of `tokens`, `phases` is a file or a list of phases
    with their tokens and what differs from the rest of the question. Failure rates come from clusters that were
    measured, unless `hazard` names a file of your own, or you observed `events` in `node_days`.

    `restart`, `stall`, `write` and `interval` replace the values of published studies. With recovery ``"two-tier"``, a
    share of failures is `survived` in the memory of peers; the others use storage. With ``"elastic"``, `replicas`
    restart alone, except for a `common` share of failures. With `spares`, the job waits for nodes if more are broken.
    A job that is `preempted_every` so often waits for capacity each time (`capacity_wait`). `rent` is a cloud or a
    price per hour. ``check="simulate"`` also simulates the run failure by failure.
    """
    known = catalogue_of(question.catalogue)
    cluster = cluster_of(question.on, known, stack=question.software, changes=question.set)
    timed, notes = timed_phases(question, cluster, read_phases(question.phases, question.tokens))
    work = sum(phase.run.work for phase in timed)
    failures, said = _hazard(question, cluster)
    preemptions = _preemptions(question)
    if preemptions is not None:
        failures = preempted(failures, every=preemptions)
    power, drawn = site_power(cluster, question.region, question.year)
    prices = _prices(question, cluster)
    policy = recovery_policy(
        question.recovery,
        restart=question.si("restart"),
        stall=question.si("stall"),
        write=question.si("write"),
        interval=question.si("interval"),
        storage_stall=question.si("storage_stall"),
        storage_restart=question.si("storage_restart"),
        survived=question.si("survived"),
        replicas=question.replicas,
        common=question.si("common") or 0.0,
    )
    policy = replace(policy, capacity_wait=question.si("capacity_wait") or 0.0)
    spares = question.spares
    run_plan = RunPlan(
        model=str(getattr(question.model, "name", question.model)),
        system=cluster.name,
        accelerators=cluster.accelerators,
        nodes=node_count(cluster),
        phases=tuple(phase.run for phase in timed),
        hazard=failures,
        recovery=policy,
        losses=OtherLosses(
            planned=question.si("planned") or 0.0,
            slow_share=question.si("slow_nodes") or 0.0,
            slower=question.si("slower") or 0.0,
        ),
        spares=spares,
        repair=repair_time(),
        dispersion=recorded_out().dispersion,
        power=power,
        prices=prices,
    )
    run = run_estimate(run_plan, seed=question.seed)
    basis = {
        "failures": failures.basis,
        "recovery": _recovery_words(question.recovery, policy),
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
        basis=basis,
        notes=(*notes, *said, *(price.warning for price in prices if price.warning)),
        simulated=None if question.check is None else simulated(run, question.seed),
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


def _hazard(question: JobQuestion, cluster: Cluster) -> tuple[JobHazard, tuple[str, ...]]:
    """Return the failure rates of a machine, and notes about them."""
    events, node_days, file = question.events, question.node_days, question.hazard
    if (events is None) != (node_days is None):
        raise DescriptionError("--events and --node-days belong together: interruptions, and the node-days observed")
    if file is not None and events is not None:
        raise DescriptionError(
            "both --hazard and --events are given: a stated rate is not updated; give one of the two"
        )
    if file is not None:
        return stated_hazard(cluster, own_hazards(Path(file))), ()
    found, notes = prior_hazard(cluster)
    if events is None or node_days is None:
        return found, notes
    return after_events(found, nodes=node_count(cluster), events=events, node_days=node_days), notes


def _rented(question: JobQuestion) -> str | None:
    """Return the cloud that the machine is rented from, by its name; None if it is not a cloud."""
    rent = question.rent
    return rent if isinstance(rent, str) and plainly(rent) in clouds() else None


def _preemptions(question: JobQuestion) -> float | None:
    """Return the seconds between preemptions; None if there are none."""
    if question.preempted_every is None:
        if question.spot or question.capacity_wait is not None:
            raise DescriptionError(
                "the job may be preempted, but the time between preemptions is missing; give --preempted-every, like "
                "'12 h': no source of ours has it, and your own log does"
            )
        return None
    if question.spot and _rented(question) is None:
        raise DescriptionError(
            f"a spot price is a price of a cloud; give --rent as one of {', '.join(clouds())}, or leave out --spot "
            "and give your own price as --rent, like '1.5 USD/h'"
        )
    return question.si("preempted_every")


def _prices(question: JobQuestion, cluster: Cluster) -> tuple[HourlyPrice, ...]:
    """Return the dollars per hour of an accelerator, rented and owned; nothing where no price is known."""
    found = []
    chip, rent, cloud, spot = cluster.chip.name, question.rent, _rented(question), question.spot
    if cloud is not None:
        offer = cloud_rent(chip, cloud)
        if spot and offer.spot is None:
            raise DescriptionError(
                f"no spot price of {chip} at {offer.cloud} is known; leave out --spot and give yours as --rent, "
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
    elif not question.own and (offers := rent_of(chip, cluster.name)) is not None:
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
    if question.own or not found:
        try:
            account = ask(cost, CostQuestion(on=question.on, set=question.set, catalogue=question.catalogue))
        except OutsideDomainError:
            if question.own:
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
