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
from volvelle.applications.goodput.run_estimate import RunEstimate, middle, run_estimate
from volvelle.applications.goodput.run_plan import HourlyPrice, JobHazard, OtherLosses, RunPhase, RunPlan
from volvelle.applications.goodput.wall_time import chance_variance
from volvelle.catalogue.places import cloud_places
from volvelle.catalogue.reliability import embodied_mass, own_hazards
from volvelle.catalogue.rents import aged_rent, cloud_rent, clouds, rent_of
from volvelle.domains import (
    ACCELERATORS,
    EVENTS,
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
from volvelle.errors import DescriptionError, MappingError, plainly
from volvelle.laws.reliability.emissions import embodied_emissions
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import DAY, JULIAN_YEAR
from volvelle.simulation.failures.gaps import ExponentialGaps
from volvelle.simulation.failures.runs import Recovery, simulate_runs
from volvelle.system.cluster import Cluster
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.cost import cost
from volvelle.verbs.estimate import estimate
from volvelle.verbs.job.answer import Job, PlaceCarbon, Simulated
from volvelle.verbs.named import Folder, Machine, Model, catalogue_of, cluster_of, model_of
from volvelle.verbs.plan import plan
from volvelle.verbs.what_if import Changes
from volvelle.workload.families.transformer import transformer

_TOKENS_A_CHIP = 1024
"""Of the global batch, where none is given."""
_SIMULATED = 2000
"""Runs of a check."""
_MOST_FAILURES = 20_000
"""Of one of them: ten seconds of a core."""
_EMBODIED = {"hopper": ("whole DGX H100", 8), "ampere": ("an eighth of an A100 server", 1)}
"""Families whose making somebody has weighed, and accelerators of the part."""
_KILOGRAMS = 1000.0


@in_command_words
@within_domains
def job(
    model: Model,
    *,
    on: Machine,
    tokens: Annotated[str | float, TOKENS],
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
    spares: Annotated[int | None, SPARES] = None,
    hazard: Path | str | None = None,
    events: Annotated[float | None, EVENTS] = None,
    node_days: Annotated[float | None, PART_DAYS] = None,
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
    time of a `step` is given, as measured. Failures are those of clusters that were measured, unless `hazard` names a
    file of one's own, or `events` in `node_days` were seen. `recovery` is asynchronous, synchronous, memory (of peers)
    or elastic (`replicas` restart alone); `restart`, `stall`, `write` and `interval` replace what studies say. With
    `spares`, nodes are waited for where more are out. `rent` is a cloud or dollars an hour; with `own`, what owning
    costs. `region` and `year` say whose grid it is. ``check="simulate"`` runs it failure by failure too.
    """
    known = catalogue_of(catalogue)
    cluster = cluster_of(on, known, stack=stack, changes=set)
    phase, layout, notes = _phase(
        model,
        cluster=cluster,
        tokens=TOKENS.read(tokens, "tokens"),
        step=None if step is None else STEP_TIME.read(step, "step"),
        asked={"batch": batch, "sequence": sequence, "mapping": mapping, "element": element, "stack": stack},
        settings={"on": on, "set": set, "catalogue": known},
        choices=choices,
    )
    failures, said = _hazard(cluster, hazard, events=events, node_days=node_days)
    power, drawn = site_power(cluster, region, year)
    prices = _prices(cluster, on, rent, own=own, settings={"set": set, "catalogue": known})
    policy = recovery_policy(
        recovery,
        **{
            name: None if given is None else RECOVERY.read(given, name)
            for name, given in {"restart": restart, "stall": stall, "write": write, "interval": interval}.items()
        },
        replicas=replicas,
    )
    run_plan = RunPlan(
        model=str(getattr(model, "name", model)),
        system=cluster.name,
        accelerators=cluster.accelerators,
        nodes=node_count(cluster),
        phases=(phase,),
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
        "recovery": f"{recovery}: restart {policy.restart.median:.3g} s ×/÷ {policy.restart.factor:.2f}, "
        f"stall {policy.stall.median:.3g} s ×/÷ {policy.stall.factor:.2f}, write {policy.write:.3g} s",
        "spares": "from a pool that others fill: neither waited nor paid for" if spares is None else f"{spares} nodes",
        "planned stops": f"{100 * run_plan.losses.planned:g} % of the time",
        "slow nodes": "as in the runs that the step was calibrated on" if not run_plan.losses.slow_share else "stated",
        "power and place": drawn,
    }
    return Job(
        model=run_plan.model,
        system=cluster.name,
        tokens=phase.tokens,
        steps=phase.tokens / phase.tokens_per_step,
        step_seconds=phase.step,
        mapping=layout,
        run=run,
        places=_places(run),
        embodied_tco2e=_embodied(cluster, run),
        basis=basis,
        notes=(*notes, *said, *(price.warning for price in prices if price.warning)),
        simulated=_simulated(run, seed) if check == "simulate" else None,
    )


def _phase(
    model: Model,
    *,
    cluster: Cluster,
    tokens: float,
    step: float | None,
    asked: dict[str, Any],
    settings: dict[str, Any],
    choices: dict[str, Any],
) -> tuple[RunPhase, ParallelMapping | None, tuple[str, ...]]:
    """The run's one phase, with the time of its step as given, as estimated for a layout, or of the best layout."""
    notes = list(cluster.notes)
    if asked["batch"] is None:
        length = (
            asked["sequence"] or transformer(model_of(model, catalogue_of(settings["catalogue"]))).sizes["position"]
        )
        batch = max(1, _TOKENS_A_CHIP * cluster.accelerators // int(length))
        asked = {**asked, "batch": batch}
        notes.append(f"no --batch given: {batch} sequences, about {_TOKENS_A_CHIP} tokens a chip")
    if step is not None:
        length = (
            asked["sequence"] or transformer(model_of(model, catalogue_of(settings["catalogue"]))).sizes["position"]
        )
        per_step = float(asked["batch"] * int(length))
        return RunPhase(tokens=tokens, tokens_per_step=per_step, step=step), None, tuple(notes)
    if not choices and asked["mapping"] is None:
        found = plan(
            model, top=1, anyway=True, **{name: value for name, value in asked.items() if name != "mapping"}, **settings
        )
        if not found.layouts:
            raise MappingError(
                f"no layout of {model} runs on {cluster.name}; volvelle plan {model} --on {cluster.name} says why"
            )
        asked = {**asked, "mapping": found.layouts[0].mapping}
        notes.append("no layout given: the fastest of volvelle plan")
    answer = estimate(model, anyway=True, **asked, **settings, **choices)
    if answer.speed is None:
        raise MappingError(f"there is no such layout: {answer.estimate.violations[0].problem}")
    if not answer.estimate.feasible:
        notes.append("the layout does not fit in memory; volvelle estimate says by how much")
    doubt = 1.0 if answer.samples is None else float(np.exp(np.std(np.log(answer.samples))))
    timed = answer.estimate
    phase = RunPhase(tokens=tokens, tokens_per_step=float(timed.tokens), step=float(timed.time), doubt=doubt)
    return phase, timed.mapping, tuple(notes)


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


def _prices(
    cluster: Cluster, on: Machine, rent: str | float | None, *, own: bool, settings: dict[str, Any]
) -> tuple[HourlyPrice, ...]:
    """Dollars an hour of an accelerator, rented and owned; nothing where nobody says."""
    found = []
    chip = cluster.chip.name
    if isinstance(rent, str) and plainly(rent) in clouds():
        offer = cloud_rent(chip, rent)
        found.append(
            HourlyPrice(
                way="rented",
                low=offer.low,
                middle=offer.dollars_per_hour,
                high=offer.high,
                what=f"{offer.cloud} on demand, {offer.date}",
                warning=offer.aged(),
            )
        )
    elif rent is not None:
        if isinstance(rent, str) and not rent.strip()[:1].isdigit():
            cloud_rent(chip, rent)
        dollars = RENT.read(rent, "rent")
        found.append(HourlyPrice(way="rented", low=dollars, middle=dollars, high=dollars, what="as given"))
    elif not own and (offers := rent_of(chip)) is not None:
        found.append(
            HourlyPrice(
                way="rented",
                low=offers.low,
                middle=offers.dollars_per_hour,
                high=offers.high,
                what=f"{offers.offers} offers of {offers.since} to {offers.until}",
                warning=aged_rent(offers.until),
            )
        )
    if own or not found:
        account = cost(on=on, **settings)
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
            tco2e=run.kwh.p50 * place.grams_per_kwh / 1e6,
        )
        for place in shown
    )


def _embodied(cluster: Cluster, run: RunEstimate) -> float | None:
    """Tonnes of making the machine that the run bears: four years at 80 %."""
    part = _EMBODIED.get(cluster.chip.family)
    if part is None:
        return None
    mass = embodied_mass(part[0]).value / part[1] * cluster.accelerators
    return float(embodied_emissions(mass, run.days.p50 * DAY, life=4 * JULIAN_YEAR, use=0.8)) / _KILOGRAMS


def _simulated(run: RunEstimate, seed: int) -> Simulated:
    """The run at middle values, many times; of replicas that restart alone there is no simulation."""
    centre = middle(run.plan)
    if centre.alone:
        raise DescriptionError("replicas that restart alone are not simulated; ask without --check or another recovery")
    if run.problem:
        raise DescriptionError(f"the run is not simulated, it would not end: {run.problem}")
    expected = run.wall / float(centre.between)
    if expected > _MOST_FAILURES:
        raise DescriptionError(
            f"a run would fail {expected:,.0f} times, more than the {_MOST_FAILURES:,} that are simulated; ask without "
            "--check, or of fewer tokens"
        )
    elsewhere = float(np.asarray(centre.left))
    whole = replace(centre, waiting=0.0, planned=0.0, corruption=0.0)
    recovery = Recovery(
        work=float(np.asarray(centre.chosen)),
        stall=float(np.asarray(centre.stall)),
        restart=float(np.asarray(centre.restart)),
        write=float(np.asarray(centre.write)),
        slowdown=float(np.asarray(centre.slowdown)),
    )
    mean = float(np.minimum(centre.between, 1e30))
    found = simulate_runs(
        float(np.asarray(centre.work * centre.slow)), recovery, ExponentialGaps(mean=mean), runs=_SIMULATED, seed=seed
    )
    return Simulated(
        runs=_SIMULATED,
        failures=float(np.mean(found.failures)),
        days=found.mean / elsewhere / DAY,
        deviation=float(np.std(found.time)) / elsewhere / DAY,
        closed_days=run.wall / DAY,
        closed_deviation=float(np.sqrt(chance_variance(whole))) / elsewhere / DAY,
    )
