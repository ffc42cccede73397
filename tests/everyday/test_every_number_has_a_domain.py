"""Every number that can be written has a domain where it is declared, and refuses what lies outside."""

import re
from collections.abc import Iterator
from inspect import isroutine
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import click
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from tests.everyday.maker import domain_of_type
from volvelle import Catalogue, surface
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.applications.training.training_step import training_step
from volvelle.base.option_kinds import Joined, Listed, Number
from volvelle.base.question import Question
from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.prices import _File as PricesFile
from volvelle.catalogue.schema import ROOMS, Datum, Reference
from volvelle.cli import VERBS, _volvelle
from volvelle.cli.plan_application import plan_command
from volvelle.domains import NumberDomain, domains_of
from volvelle.errors import DescriptionError, MappingError
from volvelle.interchange.load_words import Trace
from volvelle.interchange.study_file import StudyForm
from volvelle.mapping.parallelism import CHOICES, ParallelMapping
from volvelle.questions.workloads import KEYS
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.metrics import Limits
from volvelle.simulation.batching.rules import Rules
from volvelle.studies.design_space.fields import field_names, numeric_field
from volvelle.studies.design_space.structure import structural_domain, structural_names
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.verbs import estimate
from volvelle.workload.families.shape import (
    DeltaNet,
    Experts,
    LatentAttention,
    Mamba,
    Mamba2,
    SparseIndex,
    Transformer,
)
from volvelle.workload.serving.lengths import FixedLength, LogNormalLengths, UniformAround, UniformBelow
from volvelle.workload.serving.loads import Closed, Gamma, Poisson, Ramp, Recorded
from volvelle.workload.serving.requests import Requests
from volvelle.workload.training import TrainingStep
from volvelle.workload.tuning import Tuning

NUMBERS = (int, float, Datum)
VALUES = (
    Chip,
    Memory,
    Link,
    Cluster,
    Dimension,
    TrainingStep,
    Transformer,
    Experts,
    LatentAttention,
    Mamba,
    Mamba2,
    DeltaNet,
    SparseIndex,
    Tuning,
    Rules,
    Limits,
    StepCosts,
    Requests,
    Closed,
    Poisson,
    Gamma,
    Ramp,
    Recorded,
    Trace,
    FixedLength,
    UniformAround,
    UniformBelow,
    LogNormalLengths,
)
OUTSIDE = (float("nan"), float("inf"), -float("inf"))
QUESTIONS: list[type[Question]] = [
    verb.question for name in surface.__all__ if isroutine(verb := getattr(surface, name)) and hasattr(verb, "question")
]
"""The questions of all functions of the package that ask one."""


def numbers_of(hint: Any, domain: NumberDomain | None = None) -> Iterator[tuple[Any, NumberDomain | None]]:
    """Every kind of number within an annotation, with the domain that stands nearest around it."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *said = get_args(hint)
        yield from numbers_of(inner, next((part for part in said if isinstance(part, NumberDomain)), domain))
    elif hint in NUMBERS:
        yield hint, domain
    elif origin in (Union, UnionType, tuple, list, dict):
        for part in get_args(hint):
            yield from numbers_of(part, domain)


def fields_of(form: type[BaseModel], seen: set[type]) -> Iterator[tuple[str, Any, NumberDomain | None]]:
    """Every number of a form of a file and of the forms in it."""
    if form in seen:
        return
    seen.add(form)
    for name, hint in get_type_hints(form, include_extras=True).items():
        if name.startswith(("model_", "__")):
            continue
        info = form.model_fields.get(name)
        around = next((part for part in (info.metadata if info else ()) if isinstance(part, NumberDomain)), None)
        for kind, domain in numbers_of(hint, around):
            yield f"{form.__name__}.{name}", kind, domain
        for inner in forms_in(hint):
            yield from fields_of(inner, seen)


def forms_in(hint: Any) -> Iterator[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        if hint is not Datum:
            yield hint
    else:
        for part in get_args(hint):
            yield from forms_in(part)


FREE = {
    "SpreadFile.interval": "read with the domain of the number it is the spread of",
    "SpreadFile.normal": "read with the domain of the number it is the spread of",
    "CalibrationFile.constants": "each constant has its own: volvelle.estimators.calibration.CONSTANTS",
    "AxisForm.values": "read with the domain of the field that is varied",
    "AxisForm.start": "read with the domain of the field that is varied",
    "AxisForm.end": "read with the domain of the field that is varied",
    "AxisForm.linked": "read with the domain of the fields that are varied",
    "RangeForm.start": "read with the domain of the field that is varied",
    "RangeForm.end": "read with the domain of the field that is varied",
    "MappingForm.choices": "read with the domain of the field of the layout",
    "StudyForm.set": "read with the domain of the field that is set",
    "TransformerFile.norms_per_layer": "one of three",
}
"""Numbers whose domain is that of another."""


@pytest.mark.parametrize("form", [*(form for _, form in ROOMS.values()), Reference, PricesFile, StudyForm])
def test_every_number_of_a_file_has_a_domain(form: type[BaseModel]) -> None:
    found = list(fields_of(form, set()))
    assert found
    bare = [name for name, _, domain in found if domain is None and name not in FREE]
    assert not bare


@pytest.mark.parametrize("form", [*(form for _, form in ROOMS.values()), Reference, StudyForm])
def test_a_number_of_a_file_outside_its_domain_is_refused(form: type[BaseModel]) -> None:
    for name, kind, domain in fields_of(form, set()):
        if domain is None:
            continue
        for value in (*OUTSIDE, domain.least - max(1.0, abs(domain.least)), domain.most * 10):
            if kind is Datum:
                stated = value if domain.kind is None else f"{value} {_base(domain)}"
                datum = Datum(value=stated, kind="assumed", source="s")
                with pytest.raises(DescriptionError, match=r"it must be|is not a"):
                    read_figure(datum, domain, where=name, sources={"s"})
            else:
                with pytest.raises(ValidationError, match=r"it must be|int"):
                    TypeAdapter(Annotated[kind, domain]).validate_python(value)


def _base(domain: NumberDomain) -> str:
    assert domain.kind is not None
    return next(unit for unit, size in domain.kind.units.items() if size == 1.0)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_every_number_of_a_frozen_value_has_a_domain(value: type) -> None:
    hints = get_type_hints(value)
    numeric = {name for name, hint in hints.items() if any(kind in (int, float) for kind, _ in numbers_of(hint))}
    assert numeric - set(domains_of(value)) - {"norms_per_layer"} == set()


def test_every_axis_has_a_domain(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("dgx-h100/64")
    for path in field_names(cluster):
        field = numeric_field(path, cluster)
        assert field is not None, path
        for value in (*OUTSIDE, -1.0):
            with pytest.raises(DescriptionError, match="it must be"):
                field.domain.check(value, path)
    words = ("system", "chip", "stack", "link", "topology", "workload", "memory", "shape")
    fields = {f"workload.{name}": part for keys in KEYS.values() for name, part in keys.items()}
    for path in structural_names(cluster):
        number = isinstance(fields[path].kind, Number) if path in fields else path.rpartition(".")[2] not in words
        assert (structural_domain(path) is not None) == number, path


def commands() -> Iterator[click.Command]:
    for verb in VERBS:
        command = _volvelle.get_command(click.Context(_volvelle), verb)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            names = command.list_commands(click.Context(command))
            yield from filter(None, (command.get_command(click.Context(command), name) for name in names))
    yield from filter(None, (plan_command(application(name)) for name in APPLICATIONS))


def test_every_option_that_is_a_number_has_a_domain_and_refuses_its_outside() -> None:
    found = 0
    for command in commands():
        for option in command.params:
            number = type(option.type).__name__ in ("IntParamType", "FloatParamType", "IntRange", "FloatRange")
            assert not number, f"{command.name} {option.opts}: use Number(domain)"
            domain = domain_of_type(option.type)
            if domain is None:
                continue
            found += 1
            unit = "" if domain.kind is None else f" {_base(domain)}"
            for value in ("nan", "inf", "-1e9", "1e400", "9" * 30, "", "x"):
                with pytest.raises(click.BadParameter):
                    option.type.convert(f"{value}{unit}", option, None)
    assert found > 60


FREE_FIELDS = {
    "set": "read with the domain of the field of the machine",
    "stragglers": "read with the domain of a share",
    "rent": "the name of a cloud, or read with the domain of a rent",
}
"""Fields of questions whose numbers are read where their other values are."""


@pytest.mark.parametrize(
    "question",
    [
        found
        for name in surface.__all__
        if isinstance(found := getattr(getattr(surface, name), "question", None), type) and issubclass(found, Question)
    ],
    ids=lambda question: question.__name__,
)
def test_every_field_of_a_question_that_is_a_number_has_a_domain(question: type[Question]) -> None:
    for part in question.options():
        declared = str(question.__dataclass_fields__[part.name].type)  # type: ignore[attr-defined]
        if "Callable" in declared or re.search(r"\b(int|float)\b", declared) is None:
            continue
        kind = part.kind.item if isinstance(part.kind, Listed | Joined) else part.kind
        assert isinstance(kind, Number) or part.name in FREE_FIELDS, part.name
        if isinstance(kind, Number):
            with pytest.raises(DescriptionError, match=f"{part.name} is nan; it must be"):
                part.read((float("nan"),) * part.values if part.values > 1 else float("nan"))


def test_every_argument_of_fine_tuning_that_is_a_number_has_a_domain() -> None:
    for name, hint in get_type_hints(training_step, include_extras=True).items():
        assert not [kind for kind, domain in numbers_of(hint) if domain is None], name
    for name in ("lora", "qlora", "freeze_layers"):
        with pytest.raises(DescriptionError, match=f"{name} is nan; it must be"):
            estimate.estimate("gpt2", on="dgx-h100/8", batch=8, **{name: float("nan")})


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.name)
def test_every_field_of_a_layout_has_a_domain(choice: Any) -> None:
    if choice.kind is int:
        for value in (choice.domain.least - 1, choice.domain.most + 1):
            with pytest.raises(MappingError, match=f"{choice.name} is {value}; it must be a whole number from"):
                ParallelMapping(**{choice.name: value})


def test_what_python_is_given_is_looked_at_as_well() -> None:
    with pytest.raises(DescriptionError, match=r"link 'x': latency is -1\.00 s; it must be a time from 0 s"):
        surface.Link(name="x", rate=1e9, latency=-1.0)
    with pytest.raises(DescriptionError, match="batch is -8; it must be a whole number from 1"):
        surface.estimate("gpt2", on="dgx-h100/8", batch=-8)
