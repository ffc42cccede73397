"""Questions by chance: argument lists made from what commands declare, files that went wrong, odd environments.

The same seed asks the same question. Options come from the commands themselves, so that a new one is asked about too:
a number by its domain (inside, at its ends, outside), a name by what the catalogue has, a file from real ones.
"""

import csv
import io
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.everyday.maker import (
    CATALOGUE,
    MEASUREMENTS,
    WORDS,
    Maker,
    as_json,
    command_of,
    domain_of,
    parsed_file,
)
from tests.everyday.mutation import HOSTILE, mangled
from tests.everyday.serving_questions import SERVING_KINDS
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.applications.table_cells import table_text
from volvelle.cli.plan_application import plan_command
from volvelle.studies.design_space.fields import field_names, numeric_field

SERVING = 0.2
"""Share of questions about engines under load, beside what is asked of all verbs."""

_FILES = "--data", "--bench"
"""Options of one's own rows and runs."""


@dataclass(frozen=True)
class Question:
    """What is typed, and where."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"


def question(seed: int, folder: Path) -> Question:
    """The question of a seed; files that it needs are written to the folder."""
    chance = random.Random(seed)
    made = Maker(chance, folder)
    kinds, weights = zip(*_KINDS.items(), strict=True)
    asked = chance.choices(kinds, weights)[0]
    if about_serving(seed):
        asked = chance.choices(list(SERVING_KINDS), list(SERVING_KINDS.values()))[0]
    words = asked(made)
    if chance.random() < 0.03:
        words = [*_shaken(words, chance)]
        if words[:1] in (["validate"], ["calibrate"]) and not any(word.startswith(_FILES) for word in words):
            words.append(f"--data={made.file('rows.csv', b'')}")  # all measured runs of a kind take minutes
    environment = {"COLUMNS": str(chance.choice((1, 20, 40, 60, 80, 100, 200, 1000)))} if chance.random() < 0.3 else {}
    if chance.random() < 0.1:
        environment[chance.choice(("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES", "VOLVELLE_DEBUG"))] = (
            chance.choice(("", "1", "dumb", "-5", "abc"))
        )
    encoding = chance.choice(("ascii", "latin-1", "cp1252", "utf-16")) if chance.random() < 0.1 else "utf-8"
    return Question(tuple(words), environment, encoding)


def about_serving(seed: int) -> bool:
    """Whether a seed asks about engines under load; others ask what they asked before."""
    return random.Random(f"serving {seed}").random() < SERVING


def _shaken(words: list[str], chance: random.Random) -> list[str]:
    """Words lost, doubled, swapped and replaced."""
    words = [*words]
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(words) + 1)
        match chance.randrange(4):
            case 0:
                del words[at : at + 1]
            case 1:
                words[at:at] = [chance.choice(WORDS)]
            case 2:
                words[at:at] = words[max(at - 1, 0) : at]
            case _:
                chance.shuffle(words)
    return words


def _estimate(made: Maker) -> list[str]:
    """Half of them layouts that divide, so that figures are looked at and not only refusals."""
    chance = made.chance
    base = ["estimate", made.model()]
    if chance.random() < 0.6:
        tensor, pipeline, data = (chance.choice((1, 1, 2, 4, 8)) for _ in range(3))
        micro, count = chance.choice((1, 1, 2, 4)), chance.choice((1, 2, 8, 16))
        chips = tensor * pipeline * data
        name = chance.choice(CATALOGUE.names("clusters"))
        base += [f"--on={name}/{chips}", f"--batch={data * micro * count}", f"--tp={tensor}", f"--pp={pipeline}"]
        base += [f"--micro-batch={micro}", *made.tuning()]
        share, skip = 0.08, ("batch", "on", "tensor", "pipeline", "data", "micro_batch", "json", "catalogue")
    else:
        base += [f"--on={made.system()}", f"--batch={made.number(domain_of('estimate', 'batch'))}"]
        share, skip = 0.15, ("on", "batch", "as_json", "catalogue")
    own = [f"--catalogue={made.own_catalogue()}"] if chance.random() < 0.08 else []
    return [*base, *made.options(command_of("estimate"), share=share, skip=(*skip, "as_json")), *own, *as_json(made)]


def _serve(made: Maker) -> list[str]:
    """Half of them on chips that kernels were measured on."""
    chance = made.chance
    name = chance.choice(("dgx-h100", "dgx-a100", "dgx-b200", "l40s-cluster", "gb200-nvl72"))
    system = f"{name}/{chance.choice((1, 2, 4, 8, 16))}" if chance.random() < 0.7 else made.system()
    asked = [f"--load={made.load()}", f"--requests={chance.choice((1, 20, 60))}"] if chance.random() < 0.4 else []
    skip = ("on", "as_json", "catalogue", *(("batch", "load", "requests") if asked else ()))
    lengths = [f"--lengths={made.one_of(('fixed', 'uniform:0.8', 'around:0.2', 'uniform:2'))}"] if asked else []
    options = made.options(command_of("serve"), share=0.15, skip=(*skip, "lengths"))
    return ["serve", made.model(), f"--on={system}", *asked, *lengths, *options, *as_json(made)]


def _plan(made: Maker) -> list[str]:
    skip = ("on", "as_json", "offload", "batch")
    base = ["plan", made.model(), f"--on={made.system(largest=512)}", *made.tuning()]
    if made.chance.random() < 0.95:
        base.append(f"--batch={made.number(domain_of('plan', 'batch'))}")
    return [*base, *made.options(command_of("plan"), share=0.12, skip=skip), *as_json(made)]


def _plan_offload(made: Maker) -> list[str]:
    """Host memory too, on one or two nodes: few layouts, so that many are looked at."""
    name = made.chance.choice(CATALOGUE.names("clusters"))
    base = ["plan", made.model(), f"--on={name}/{made.chance.choice((4, 8, 16))}", "--offload", "--tp=1", "--tp=8"]
    base.append(f"--batch={made.chance.choice((8, 64, 512))}")
    skip = ("on", "as_json", "offload", "batch")
    return [*base, *made.options(command_of("plan"), share=0.06, skip=skip), *as_json(made)]


def _how_many(made: Maker) -> list[str]:
    chance = made.chance
    base = ["plan", made.model(), f"--on={made.one_of(CATALOGUE.names('clusters'))}", "--tp=8", "--tp=1", "--zero=1"]
    base += [f"--tokens={made.one_of(('1B', '20B', '100B', '2T', '15e12'))}"]
    asked = [
        f"--days={made.number(domain_of('plan', 'days'))}",
        f"--usd={made.one_of(('5 MUSD', '1 kUSD', '20MUSD', '-1'))}",
    ]
    base += chance.sample(asked, chance.choice((1, 1, 2)))
    return [*base, *as_json(made)]


def _compare(made: Maker) -> list[str]:
    chance = made.chance
    layouts = ("tp2 pp2", "tp8 zero1", "dp8 zero3 recompute full", "tp4 pp2 1f1b/2", "tp0", "zero9", "tp2 tp4", "mb")
    kinds: tuple[Callable[[], str], ...] = (
        lambda: made.one_of(layouts),
        lambda: made.one_of(("nemo", "fsdp", "torchtitan")),
        lambda: made.system(largest=32),
        made.change,
        lambda: made.one_of(("gpt2", "llama3-8b", "qwen3-8b")),
    )
    of_kind = chance.choice(kinds)
    several = [
        of_kind() if chance.random() < 0.9 else chance.choice(kinds)() for _ in range(chance.choice((1, 2, 2, 3)))
    ]
    question = [
        f"--model={chance.choice(('gpt2', 'llama3-8b'))}",
        f"--on=dgx-h100/{chance.choice((8, 16))}",
        "--batch=64",
    ]
    words = made.options(command_of("compare"), share=0.04, skip=("model", "on", "batch", "as_json", "catalogue"))
    return ["compare", *several, *question, *words, *as_json(made)]


def _plan_application(made: Maker) -> list[str]:
    word = made.chance.choice([name for name in sorted(APPLICATIONS) if application(name).plans])
    command = plan_command(application(word))
    assert command is not None
    argument = {
        "fft": lambda: made.one_of(
            ("256", "1024", "2048x2048x1024", "7x7x7", "0", "-1", "1x1x1", "1e9", "4096x", "2x3")
        ),
        "dlrm": lambda: made.one_of(("dcnv2-mlperf", "dlrm-criteo", "dlrm-793b", _dlrm(made))),
    }.get(word)
    base = ["plan", word, *([argument()] if argument else []), f"--on={made.system(largest=2048)}"]
    return [*base, *made.options(command, share=0.25, skip=("on", "as_json")), *as_json(made)]


def _dlrm(made: Maker) -> str:
    tables = [{"count": 26, "rows": 1_000_000, "width": 128, "pooling": 1}]
    return made.written(
        "dlrm.json",
        {"dense": 13, "bottom": [512, 256, 128], "top": [1024, 512, 1], "interaction": "dot", "tables": tables},
    )


def _cost(made: Maker) -> list[str]:
    words = made.options(command_of("cost"), share=0.15, skip=("on", "as_json"))
    return ["cost", f"--on={made.system(largest=10**6)}", *words, *as_json(made)]


def _scale(made: Maker) -> list[str]:
    """Few counts, and few layouts of each."""
    first = made.chance.choice((1, 8, 8, 64, 512))
    counts = [f"--from={first}", f"--to={made.one_of((str(first), str(2 * first), '4096', '0', '12'))}"]
    base = ["scale", made.model(), f"--on={made.one_of(CATALOGUE.names('clusters'))}", "--tp=8", "--tp=1", "--pp=1"]
    base += [*counts, made.chance.choice(("--strong", "--weak"))]
    skip = ("on", "first", "last", "strong", "as_json", "plot", "offload", "tensor", "pipeline")
    return [*base, *made.options(command_of("scale"), share=0.05, skip=skip), *as_json(made)]


def _job(made: Maker) -> list[str]:
    """A step that is given, so that many are asked at once."""
    base = [
        "job",
        made.model(),
        f"--on={made.system(largest=10**6)}",
        f"--tokens={made.one_of(('1T', '15e12', '1', '0'))}",
    ]
    base.append(f"--batch={made.number(domain_of('job', 'batch'))}")
    skip = ("on", "tokens", "as_json", "hazard", "step", "catalogue", "batch")
    words = made.options(command_of("job"), share=0.15, skip=skip)
    return [*base, f"--step={made.one_of(('6 s', '1 ms', '0 s', '1e9 s'))}", *words, *as_json(made)]


def _collective(made: Maker) -> list[str]:
    """Half of them groups that fit, so that figures are looked at and not only refusals."""
    operation = made.one_of(("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "AllReduce"))
    size = made.one_of(("1GB", "64 MiB", "8 B", "1 kB", "16 GB", "0 B", "1e400 B", "1 EB"))
    if made.chance.random() < 0.3:
        size = made.number(domain_of("collective", "size"))
    groups = ("8", "2", "8x8", "1x4", "4x2", "0", "1", "3x3", "8x8x8", "1e3", "99999999999999999999", "8 x 2", "x")
    base = ["collective", operation, size, f"--on={made.system(largest=65_536)}"]
    base += [f"--group={made.one_of(groups)}"] if made.chance.random() < 0.6 else []
    algorithms = ("nested", "ring", "tree", "halving-doubling", "direct", "in-network", "butterfly")
    base += [f"--algorithm={made.one_of(algorithms)}"] if made.chance.random() < 0.5 else []
    if made.chance.random() < 0.1:  # as flows; those of large groups take long
        base[3] = f"--on={made.one_of(('dgx-h100/64', 'frontier/64', 'tpu-v4-pod/64', 'dgx-v100/16'))}"
        base += ["--with=flows", f"--placement={made.one_of(('in-order', 'shuffled', 'interleaved', 'upside-down'))}"]
        base += [f"--routing={made.one_of(('random', 'd-mod-k', 'adaptive', 'valiant'))}"]
        base += [f"--beside={made.one_of(('same', 'all-to-all 1MB', 'all-to-all', 'nothing 1GB'))}"]
    skip = ("on", "group", "algorithm", "as_json", "plot", "estimators", "placement", "beside", "routing", "seed")
    return [*base, *made.options(command_of("collective"), share=0.12, skip=skip), *as_json(made)]


def _map(made: Maker) -> list[str]:
    graphs = sorted((ROOT / "examples" / "graphs").glob("*.yaml"))
    graph = (
        made.written("graph.yaml", parsed_file(made.chance.choice(graphs)))
        if made.chance.random() < 0.7
        else made.model()
    )
    system = (
        f"{made.chance.choice(('sn30-node', 'dgx-h100', 'dgx-a100', 'wse2-node'))}/{made.chance.choice((1, 2, 4, 8))}"
    )
    system = system if made.chance.random() < 0.8 else made.system(largest=64)
    words = made.options(command_of("map"), share=0.12, skip=("on", "as_json", "limit", "out"))
    return ["map", graph, f"--on={system}", "--limit=1", *words, *as_json(made)]


def _study(made: Maker) -> dict[str, Any]:
    chance = made.chance
    system = f"{chance.choice(('dgx-h100', 'dgx-a100', 'dgx-b200', 'mi300x-cluster'))}/{chance.choice((8, 16, 64))}"
    cluster = CATALOGUE.cluster(system)
    axes: dict[str, Any] = {}
    for path in chance.sample(field_names(cluster), chance.choice((1, 1, 2))):
        numeric = numeric_field(path, cluster)
        assert numeric is not None
        values = [made.number(numeric.domain, hostile=0.03) for _ in range(chance.choice((1, 2, 3)))]
        plain = [float(value) if numeric.kind is None and value not in ("x", "") else value for value in values]
        axes[path] = (
            plain if chance.random() < 0.6 else {"times": [0.5, 1, chance.choice((2, 4, 1, 1, 1.1, -1, 0, 1e30))]}
        )
    if chance.random() < 0.3:
        axes["accelerators"] = chance.sample((8, 16, 32, 64, 128, 256, 0, 10**9), 2)
    policy = (
        {"policy": "fixed", "tensor": chance.choice((1, 2, 8))}
        if chance.random() < 0.8
        else {"policy": "best", "tensor": [8]}
    )
    measures = (
        "time",
        "mfu",
        "days",
        "usd",
        "machine_usd",
        "run_usd",
        "power",
        "memory",
        "usd_per_mtoken",
        "tokens_per_joule",
    )
    return {
        "name": "chance",
        "system": system,
        "workloads": [{"train": chance.choice(("gpt2", "llama3-8b", "mixtral-8x7b")), "batch": 64, "tokens": 1e12}],
        "mapping": policy,
        "axes": axes,
        "objectives": chance.sample(measures, chance.choice((1, 2))),
    }


def _explore(made: Maker) -> list[str]:
    file = made.written("study.yaml", _study(made), wrong=0.4)
    return ["explore", file, "--dry-run", "--workers=1", *as_json(made)]


def _explore_all(made: Maker) -> list[str]:
    study = {**_study(made), "mapping": {"policy": "fixed", "tensor": made.chance.choice((1, 2, 8))}}
    file = made.file("study.yaml", json.dumps(study).encode())
    return ["explore", file, f"--out={made.folder / 'results'}", "--workers=1", *as_json(made, 0.9)]


def _catalogue(made: Maker) -> list[str]:
    room = made.one_of(("chips", "calibrations", "links", "clusters", "models"), hostile=0.1)
    names = list(CATALOGUE.names(room)) if room in ("chips", "links", "clusters", "models") else ["default"]
    own = [f"--catalogue={made.own_catalogue()}"] if made.chance.random() < 0.5 else []
    return ["catalogue", *[room, made.one_of(names)][: made.chance.randrange(3)], *own, *as_json(made, 0.5)]


def _schema(made: Maker) -> list[str]:
    return [
        "schema",
        made.one_of(("estimate", "compare", "plan", "cost", "map", "explore", "validate", "catalogue"), hostile=0.3),
    ]


def _validate(made: Maker) -> list[str]:
    """Some rows of a shipped table as one's own, cells of which went wrong."""
    chance = made.chance
    word = chance.choice(("hpl", "hpcg", "fft", "dlrm", "training", "memory", "collectives", "kernels"))
    header, *rows = _table(word)
    few = [[*row] for row in chance.sample(rows, min(len(rows), 4))]
    for _ in range(chance.choice((0, 1, 2, 6)) if few else 0):
        row = chance.choice(few)
        row[chance.randrange(len(row))] = str(chance.choice(HOSTILE))
    text = io.StringIO()
    csv.writer(text).writerows([header, *few])
    raw = mangled(text.getvalue(), chance) if chance.random() < 0.15 else text.getvalue().encode()
    return ["validate", word, f"--data={made.file('rows.csv', raw)}", *as_json(made)]


@cache
def _table(word: str) -> list[list[str]]:
    file = next(iter(sorted(MEASUREMENTS.glob(f"*{word}*.csv*"))), None)
    return [["row_id", "x"], ["1", "2"]] if file is None else list(csv.reader(io.StringIO(table_text(file))))


def _words(made: Maker) -> list[str]:
    return [
        made.one_of(("estimate", "plan", "--help", "-h", "--version", "cost", "serve", *WORDS))
        for _ in range(made.chance.randrange(5))
    ]


_KINDS: dict[Callable[[Maker], list[str]], float] = {
    _estimate: 36,
    _plan: 12,
    _plan_offload: 1,
    _how_many: 1,
    _compare: 6,
    _plan_application: 12,
    _cost: 16,
    _map: 4,
    _collective: 4,
    _scale: 1,
    _job: 4,
    _explore: 7,
    _explore_all: 1,
    _catalogue: 4,
    _schema: 1,
    _validate: 4,
    _words: 3,
    _serve: 8,
}
"""What is asked, and how often."""
