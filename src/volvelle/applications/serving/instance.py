"""One instance of a served model: what is served, on which chips, laid out how, by which engine, told what."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from volvelle.applications.serving.kernel_sets import kernel_set
from volvelle.applications.serving.stand_ins import FIGURES, StandIn, stand_ins
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import ServingEngine, serving_engine
from volvelle.catalogue.saved_file import is_yaml_name
from volvelle.errors import OutsideDomainError
from volvelle.estimators.serving.cache import MemoryPlan, cache_bytes, weight_bytes
from volvelle.estimators.serving.engine_constants import USUAL_LONGEST, EngineConstants, KernelSet
from volvelle.estimators.serving.iteration import Iteration
from volvelle.estimators.serving.speculative import TimedSteps
from volvelle.estimators.serving.step_tables import step_costs
from volvelle.laws.serving.balance import draws_of_each_until_all
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.quantities import BYTES, show
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.rules import Rules, sglang, tensorrt_llm, vllm
from volvelle.system.chip import Chip
from volvelle.workload.served_model import FORMATS, ServedModel

if TYPE_CHECKING:
    from volvelle.applications.serving.speculation.drafts import Speculation

MIXERS = ("attention", "local attention", "delta net", "none")
"""Kinds of layers that can be timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an engine is told; None: its own default."""

    token_budget: int | None = None
    chunk: int | None = None
    max_sequences: int | None = None
    memory_share: float | None = None
    receive_interval: int = 1
    batch_wait_steps: int = 0
    batch_wait_ratio: float = 0.0
    balance_steps: int = 0
    """Between two in which prompts start that not all ranks of data parallelism have one of; 0: they start in any."""
    balance_wait_steps: int = 0
    """That prompts wait once all ranks have one."""
    stream_interval: int = 1
    prefix_caching: bool = True
    chunks: bool | None = None
    ahead: bool = True
    """Whether the next step is scheduled while one runs."""
    longest: int | None = None
    """Tokens of the longest request there may be, where an engine was told, or left at what the checkpoint says."""
    kv_tokens: int | None = None
    """Tokens that the cache holds, where that is known; None: what memory leaves."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Instance:
    """A served model, ready to be asked."""

    served: ServedModel
    chip: Chip
    layout: ServingLayout
    engine: ServingEngine
    iteration: TimedSteps
    settings: Settings = field(default_factory=Settings)
    speculation: "Speculation | None" = None
    """How tokens are drafted; None: they are not."""

    @property
    def memory(self) -> MemoryPlan:
        """How the memory of a chip is shared out."""
        given, defaults = self.settings.memory_share, self.engine.defaults
        return MemoryPlan(
            capacity=float(self.chip.capacity),
            share=defaults["memory_share"] if given is None else given,
            working=defaults["working"],
            block=int(defaults["block"]),
            of_rest=self.engine.rules == "trtllm",
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a reader must know before the figures: what stands in, and how much it widens ranges."""
        kernels = self.iteration.kernels
        found = [f"{one.note}; {self._effect_of(one)}" for one in stand_ins(self.chip, kernels)]
        kinds = (taken.partition(": ") for taken in kernels.taken_from)
        alike = (whose for kind, _, whose in kinds if kind == "all kernels" and not kernels.stand_in)
        found += [
            f"no serving kernel was measured on {self.chip.name}: shares of peak of {whose}, of its family, stand in, "
            "and ranges do not cover the difference"
            for whose in alike
        ]
        return tuple(found)

    def _effect_of(self, stand_in: StandIn) -> str:
        """Return how a stand-in changes ranges: it widens those that no run on such chips includes it in."""
        experts = self.served.shape.experts is not None
        wider = [figure for figure in FIGURES if stand_in.widens(self.engine, figure, self.chip, experts=experts)]
        if not wider:
            return f"ranges cover this, because {self.engine.title} was run on {self.chip.family} chips"
        return stand_in.effect if len(wider) == len(FIGURES) else f"{stand_in.effect} ({', '.join(wider)})"

    @property
    def kv_blocks(self) -> int:
        """Blocks that the cache of one chip holds, of requests that share it."""
        if self.settings.kv_tokens is not None:
            return self.settings.kv_tokens // self.memory.block
        drafts = self.speculation
        return self.memory.blocks(
            self.served,
            self.layout,
            beside=self.draft_weights,
            growing_beside=0.0 if drafts is None else drafts.growing,
        )

    @property
    def draft_weights(self) -> float:
        """Bytes of what drafts, on a chip."""
        return 0.0 if self.speculation is None else self.speculation.weights

    def request_cache(self, context: float) -> float:
        """Bytes that a request of so many tokens keeps on a chip: its own, slots for drafts, and the drafter's."""
        block, drafts = self.memory.block, self.speculation
        if drafts is None:
            return float(cache_bytes(self.served, self.layout, context, block=block))
        ahead = context + drafts.lookahead
        own = float(cache_bytes(self.served, self.layout, ahead, block=block))
        return own + drafts.cache(ahead, block=block)

    def fits(self, context: float) -> bool:
        """Whether weights and one request of so many tokens fit."""
        return self.memory.room(self.served, self.layout, beside=self.draft_weights) >= self.request_cache(context)

    def with_constants(self, constants: EngineConstants) -> "Instance":
        """The same under an engine that adds other times to its kernels, as fits try them."""
        assert isinstance(self.iteration, Iteration), "measured runs do not draft"
        return replace(
            self,
            iteration=replace(self.iteration, engine=constants),
            engine=replace(self.engine, constants=constants),
        )

    @property
    def filled(self) -> "Instance":
        """The same with as many micro-batches in flight as it has stages."""
        assert isinstance(self.iteration, Iteration), "measured runs do not draft"
        return replace(self, iteration=replace(self.iteration, filled=True))

    def why_not(self, context: float) -> str:
        """What does not fit, in words."""
        plan = self.memory
        held = weight_bytes(self.served, self.layout)
        may = plan.allowed(held)
        return (
            f"{self.served.shape.name} in {self.served.weights} takes {show(held, BYTES)} of {show(may, BYTES)} that "
            f"{self.engine.title} may use of each {self.chip.name}, which leaves no room for a request of "
            f"{context:,.0f} tokens; spread it over more chips, or take narrower weights"
        )

    def rules(self, *, concurrency: int | None = None) -> Rules:
        """Of the scheduler; no more sequences than there can be at once.

        Of the tokens of a step and the sequences that decode in it, what is told bounds what is not.
        """
        return _rules(self, concurrency)

    def costs(self, asked: Rules) -> StepCosts:
        """Of all steps that the rules allow."""
        return _costs(self, asked.most_tokens, asked.max_sequences)


@lru_cache(maxsize=4096)
def _rules(one: Instance, concurrency: int | None) -> Rules:
    given, defaults, verified = one.settings, one.engine.defaults, one.iteration.verified
    most = int(defaults["max_sequences"]) if given.max_sequences is None else given.max_sequences
    if given.max_sequences is None and given.token_budget is not None and one.engine.rules != "sglang":
        most = max(1, min(most, given.token_budget // verified))
    if concurrency is not None:
        most = min(most, max(concurrency, 1))
    budget = given.token_budget or max(int(defaults["token_budget"]), most * verified)
    shared: dict[str, Any] = {
        "kv_blocks": max(one.kv_blocks, 1),
        "max_sequences": most,
        "block_tokens": one.memory.block,
        "prefix_caching": given.prefix_caching,
        "ahead": given.ahead and one.engine.constants.host_overlapped,
        "stream_interval": given.stream_interval,
        "api_seconds": one.engine.constants.first_token,
        "tokenising": one.engine.constants.tokenising,
        "verified": verified,
    }
    if one.engine.rules == "vllm":
        return vllm(token_budget=budget, **shared)
    if one.engine.rules == "sglang":
        chunk = int(defaults.get("chunk", budget)) if given.chunk is None else given.chunk
        shared["receive_interval"] = given.receive_interval
        return sglang(token_budget=max(budget, chunk), chunk_tokens=chunk, **shared)
    return tensorrt_llm(
        token_budget=budget,
        chunks=bool(given.chunks),
        batch_wait_steps=given.batch_wait_steps,
        batch_wait_ratio=given.batch_wait_ratio,
        balance_steps=given.balance_steps if one.layout.data > 1 else 0,
        balance_wait_steps=given.balance_wait_steps,
        balance_queue=round(draws_of_each_until_all(one.layout.data)),
        **shared,
    )


@lru_cache(maxsize=512)
def _costs(one: Instance, tokens: int, sequences: int) -> StepCosts:
    return step_costs(one.iteration, most_tokens=tokens, most_sequences=sequences)


def instance(
    catalogue: Catalogue,
    served: ServedModel,
    chip: str,
    layout: ServingLayout,
    engine: str,
    settings: Settings | None = None,
) -> Instance:
    """An instance by the names of its chip and its engine, or of the file of its engine, which may have changed."""
    made = _instance.__wrapped__ if is_yaml_name(engine) else _instance
    return made(catalogue, served, chip, layout, engine, settings)


@lru_cache(maxsize=512)
def _instance(
    catalogue: Catalogue,
    served: ServedModel,
    chip: str,
    layout: ServingLayout,
    engine: str,
    settings: Settings | None,
) -> Instance:
    layout.checked(served.shape)
    found = catalogue.chip(chip)
    named = serving_engine(engine, found.family)
    own_keys = served.shape.heads == served.shape.kv_heads and served.shape.latent is None
    kernels = kernel_set(catalogue, named.kernels, found.name, served.cache, own_keys=own_keys, version=named.version)
    _check_kernels(served, kernels, found)
    _check_layers(served, layout, kernels, found)
    told = settings or Settings()
    return Instance(
        served=served,
        chip=found,
        layout=layout,
        engine=named,
        iteration=Iteration(
            served=served,
            layout=layout,
            chip=found,
            kernels=kernels,
            engine=named.constants,
            ahead=told.ahead,
            longest=float(told.longest or USUAL_LONGEST),
        ),
        settings=told,
    )


def _check_layers(served: ServedModel, layout: ServingLayout, kernels: KernelSet, chip: Chip) -> None:
    """Refuse layers and exchanges that no kernel is known for."""
    unknown = sorted({kind.mixer for kind in served.shape.kinds} - set(MIXERS))
    if unknown:
        raise OutsideDomainError(
            f"{served.shape.name} has layers of {', '.join(unknown)}, which no serving kernel was measured for; layers "
            f"that can be timed: {', '.join(MIXERS[:-1])}"
        )
    if served.shape.latent is not None and not (kernels.latent_prompt and kernels.latent_token):
        raise OutsideDomainError(
            f"{served.shape.name} has latent attention, which was not measured on {chip.name} or its family"
        )
    if layout.chips > 1 and not (kernels.all_reduce or kernels.all_to_all):
        raise OutsideDomainError(
            f"no collectives between chips of a node were measured on {chip.name} or its family; serve on one chip"
        )


def _check_kernels(served: ServedModel, kernels: KernelSet, chip: Chip) -> None:
    """Reject formats that the chip's kernels were never measured in."""
    lacking = _lacking_kernels(served, kernels)
    if not lacking:
        return
    family = f"its family ({chip.family})" if chip.family else "its family"
    stand_in = f", and {kernels.stand_in}, which stands in for it, has none" if kernels.stand_in else ""
    timed = [name for name in FORMATS if not _lacking_kernels(replace(served, weights=name), kernels)]
    cure = f"take --weights {' or '.join(timed)}" if timed else "no other format was measured either: take other chips"
    raise OutsideDomainError(
        f"no kernels in {lacking[0]} were measured on {chip.name} or {family}{stand_in}, so {served.weights} weights "
        f"cannot be timed there; {cure}"
    )


def _lacking_kernels(served: ServedModel, kernels: KernelSet) -> list[str]:
    """Return the element types that the weights need and in which no kernel is known."""
    lacking = [] if served.dense_format.kernels in kernels.products else [served.dense_format.kernels]
    if served.shape.experts is not None and served.expert_format.kernels not in kernels.experts:
        lacking.append(served.expert_format.kernels)
    return lacking
