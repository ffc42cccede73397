"""A collective as flows on the links of a machine: what routes, placement and other jobs make of its law."""

from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.domains import SIZE
from volvelle.errors import DescriptionError, UnknownNameError, brief, plainly
from volvelle.estimators.collective_flows.contended import ContendedTime, Job, contended_time
from volvelle.estimators.collective_flows.placement import Placement
from volvelle.estimators.collectives import LAWS, Algorithm
from volvelle.quantities import BYTES, show
from volvelle.questions.collective import FlowQuestion
from volvelle.system.cluster import Cluster
from volvelle.system.routing import Routing
from volvelle.workload.tensor_layout import Collective

SAME = "same"
"""A job beside that runs the same collective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowAnswer:
    """The time of a collective as flows, by cause."""

    times: ContendedTime
    placement: str
    beside: tuple[str, ...]
    routing: tuple[str, ...]
    """Rules of the dimensions that the group spans."""
    closed_form: float
    """Seconds by the closed form of the same algorithm."""

    @property
    def time(self) -> float:
        """Seconds, beside the other jobs."""
        return self.times.beside


def flow_answer(
    cluster: Cluster, along: Sequence[int], asked: FlowQuestion, *, job: Job, closed_form: float
) -> FlowAnswer:
    """What is asked of a collective as flows."""
    routing = None if asked.routing is None else Routing.named(asked.routing, seed=asked.seed)
    known = {plainly(each.value): each for each in Placement}
    if plainly(asked.placement) not in known:
        raise UnknownNameError.among("placement", asked.placement, [each.value for each in Placement])
    placement = known[plainly(asked.placement)]
    others = [_job(words, job) for words in asked.beside]
    times = contended_time(cluster, job, along, beside=others, placement=placement, routing=routing, seed=asked.seed)
    return FlowAnswer(
        times=times,
        placement=placement.value,
        beside=tuple(f"{each.kind.value} of {show(each.size, BYTES)}" for each in others),
        routing=tuple(
            f"{part.name}: {rule.rule.value}"
            for part, members in zip(cluster.dimensions, along, strict=True)
            if members > 1 and (rule := routing or part.routing) is not None and part.topology.chooses(part.size)
        ),
        closed_form=closed_form,
    )


def _job(words: str, own: Job) -> Job:
    """The job that ``all-to-all 1GB`` or ``same`` stands for."""
    if plainly(words) == SAME:
        return own
    name, _, size = words.strip().partition(" ")
    kinds = {plainly(each.value): each for each in LAWS}
    if not size or plainly(name) not in kinds:
        raise DescriptionError(
            f"beside is {brief(words)}; write what another job runs, like 'all-to-all 1GB', or same: a collective of "
            f"{', '.join(each.value for each in LAWS)}, and its size"
        )
    kind: Collective = kinds[plainly(name)]
    return Job(kind=kind, size=SIZE.read(size.strip(), "beside"), algorithm=Algorithm.NESTED)
