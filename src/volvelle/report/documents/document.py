"""How a frozen value becomes a JSON document, and a document its schema.

A document is a class whose fields are the document's keys. It is read from the attributes of a value: those of the same
names, or those that :func:`at` points to. Every document begins with the version of the format and the verb.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import AliasPath, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticUndefined, to_json

from volvelle.base.settings import settings_in_use

VERSION = 2
"""Of the format of all documents; it rises when a key is renamed or changes its meaning."""

DOCUMENTS: dict[str, tuple[str, ...]] = {
    "calibrate": (),
    "catalogue": (
        "volvelle.report.documents.catalogue:RoomsDocument",
        "volvelle.report.documents.catalogue:EntriesDocument",
        "volvelle.report.documents.catalogue:MatchesDocument",
        "volvelle.report.documents.catalogue:ExactDocument",
        "volvelle.report.documents.catalogue:StackDocument",
        "volvelle.catalogue.schema:ChipFile",
        "volvelle.catalogue.schema:CalibrationFile",
        "volvelle.catalogue.schema:LinkFile",
        "volvelle.catalogue.schema:ClusterFile",
        "volvelle.catalogue.schema:ModelFile",
        "volvelle.catalogue.schema:ReliabilityFile",
    ),
    "collective": ("volvelle.report.documents.collective:CollectiveDocument",),
    "compare": ("volvelle.report.documents.compare:CompareDocument",),
    "config": ("volvelle.report.documents.config:ConfigDocument",),
    "cost": ("volvelle.report.documents.cost:CostDocument",),
    "crosscheck": (
        "volvelle.report.documents.crosscheck:CrossCheckDocument",
        "volvelle.report.documents.crosscheck:SuiteDocument",
    ),
    "estimate": ("volvelle.report.documents.estimate:EstimateDocument",),
    "explore": (
        "volvelle.report.documents.explore:ExploreDocument",
        "volvelle.report.documents.explore:InversionDocument",
        "volvelle.report.documents.explore:OutlookDocument",
    ),
    "fleet": ("volvelle.report.documents.fleet:FleetDocument",),
    "job": ("volvelle.report.documents.job:JobDocument",),
    "map": ("volvelle.report.documents.map:MapDocument",),
    "mpi": ("volvelle.report.documents.mpi:MpiDocument",),
    "plan": (
        "volvelle.report.documents.plan:PlanDocument",
        "volvelle.report.documents.plan:LaunchDocument",
        "volvelle.report.documents.plan:SizingDocument",
        "volvelle.report.documents.plan_serving:ServingPlanDocument",
    ),
    "replay": ("volvelle.report.documents.replay:ReplayDocument",),
    "reproduce": (),
    "scale": ("volvelle.report.documents.scale:ScaleDocument",),
    "serve": (
        "volvelle.report.documents.serve:ServeDocument",
        "volvelle.report.documents.serve_split:ServeSplitDocument",
    ),
    "validate": (),
    "why-unsure": ("volvelle.report.documents.why_unsure:WhyUnsureDocument",),
}
"""Verb → the documents it may print, as ``module:class``; a verb that declares none has the general schema. A verb of
an application adds its own here."""


class Document(BaseModel):
    """A document, or a part of one: closed, frozen, and read from the attributes of a value."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, from_attributes=True, json_schema_serialization_defaults_required=True
    )


def at(path: str, default: Any = PydanticUndefined) -> Any:
    """The field that comes from another attribute, like ``estimate.time``; the default where there is none."""
    return Field(default, validation_alias=AliasPath(*path.split(".")))


def json_text(verb: str, value: object, *, exclude_none: bool = False) -> str:
    """What a verb found as JSON text; what is no finite number is null.

    A document or named fields are written as they are; another value is read by the verb's first document.
    """
    document = value if isinstance(value, BaseModel | Mapping) else _classes(verb)[0].model_validate(value)
    body = json.loads(to_json(document, inf_nan_mode="null", exclude_none=exclude_none))
    used = settings_in_use().values()
    settings = {one.key: {"value": json.loads(to_json(one.value)), "file": str(one.file)} for one in used}
    configuration = {"configuration": settings} if settings else {}
    return json.dumps({"version": VERSION, "verb": verb, **body, **configuration}, indent=2, allow_nan=False)


def _classes(verb: str) -> list[type[BaseModel]]:
    paths = [path.partition(":") for path in DOCUMENTS[verb]]
    return [getattr(import_module(module), name) for module, _, name in paths]


def schema(verb: str) -> dict[str, Any]:
    """The JSON Schema of everything that a verb prints."""
    header = {"version": {"const": VERSION}, "verb": {"const": verb}}
    configuration = {"type": "object", "description": "Defaults from configuration files, if any were used."}
    parts: list[dict[str, Any]] = []
    definitions: dict[str, Any] = {}
    for document in _classes(verb):
        part = TypeAdapter(document).json_schema(mode="serialization")
        definitions |= part.pop("$defs", {})
        part["properties"] = {**header, **part["properties"], "configuration": configuration}
        part["required"] = [*header, *part.get("required", ())]
        parts.append(part)
    if not parts:
        parts = [{"title": verb, "type": "object", "properties": header, "required": list(header)}]
    body = parts[0] if len(parts) == 1 else {"title": verb, "anyOf": parts}
    defined = {"$defs": definitions} if definitions else {}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body, **defined}
