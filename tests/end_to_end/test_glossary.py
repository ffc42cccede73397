"""The glossary holds every term of documents and tables, each once."""

import re
from collections import Counter
from collections.abc import Iterator

import volvelle
from tests.conftest import ROOT
from volvelle.estimators.calibration import CONSTANTS
from volvelle.report.documents.document import DOCUMENTS, schema

GLOSSARY = (ROOT / "docs" / "reference" / "glossary.md").read_text("utf-8")
FIRST_CELLS = [line.split("|")[1].strip() for line in GLOSSARY.splitlines() if line.startswith("| ")]
KEYS = Counter(key for cell in FIRST_CELLS for key in re.findall(r"`([^`]+)`", cell))
ROWS = Counter(cell for cell in FIRST_CELLS if "`" not in cell)


def keys(node: object) -> Iterator[str]:
    """Names of properties anywhere in a schema."""
    if isinstance(node, dict):
        for name, inner in node.items():
            if name == "properties":
                yield from inner
                yield from (key for part in inner.values() for key in keys(part))
            else:
                yield from keys(inner)
    elif isinstance(node, list):
        yield from (key for part in node for key in keys(part))


def test_every_key_of_every_document_is_explained() -> None:
    missing = {verb: sorted(set(keys(schema(verb))) - set(KEYS)) for verb in DOCUMENTS}
    missing["constants"] = sorted(set(CONSTANTS) - set(KEYS))
    assert not any(missing.values()), missing


def test_no_term_is_explained_twice() -> None:
    assert [term for term, count in (KEYS + ROWS).items() if count > 1 and term not in ("term", "row", "---")] == []


def test_no_key_is_explained_that_no_document_has() -> None:
    known = {key for verb in DOCUMENTS for key in keys(schema(verb))} | set(CONSTANTS)
    assert sorted(set(KEYS) - known) == []


def test_every_row_of_the_tables_of_time_and_memory_is_explained() -> None:
    full = volvelle.Recompute.FULL
    answers = [
        volvelle.estimate("gpt3-175b", on="dgx-a100/1024", batch=1536, tensor=8, pipeline=8, recompute=full),
        volvelle.estimate("deepseek-v3", on="dgx-h100/1024", batch=1024, tensor=2, pipeline=8, expert=16, context=2),
        volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, zero=3, offload_weights=True),
        volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, qlora=16),
    ]
    rows = {line.part for answer in answers for line in answer.estimate.contributions}
    rows |= {part.name for answer in answers for part in answer.estimate.memory}
    plan = volvelle.map("gpt3-175b", on="sn30-node/8", gpt_layer_only=True, limit=60).mapping.plan
    assert plan is not None
    rows |= set(plan.parts()) | {part.name for stage in plan.stages for part in stage.memory}
    together = {name for row in (*ROWS, *KEYS) for name in (row, *row.split(", "))}
    assert sorted(rows - together) == []


def test_every_row_of_the_table_of_costs_is_explained() -> None:
    rows: set[str] = set()
    for model in ("market", "parts"):
        costs = volvelle.cost(on="dgx-h100/64", model=model).typical.breakdown
        rows |= {*costs.capex_by_part, *costs.power_by_part, *costs.ownership}
    together = {name for row in (*ROWS, *KEYS) for name in (row, *row.split(", "))}
    assert sorted(rows - together) == []
