"""Speculation of an instance: the drafter on its chips, what it keeps in memory, and what its cycles yield.

EAGLE heads and parallel drafters are timed as one dense layer of the target with its head, in 16 bits, split as the
target is; MTP layers as the target's last layer, in its format. The projections that join the hidden state with the
embedding are left out, and so are vocabularies shorter than the target's, which work the other way.
"""

from dataclasses import replace

from volvelle.applications.acceptance.drafters import known_acceptance
from volvelle.applications.serving.instance import Instance, instance
from volvelle.applications.serving.speculation.drafts import Speculation
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.serving.cache import weight_bytes
from volvelle.estimators.serving.iteration import Iteration
from volvelle.estimators.serving.products import head_product
from volvelle.estimators.serving.speculative import DraftPasses, SpeculativeIteration
from volvelle.laws.serving.speculation import tree_leaves
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.families.shape import Transformer
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.drafting import Drafting, DraftMethod


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
        if drafting.drafter is not DraftMethod.MODEL:
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
    if drafting.drafter is DraftMethod.PARALLEL:
        return DraftPasses(iteration=drafter, masked=window - 1.0, heads=float(window))
    return DraftPasses(iteration=drafter, further=tuple(float(width) for width in drafting.widths[:-1]))


def _drafter(
    target: Instance, drafting: Drafting, model: Transformer | None
) -> tuple[ServedModel | None, ServingLayout | None]:
    """What drafts, and how it lies on the chips of the target."""
    served, layout = target.served, target.layout
    if drafting.drafter is DraftMethod.NGRAM:
        return None, None
    if drafting.drafter is DraftMethod.MODEL:
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
    if drafting.drafter is DraftMethod.MTP:
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
