"""Tables of all verbs at 60 and at 80 columns: nothing overflows, no column is lost, no number is cut."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.everyday.asking import ask
from volvelle.report.terminal import plain_table

TRAINING = ("--on", "dgx-h100/64", "--batch", "1024")
TABLES = {
    ("estimate", "llama3-70b", *TRAINING, "--tp", "8", "--pp", "4", "--tokens", "2T"): ("bound by", "law", "share"),
    ("estimate", "llama3-70b", *TRAINING, "--tp", "8", "--pp", "4", "--detail"): ("bound by", "law", "evidence"),
    ("estimate", "llama3-405b", "--on", "dgx-h100/16", "--batch", "8", "--tp", "8"): ("of memory", "law"),
    ("plan", "llama3-70b", *TRAINING): ("MFU", "memory"),
    ("plan", "llama3-8b", "--on", "dgx-h100", "--batch", "256", "--tokens", "1T", "--days", "30"): (
        "accelerators",
        "money",
    ),
    ("plan", "hpl", "--on", "dgx-h100/64"): ("NB", "broadcast", "depth", "rate", "GF/W", "hidden", "law"),
    ("plan", "hpcg", "--on", "dgx-h100/64"): ("factor", "value", "low", "high"),
    ("plan", "fft", "2048", "--on", "dgx-h100/64"): ("layout", "rate", "network", "law"),
    ("plan", "dlrm", "--on", "dgx-h100/64"): ("tables", "step", "memory", "law"),
    ("cost", "--on", "dgx-h100/64", "--step", "22 s", "--tokens-per-step", "8M", "--tokens", "2T"): (
        "typical",
        "high",
        "date",
        "evidence",
    ),
    ("map", "gpt2", "--on", "sn30-node/8", "--tp", "8", "--gpt-layer-only", "--limit", "4"): ("bound by",),
    ("scale", "llama3-8b", "--on", "dgx-h100", "--from", "8", "--to", "64", "--tp", "1"): ("efficiency", "layout"),
    ("collective", "all-reduce", "1GB", "--on", "dgx-h100/1024", "--group", "8x64"): ("transfer", "bus rate", "source"),
    ("serve", "llama3-70b", "--on", "dgx-h100/8", "--weights", "fp8", "--batch", "16"): (
        "share",
        "bound by",
        "of memory",
    ),
    ("serve", "llama3-70b", "--on", "dgx-h100/8", "--weights", "fp8", "--load", "closed 4"): ("median", "p99"),
    ("serve", "llama3-405b", "--on", "dgx-h100/8"): ("of memory", "why it cannot run"),
    ("catalogue",): ("kind", "entries"),
    ("catalogue", "chips"): ("dense bf16", "memory", "rate"),
    ("catalogue", "clusters"): ("chip", "network"),
    ("catalogue", "models"): ("parameters", "heads", "context"),
    ("catalogue", "links"): ("rate", "one step"),
    ("catalogue", "stacks"): ("usual for", "what it is"),
    ("catalogue", "calibrations"): ("of peak", "step", "runs"),
    ("catalogue", "h100"): ("kind", "name"),
    ("catalogue", "chips", "h100-sxm"): ("value", "evidence", "source"),
    ("validate", "hpcg"): ("rows", "bias", "measured"),
    ("calibrate", "hpcg"): (),
}


@pytest.mark.parametrize("columns", [60, pytest.param(80, marks=pytest.mark.long)])
@pytest.mark.parametrize("words", TABLES, ids=lambda words: " ".join(words[:3]))
def test_no_table_overflows_or_loses_a_column(words: tuple[str, ...], columns: int, tmp_path: Path) -> None:
    reply = ask(tmp_path, *words, COLUMNS=str(columns))
    assert reply.status in (0, 1), reply.err
    long = [line for line in reply.out.splitlines() if len(line.rstrip()) > columns and "volvelle " not in line]
    assert long == []
    assert [name for name in TABLES[words] if name not in reply.out] == []
    cut = [line for line in reply.out.splitlines() if re.search(r"\S…( |$)", line)]
    assert cut == [], "a cell was cut"


@pytest.mark.parametrize("columns", [40, 50, 60, 80, 120])
def test_a_table_keeps_all_of_its_words_and_numbers(columns: int) -> None:
    console = Console(width=columns, file=io.StringIO())
    rows = [("a long name of a part of it", "1,234 TFLOP/s", "12.3 %"), ("short", "2 TFLOP/s", "0.1 %")]
    heads = ("what it is", "rate of it", "share")
    console.print(plain_table("", heads, rows, numbers=heads[1:]))
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue().split()
    assert sorted(said) == sorted(" ".join((*heads, *(cell for row in rows for cell in row))).split())


BRIEF = (
    ("estimate", "llama3-70b", *TRAINING, "--tp", "8", "--pp", "4", "--tokens", "2T"),
    ("estimate", "llama3-405b", "--on", "dgx-h100/12", "--batch", "8", "--tp", "8"),
    (
        "estimate",
        "deepseek-v3",
        "--on",
        "dgx-h100/1024",
        "--batch",
        "4096",
        "--pp",
        "16",
        "--ep",
        "8",
        "--tokens",
        "15T",
    ),
    ("plan", "llama3-70b", *TRAINING, "--tokens", "2T"),
    ("plan", "llama3-70b", "--on", "dgx-h100/8", "--batch", "64"),
    ("plan", "llama3-8b", "--on", "dgx-h100", "--batch", "256", "--tokens", "1T", "--days", "30"),
    ("cost", "--on", "dgx-h100/64", "--step", "22 s", "--tokens-per-step", "8M", "--tokens", "2T"),
    ("map", "gpt2", "--on", "sn30-node/8", "--tp", "8", "--gpt-layer-only", "--limit", "4"),
    ("collective", "all-reduce", "1GB", "--on", "dgx-h100/1024", "--set", "scale_out.rate=2x"),
    ("scale", "llama3-8b", "--on", "dgx-h100", "--from", "8", "--to", "64", "--tp", "1", "--pp", "1"),
)


@pytest.mark.parametrize("words", BRIEF, ids=lambda words: " ".join(words[:4]))
def test_a_brief_answer_fits_one_screen(words: tuple[str, ...], tmp_path: Path) -> None:
    whole, brief = ask(tmp_path, *words, COLUMNS="80"), ask(tmp_path, *words, "--brief", COLUMNS="80")
    assert brief.status == whole.status
    assert len(brief.out.splitlines()) <= 24
    assert len(brief.out.splitlines()) < len(whole.out.splitlines())


STYLED = (*TABLES, ("plan", "llama3-8b", "--on", "dgx-h100/8", "--batch", "1000000000"))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=" ".join(words[:3]), marks=() if place % 2 else pytest.mark.long)
        for place, words in enumerate(STYLED)
    ],
)
def test_numbers_are_written_in_one_style(words: tuple[str, ...], tmp_path: Path) -> None:
    said = ask(tmp_path, *words).out
    assert re.findall(r"\d%", said) == [], "84.3 %, not 84.3%"
    assert re.findall(r"\b0\.0\d+ [MG]W\b", said) == [], "kW, not small MW"
    assert re.findall(r"\d x \d|\d x [a-z]", said) == [], "×, not x"
    assert re.findall(r"\d(?:,\d{3}){4,}", said) == [], "a power of ten, not a row of digits"


@pytest.mark.parametrize(
    "verb",
    [
        (),
        *((verb,) for verb in ("estimate", "plan", "cost", "map", "explore", "catalogue", "validate", "calibrate")),
        *((verb,) for verb in ("reproduce", "schema", "completion", "collective", "scale")),
        ("plan", "hpl"),
        ("validate", "training"),
        ("reproduce", "dfmodel"),
    ],
    ids=" ".join,
)
def test_help_speaks_in_the_fields_words(verb: tuple[str, ...], tmp_path: Path) -> None:
    said = ask(tmp_path, *verb, "--help").out
    assert re.findall(r"(?i)\b(verbs?|rooms?|the house|laws?|cures?|doubts?|priced|anew)\b", said) == []
    assert max(len(line) for line in said.splitlines() if "|" not in line) <= 100
