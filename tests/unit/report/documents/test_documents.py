"""Every verb's JSON follows its published schema, feasible or not, and holds finite numbers alone."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import volvelle
from tests.conftest import ROOT
from tests.trace_files import MADE, written
from volvelle import Catalogue
from volvelle.cli import VERBS
from volvelle.report.documents.catalogue import catalogue_document
from volvelle.report.documents.document import DOCUMENTS, VERSION, json_text, schema
from volvelle.report.documents.explore import ExploreDocument, InversionDocument, OutlookDocument, RanEntry
from volvelle.verbs.explore import outlook, sweep


def refuse(token: str) -> None:
    raise AssertionError(f"{token} is not JSON")


def checked(verb: str, value: object, **options: Any) -> dict[str, Any]:
    """The document as other programs read it, after its schema was asked."""
    document = json.loads(json_text(verb, value, **options), parse_constant=refuse)
    jsonschema.Draft202012Validator(schema(verb)).validate(document)
    assert document["version"] == VERSION
    assert document["verb"] == verb
    return document  # type: ignore[no-any-return]


def test_every_verb_that_prints_json_has_a_schema() -> None:
    assert set(DOCUMENTS) == set(VERBS) - {"schema", "completion"}


@pytest.mark.parametrize("verb", sorted(DOCUMENTS))
def test_a_schema_is_one_and_knows_the_header(verb: str) -> None:
    published = schema(verb)
    jsonschema.Draft202012Validator.check_schema(published)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": VERSION + 1, "verb": verb}, published)


@pytest.mark.parametrize("verb", sorted(verb for verb, documents in DOCUMENTS.items() if documents))
def test_a_schema_is_closed(verb: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": VERSION, "verb": verb, "surprise": 1}, schema(verb))


@pytest.mark.parametrize(("tensor", "feasible"), [(8, True), (1, False)])
def test_an_estimate_follows_its_schema(tensor: int, feasible: bool) -> None:
    answer = volvelle.estimate("llama3-70b", on="dgx-h100/64", batch=64, tensor=tensor, pipeline=2 * tensor // 4 or 1)
    document = checked("estimate", answer)
    assert document["feasible"] is feasible
    assert bool(document["violations"]) is not feasible
    exposed = sum(line["seconds"] for line in document["contributions"] if line["exposed"])
    assert exposed == pytest.approx(document["seconds"])


@pytest.mark.parametrize(("model", "layouts"), [("gpt2", 4), ("llama3-405b", 0)])
def test_a_plan_follows_its_schema(model: str, layouts: int) -> None:
    document = checked("plan", volvelle.plan(model, on="dgx-a100/8", batch=64))
    assert len(document["layouts"]) == layouts
    assert (document["range"] is None) is (layouts == 0)


@pytest.mark.parametrize(("system", "feasible"), [("dgx-h100/8", True), ("dgx-h100/1", False)])
def test_a_mapped_graph_follows_its_schema(system: str, feasible: bool) -> None:
    graph = ROOT / "examples" / "graphs" / "unet.yaml" if feasible else "gpt3-175b"
    document = checked("map", volvelle.map(graph, on=system, limit=4))
    assert document["feasible"] is feasible
    assert (document["seconds"] is None) is not feasible
    assert document["parameters"] > 0
    assert document["flops"] > 0


def test_estimate_and_map_count_parameters_and_flops_alike(catalogue: Catalogue) -> None:
    shape = catalogue.model("gpt2")
    workload = volvelle.with_backward(volvelle.transformer(shape))
    mapped = volvelle.map(workload, on="dgx-a100/1", micro_batches=8, tiles=(1024,), limit=1)
    estimated = checked("estimate", volvelle.estimate(shape, on="dgx-a100/8", batch=8))
    document = checked("map", mapped)
    assert document["parameters"] == estimated["parameters"]
    assert document["flops"] == pytest.approx(estimated["flops"], rel=1e-12)


@pytest.mark.parametrize("more", [{}, {"step": "9.8 s"}, {"step": "9.8 s", "tokens_per_step": 4e6, "tokens": 1e12}])
@pytest.mark.parametrize("model", ["market", "parts"])
def test_costs_follow_their_schema(more: dict[str, Any], model: Any) -> None:
    document = checked("cost", volvelle.cost(on="dgx-h100/64", model=model, **more))
    assert (document["typical"]["step"] is None) is (not more)
    assert (document["typical"]["training_usd"] is None) is ("tokens" not in more)


@pytest.mark.parametrize(("model", "feasible"), [("llama3-8b", True), ("llama3-405b", False)])
def test_scaling_follows_its_schema(model: str, feasible: bool) -> None:
    found = volvelle.scale(model, on="dgx-h100", last=16, batch=64, tensor=(1, 8), pipeline=1)
    document = checked("scale", found)
    assert (document["points"][0]["step"] is not None) is feasible


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("on", [None, "dgx-h100/8"])
def test_replayed_traces_follow_their_schema(name: str, on: str | None, tmp_path: Path) -> None:
    document = checked("replay", volvelle.replay(written(tmp_path, name), on=on, clock="1 GHz"))
    assert document["system"] == on
    parts = sum(part["seconds"] for part in document["where_time_goes"])
    assert parts == pytest.approx(document["seconds"], rel=1e-9)
    if on is None:
        assert document["range"] is document["weakest_evidence"] is None
    else:
        assert document["range"]["low"] <= document["seconds"] <= document["range"]["high"]
        assert sum(document["rests_on_shares"].values()) == pytest.approx(1.0)
        assert document["weakest_evidence"] in ("measured", "vendor", "derived", "assumed")


@pytest.mark.parametrize("operation", ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"])
@pytest.mark.parametrize("more", [{}, {"group": "1x8"}, {"set": {"scale_up.latency": "2x"}}])
def test_collectives_follow_their_schema(operation: str, more: dict[str, Any]) -> None:
    document = checked("collective", volvelle.collective(operation, "1 GB", on="dgx-h100/64", **more))
    assert (document["baseline_seconds"] is None) is ("set" not in more)
    parts = document["dimensions"]
    waits = sum(part["latency_seconds"] + part["fill_seconds"] for part in parts)
    longest = max(part["transfer_seconds"] for part in parts)
    assert document["setup_seconds"] + waits + longest == pytest.approx(document["seconds"], rel=1e-9)


@pytest.mark.parametrize(("most", "feasible"), [("1.2 MW", True), ("1 W", False)])
def test_what_explore_prints_follows_its_schema(most: str, feasible: bool, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    from tests.small_studies import FIELDS  # noqa: PLC0415 - needs an extra

    ahead = outlook({**FIELDS, "constraints": [f"power <= {most}"]}, workers=1, out=tmp_path / "results")
    assert checked("explore", OutlookDocument.model_validate(ahead))["points"] == 72
    done = sweep(ahead)
    answers = ExploreDocument.model_validate(done.answers())
    document = checked("explore", answers.model_copy(update={"ran": RanEntry.model_validate(done)}))
    assert (document["best"]["design"] is not None) is feasible
    assert (document["around_best"] is not None) is feasible
    inversion = checked("explore", InversionDocument.model_validate(done.invert("machine_usd minimal")))
    assert (inversion["unmet"] is None) is feasible


@pytest.mark.parametrize("room", [None, "chips", "links", "clusters", "models"])
def test_the_catalogue_follows_its_schema(room: str | None, catalogue: Catalogue) -> None:
    checked("catalogue", catalogue_document(catalogue, room, None), exclude_none=True)
    if room is not None:
        for name in catalogue.names(room)[::9]:
            entry = checked("catalogue", catalogue_document(catalogue, room, name), exclude_none=True)
            assert entry["name"] == name


def test_what_is_no_finite_number_is_null() -> None:
    document = checked("validate", {"rows": [{"error": float("nan")}, {"error": float("inf")}]})
    assert document["rows"] == [{"error": None}, {"error": None}]
