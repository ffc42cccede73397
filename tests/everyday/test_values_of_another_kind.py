"""What is of another kind than its field is read as what it plainly means, or refused by the field's name."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from volvelle import Catalogue, VolvelleError, surface
from volvelle.errors import MappingError
from volvelle.mapping.parallelism import CHOICES
from volvelle.search.space import Space
from volvelle.system.routing import Routing

NAN = float("nan")
NEVER: tuple[Any, ...] = (object(), b"bytes", {1: 1}, 2j, NAN)
"""Of no field that is a number, a switch, a word or a member."""
REFUSED: dict[Any, tuple[Any, ...]] = {
    bool: (2, -1, 0.5, "no", "false", np.int64(2)),
    int: (True, "2", 2.5, np.float64(2.5), np.True_, np.array([1.0, 2.0])),
    float: (True, "2", np.True_, np.float32("nan"), [1.0]),
    str: (3, True, ["text"], np.float64(1.0)),
    Literal: ("another", 99, True, 2.5),
    Enum: ("another", 99, True, 2.5, np.True_),
}
READ: dict[Any, tuple[Any, ...]] = {
    bool: (1, 0, np.True_, np.int64(1)),
    int: (np.int64(2), 2.0, np.float64(2.0), np.array(2)),
    float: (np.float32(0.5), np.int64(1), np.float64(1.0)),
    str: (np.str_("text"),),
}


def examples(catalogue: Catalogue) -> dict[type, Any]:
    """One of each public value that people make, from what the catalogue and the verbs make."""
    found: dict[type, Any] = {}
    public = {getattr(surface, name) for name in surface.__all__} | {Routing}

    def gather(value: Any) -> None:
        if is_dataclass(value) and not isinstance(value, type) and type(value) not in found:
            if type(value) in public:
                found[type(value)] = value
            for part in fields(value):
                gather(getattr(value, part.name))
        elif isinstance(value, tuple | Mapping):
            for part in value.values() if isinstance(value, Mapping) else value:
                gather(part)

    for name in ("dgx-h100/64", "tpu-v5p-pod/64"):
        gather(catalogue.cluster(name))
    for name in ("llama3-8b", "deepseek-v3"):
        gather(surface.transformer(catalogue.model(name)))
        gather(catalogue.model(name))
    step = surface.training_step(surface.transformer(catalogue.model("gpt2")), batch=8, lora=16)
    gather((step, surface.ParallelMapping(), surface.CostAssumptions(), surface.REPLICATED, surface.RailOnly()))
    gather((surface.Exact(1.0), surface.Normal(1.0, 0.1), surface.LogNormal(1.0, 1.1), surface.Dragonfly(8)))
    gather((surface.Closed(8), surface.Poisson(2.0), surface.Gamma(2.0, 0.5), surface.Ramp(1.0, 2.0)))
    gather((surface.Trace("requests.csv"), surface.LengthsAround(0.2), surface.LengthsUpTo(0.8)))
    gather((surface.Eagle(3), surface.Mtp(1), surface.Parallel(5), surface.Ngram(4), surface.Draft("gpt2", 4, tp=1)))
    gather(surface.LatencyLimit("ttft", 2.0, percentile=99.0))
    gather((surface.UnderUncertainty(estimator=surface.ClosedForm()), surface.SlimFly(5, 2), surface.PolarFly(7, 2)))
    return found


EXAMPLES = examples(Catalogue())
CHECKED_INSIDE = {surface.Experts, surface.LatentAttention, surface.Mamba, surface.Mamba2, surface.SparseIndex}
"""Looked at where a model takes them."""


def kinds_of(hint: Any) -> set[Any]:
    if get_origin(hint) in (Union, UnionType):
        return set().union(*map(kinds_of, get_args(hint)))
    if get_origin(hint) is Literal:
        return {Literal}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {Enum}
    return {hint}


def plain_fields() -> Iterator[tuple[Any, str, Any, bool]]:
    """Fields that are one number, switch, word or member, with their kinds, and whether a column may stand there."""
    for declared, example in EXAMPLES.items():
        hints = get_type_hints(declared)
        for part in fields(example):
            of_choice = next((one for one in CHOICES if one.name == part.name), None)
            if declared is surface.ParallelMapping and of_choice is not None:
                yield example, part.name, Enum if of_choice.words else of_choice.kind, False
                continue
            kinds = kinds_of(hints[part.name]) - {NoneType}
            columns = {kind for kind in kinds if get_origin(kind) is np.ndarray}
            if len(kinds - columns) == 1 and (kind := next(iter(kinds - columns))) in REFUSED and part.init:
                yield example, part.name, kind, bool(columns)


def inside(example: Any, **change: Any) -> Any:
    """The value with another field, as a whole takes it."""
    changed = replace(example, **change)
    if type(example) in CHECKED_INSIDE:
        field = {"latentattention": "latent"}.get(type(example).__name__.lower(), type(example).__name__.lower())
        replace(Catalogue().model("deepseek-v3"), **{field: changed})
    return changed


def test_most_public_values_have_fields_to_look_at() -> None:
    assert len(EXAMPLES) > 25
    assert len(list(plain_fields())) > 140


@pytest.mark.parametrize("declared", EXAMPLES, ids=lambda declared: declared.__name__)
def test_a_field_of_another_kind_is_refused_by_its_name(declared: type) -> None:
    for example, name, kind, columns in plain_fields():
        if type(example) is not declared:
            continue
        for value in (*NEVER, *REFUSED[kind]):
            if columns and isinstance(value, np.ndarray):
                continue
            with pytest.raises(VolvelleError, match=rf"\b{name}\b"):
                inside(example, **{name: value})


@pytest.mark.parametrize("declared", EXAMPLES, ids=lambda declared: declared.__name__)
def test_what_plainly_means_a_value_is_kept_as_that(declared: type) -> None:
    for example, name, kind, _ in plain_fields():
        if type(example) is not declared:
            continue
        for value in READ.get(kind, ()):
            try:
                kept = getattr(inside(example, **{name: value}), name)
            except VolvelleError:  # outside its domain, or at odds with another field
                continue
            assert type(kept) in ((int, float) if kind is float else (kind,)), (name, value)
            assert kept == value


@pytest.mark.parametrize("choice", [one for one in CHOICES if one.words], ids=lambda one: one.name)
def test_a_member_has_a_word_and_a_number(choice: Any) -> None:
    for word, number in choice.words.items():
        for given in (word, number, np.int64(number), float(number), choice.kind(number)):
            assert getattr(surface.ParallelMapping(**{choice.name: given}), choice.name) is choice.kind(number)
            assert getattr(Space(**{choice.name: (given,)}), choice.name) == (choice.kind(number),)
            assert getattr(surface.MappingTable.columns(**{choice.name: [given]}), choice.name)[0] == number


@pytest.mark.parametrize("given", [range(1, 3), {2, 1}, (stage for stage in (1, 2)), np.array([1, 2])], ids=type)
def test_a_space_takes_whatever_gives_several_values(given: Any) -> None:
    assert Space(zero=given).zero == (1, 2)


def test_recomputation_by_its_number_recomputes() -> None:
    asked: dict[str, Any] = {"on": "dgx-h100/8", "batch": 8}
    by_number = surface.estimate("gpt2", recompute=2, **asked)
    assert by_number.estimate.time == surface.estimate("gpt2", recompute="full", **asked).estimate.time
    assert by_number.estimate.time > surface.estimate("gpt2", recompute=0, **asked).estimate.time


GPT2 = {"model": "gpt2", "on": "dgx-h100/8", "batch": 8}
GATHERED = {"block": surface.transformer(Catalogue().model("gpt2")).blocks[1]}
REDUCED = {"operation": "all-reduce", "size": "1 GB", "on": "dgx-h100/8"}
SERVED = {"model": "llama3-8b", "on": "dgx-h100/8", "batch": 8, "input": 128, "output": 128}


@pytest.mark.parametrize(
    ("verb", "asked", "wrong"),
    [
        ("estimate", GPT2, {"recompute": True, "schedule": "later", "zero": "1", "tensor": True, "pipeline": NAN}),
        ("estimate", GPT2, {"data": -1, "overlap": "no", "ulysses": 2, "graphs": 9, "offload_weights": "yes"}),
        ("estimate", GPT2, {"anyway": "no", "element": 16, "estimator": None, "stack": 5, "margin": True, "seed": 1.5}),
        ("estimate", GPT2, {"on": 8, "model": 3, "mapping": "tp8", "stragglers": [1], "set": "rate=2x"}),
        ("estimate", GPT2, {"lora": True, "freeze": 3, "optimizer": 1, "lengths": 512, "catalogue": 3, "batch": "8"}),
        ("plan", GPT2, {"recompute": (7,), "tensor": "2", "data": [1, True], "sequence_parallel": "no", "top": 2.5}),
        ("plan", GPT2, {"offload": "no", "rank": "first", "framework": "jax", "space": "x", "progress": "x"}),
        ("scale", {"model": "gpt2", "on": "dgx-h100"}, {"growth": "fast", "first": True, "recompute": True, "on": 8}),
        (
            "how_many",
            {"model": "gpt2", "on": "dgx-h100", "tokens": 1e9, "days": 3},
            {"days": "3", "offload": 2, "zero": NAN},
        ),
        ("job", {"model": "gpt2", "on": "dgx-h100/8", "tokens": 1e9}, {"recovery": "slow", "spot": "no", "own": 3}),
        ("cost", {"on": "dgx-h100/8"}, {"model": "free", "building": "no", "since": 2024, "life": NAN, "use": True}),
        ("map", {"graph": "gpt2", "on": "dgx-a100/8"}, {"overlap": "x", "fuse": "no", "objective": 1, "tensor": [NAN]}),
        ("map", {"graph": "gpt2", "on": "dgx-a100/8"}, {"tiles": "64", "limit": True, "prices": "free", "element": 16}),
        ("map", {"graph": "gpt2", "on": "dgx-a100/8"}, {"graph": 3, "micro_batches": 2.5, "assumptions": 3, "set": 3}),
        ("serve", SERVED, {"chunked_prefill": "no", "engine": 3, "tensor": True, "batch": 2.5, "load": 3, "kv": 8}),
        ("collective", REDUCED, {"size": NAN, "algorithm": 3, "operation": 3, "group": (8, True), "routing": 3}),
        ("collective", REDUCED, {"flows": "x", "estimator": "law", "placement": 3, "beside": 3, "seed": -1}),
        (
            "mpi",
            {"traces": []},
            {"traces": 3, "ranks": 2.5, "sharing": "none", "eager": NAN, "recorded_on": 3, "on": 8},
        ),
        ("mpi", {"traces": []}, {"intensity": "2", "compute_ratio": True, "seed": "1", "catalogue": 3}),
        (
            "replay",
            {"trace": "x.json"},
            {"trace": 3, "profile": 3, "like": 3, "gaps": "drop it", "clock": True, "on": 8},
        ),
        ("replay", {"trace": "x.json"}, {"element": 16, "group": 2.5, "source": 3, "seed": NAN, "set": "rate=2x"}),
        ("serve", SERVED, {"lengths": 0.2, "speculate": 3}),
        (
            "plan_serving",
            {"model": "llama3-8b", "on": "dgx-h100/8", "load": "poisson 1/s", "slo": "p99 ttft 2 s"},
            {"load": 12, "slo": 2.0, "lengths": 0.2, "speculate": [3]},
        ),
        ("compare", {"model": "gpt2", "on": "dgx-h100/8", "batch": 8}, {"element": 3, "batch": True, "seed": "1"}),
        ("read_model", {"source": "gpt2"}, {"name": 3, "sequence": "128"}),
        ("validate", {"application": "hpl"}, {"application": 3, "data": 3, "group": 3, "advance": 3}),
        ("crosscheck", GPT2, {"estimators": 3, "routing": 3}),
        ("explore", {"study": {}}, {"study": 3, "compiled": "no", "fresh": 2, "workers": True}),
        ("transformer", {"shape": Catalogue().model("gpt2")}, {"batch": True, "sequence": 0, "shape": "gpt2"}),
        (
            "sampled",
            {"system": Catalogue().cluster("dgx-h100/8")},
            {"samples": "8", "seed": -1},
        ),
        ("by_dimension", {**GATHERED, "preferred": ["ffn"]}, {"preferred": "ffn", "otherwise": 3, "block": "layer"}),
        ("shard", {**GATHERED, "dims": {}}, {"dims": {"query": 3}, "boundary": "split", "block": 3}),
        ("with_backward", {}, {"workload": "gpt2"}),
        ("fitted_constants", {"cluster": Catalogue().cluster("dgx-h100/8"), "element": "bf16"}, {"element": 16}),
    ],
)
def test_an_argument_of_another_kind_is_refused_by_its_name(
    verb: str, asked: dict[str, Any], wrong: dict[str, Any]
) -> None:
    for name, value in wrong.items():
        with pytest.raises(VolvelleError, match=rf"\b{name}\b"):
            _ = getattr(surface, verb)(**{**asked, name: value})


@pytest.mark.parametrize(
    "column", [{"tensor": [0]}, {"zero": [NAN]}, {"overlap": ["no"]}, {"recompute": [1.5]}, {"micro_batch": [2, -1]}]
)
def test_a_column_of_another_kind_is_refused(column: dict[str, Any]) -> None:
    with pytest.raises(MappingError, match=f"{next(iter(column))} is"):
        surface.MappingTable.columns(**column)
    with pytest.raises(MappingError, match=f"{next(iter(column))} is"):
        surface.MappingTable.every(**column)


def test_a_layout_of_a_tensor_is_no_word() -> None:
    with pytest.raises(VolvelleError, match="no layout of a tensor"):
        surface.conversion("partial", surface.REPLICATED)  # type: ignore[arg-type]
    with pytest.raises(VolvelleError, match="dim is 3; it must be text"):
        surface.split(3)  # type: ignore[arg-type]
