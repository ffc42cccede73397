"""Speculation of an instance: the drafter on its chips, what it keeps in memory, and what its cycles yield.

EAGLE heads and parallel drafters are timed as one dense layer of the target with its head, in 16 bits, split as the
target is; MTP layers as the target's last layer, in its format. The projections that join the hidden state with the
embedding are left out, and so are vocabularies shorter than the target's, which work the other way.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.acceptance.drafters import KnownAcceptance, known_acceptance
from volvelle.applications.serving.instance import Instance, instance
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.serving.cache import cache_bytes, growing_bytes, weight_bytes
from volvelle.estimators.serving.iteration import Iteration
from volvelle.estimators.serving.products import head_product
from volvelle.estimators.serving.speculative import DraftPasses, SpeculativeIteration
from volvelle.laws.serving.cycles import cycles_until, yield_chances
from volvelle.laws.serving.speculation import tree_leaves
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.families.shape import Transformer
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.drafting import Drafter, Drafting
from volvelle.workload.serving.requests import Requests

Whole = NDArray[np.int64]
_SEED = 0x5BEC
"""Apart from the seed of arrivals and lengths."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Speculation:
    """How an instance drafts, with a window that is decided."""

    drafting: Drafting
    acceptance: KnownAcceptance
    served: ServedModel | None = None
    """What drafts; None: nothing that has weights."""
    layout: ServingLayout | None = None
    weights: float = 0.0
    """Bytes of the drafter on a chip, beside what it shares with the target."""

    @property
    def levels(self) -> tuple[float, ...]:
        """Acceptance at each position, or at each level of a tree."""
        return self.acceptance.levels(self.drafting)

    @property
    def tokens(self) -> float:
        """Of a cycle, on average."""
        return self.acceptance.tokens(self.drafting)

    @property
    def lookahead(self) -> int:
        """Slots of the cache that a sequence needs for what may not be accepted."""
        return self.drafting.positions - 1

    @property
    def growing(self) -> float:
        """Bytes that the drafter's cache grows by with a token, on a chip."""
        if self.served is None or self.layout is None:
            return 0.0
        return growing_bytes(self.served, self.layout)

    def cache(self, context: float, *, block: int) -> float:
        """Bytes that the drafter keeps of a request of so many tokens."""
        if self.served is None or self.layout is None:
            return 0.0
        return float(cache_bytes(self.served, self.layout, context, block=block))

    def cycles(self, tokens: int) -> float:
        """Cycles that so many tokens after the first take, on average."""
        return float(np.max(cycles_until(np.array([tokens]), yield_chances(self.levels))[0]))

    def token_cycles(self, tokens: int) -> float:
        """Cycles a token, over so many tokens after the first."""
        return self.cycles(tokens) / tokens if tokens > 0 else 1.0 / self.tokens

    def drawn(self, requests: Requests, seed: int) -> Requests:
        """The requests, each with as many decoding steps as its cycles; drawn, as the tokens of a cycle are chance.

        Each number of cycles is drawn from a normal law with the mean and the variance that it has, and lies between
        the fewest that are possible and one a token. All requests are taken to be accepted alike.
        """
        left = requests.output_tokens - 1
        mean, variance = cycles_until(left, yield_chances(self.levels))
        chance = np.random.default_rng((_SEED, seed))
        around = np.asarray(mean) + np.sqrt(variance) * chance.standard_normal(left.size)
        steps = np.floor(around + chance.random(left.size)).astype(np.int64)
        fewest = -(-left // (len(self.levels) + 1))
        return replace(requests, decode_steps=np.clip(steps, fewest, left))


def speculated(
    target: Instance, drafting: Drafting, catalogue: Catalogue, model: Transformer | None = None
) -> Instance:
    """The instance with a way to draft; `model` is the draft model, where there is one. No window: as it was."""
    assert isinstance(target.iteration, Iteration), "an instance drafts one way"
    if not drafting.window:
        return target
    served, layout = _drafter(target, drafting, model)
    passes = None
    weights = 0.0
    if served is not None and layout is not None:
        own = instance(catalogue, served, target.chip.name, layout, target.engine.name)
        assert isinstance(own.iteration, Iteration), "a drafter does not draft"
        passes = _passes(own.iteration, drafting)
        weights = weight_bytes(served, layout)
        if drafting.drafter is not Drafter.MODEL:
            weights -= head_product(served, layout).bytes
    speculation = Speculation(
        drafting=drafting, acceptance=known_acceptance(drafting), served=served, layout=layout, weights=weights
    )
    iteration = SpeculativeIteration(target=target.iteration, verified=drafting.positions, draft=passes)
    return replace(target, iteration=iteration, speculation=speculation)


def branch_by_branch(target: Instance) -> Instance:
    """A tree as DFModel counts it: its last level is drafted a token at a time, and as many are verified.

    Its other levels are not counted. A drafter that makes a level at a time takes a step a level instead.
    """
    iteration, speculation = target.iteration, target.speculation
    assert isinstance(iteration, SpeculativeIteration), "a tree is drafted"
    assert speculation is not None, "a tree is drafted"
    leaves = int(tree_leaves([float(branches) for branches in speculation.drafting.levels]))
    draft = iteration.draft and replace(iteration.draft, further=(1.0,) * (leaves - 1))
    return replace(target, iteration=replace(iteration, draft=draft, verified=leaves + 1))


def _passes(drafter: Iteration, drafting: Drafting) -> DraftPasses:
    """The first pass is over all that was verified; each further one over the level that the last one made."""
    window = drafting.window or 0
    if drafting.drafter is Drafter.PARALLEL:
        return DraftPasses(iteration=drafter, masked=window - 1.0, heads=float(window))
    return DraftPasses(iteration=drafter, further=tuple(float(width) for width in drafting.widths[:-1]))


def _drafter(
    target: Instance, drafting: Drafting, model: Transformer | None
) -> tuple[ServedModel | None, ServingLayout | None]:
    """What drafts, and how it lies on the chips of the target."""
    served, layout = target.served, target.layout
    if drafting.drafter is Drafter.NGRAM:
        return None, None
    if drafting.drafter is Drafter.MODEL:
        assert model is not None, "a draft model was looked up"
        if model.vocabulary < served.shape.vocabulary:
            raise DescriptionError(
                f"{model.name} has {model.vocabulary:,} words and {served.shape.name} {served.shape.vocabulary:,}: a "
                "draft model needs those of the model that verifies; choose one of the same family"
            )
        tensor = layout.tensor if drafting.tensor is None else drafting.tensor
        if tensor > layout.tensor:
            raise DescriptionError(
                f"the draft model's tp{tensor} is more than --tp {layout.tensor} of the model that verifies; choose "
                f"at most tp{layout.tensor}"
            )
        return replace(served, shape=model), ServingLayout(tensor=tensor)
    if drafting.drafter is Drafter.MTP:
        return replace(served, shape=_last_layer(served.shape)), replace(layout, pipeline=1)
    return replace(served, shape=_dense_layer(served.shape), weights="bf16"), ServingLayout(tensor=layout.tensor)


def _dense_layer(shape: Transformer) -> Transformer:
    """One layer of attention and a feed-forward as wide as the experts that a token goes to."""
    experts = shape.experts
    width = shape.ffn if experts is None else experts.chosen * experts.ffn + experts.shared_ffn
    return replace(
        shape,
        name=f"draft head of {shape.name}",
        layers=1,
        ffn=width,
        experts=None,
        pattern=(),
        window=0,
        mamba=None,
        mamba2=None,
        delta_net=None,
        sparse=None,
        tied_embeddings=True,
    )


def _last_layer(shape: Transformer) -> Transformer:
    """The last layer that attends, alone."""
    kind = next((kind for kind in reversed(shape.kinds) if kind.attends), shape.kinds[-1])
    experts = shape.experts if kind.feed == "experts" else None
    return replace(
        shape,
        name=f"MTP layer of {shape.name}",
        layers=1,
        pattern=(kind,),
        experts=experts and replace(experts, dense_layers=0),
        window=shape.window if kind.mixer == "local attention" else 0,
        mamba=None,
        mamba2=None,
        delta_net=shape.delta_net if kind.mixer == "delta net" else None,
        tied_embeddings=True,
        parallel_block=False,
        norms_per_layer=2 if shape.parallel_block else shape.norms_per_layer,
    )
