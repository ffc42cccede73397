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
from math import log
from pathlib import Path
from typing import Any

import click
from ruamel.yaml import YAML

from tests.conftest import ROOT
from tests.everyday.mutation import HOSTILE, mangled, mutated
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.applications.table_cells import table_text
from volvelle.catalogue import Catalogue
from volvelle.cli import _volvelle
from volvelle.cli.plan_application import plan_command
from volvelle.cli.words import Within
from volvelle.domains import NumberDomain
from volvelle.studies.design_space.fields import field_names, numeric_field

CATALOGUE = Catalogue()
_MEASUREMENTS = ROOT / "src" / "volvelle" / "catalogue" / "data" / "measurements"
_CONFIGS = ROOT / "tests" / "data" / "huggingface"
_WORDS = (
    "",
    " ",
    "-",
    "--",
    "abc",
    "nan",
    "-1",
    "../..",
    "a/b/c",
    "µ×…",
    "x" * 3000,
    "h100-sxm",
    "gpt2",
    "'",
    "{}",
    "%s",
)
_COUNTS = (1, 2, 3, 4, 6, 8, 16, 32, 60, 64, 128, 256, 512, 1024, 1000, 2048, 4096, 9973, 65_536)
_HUGE = ("0", "-8", "1e3", "99999989", "100000000", "100000001", "9223372036854775808", "9" * 400, "٣", "8/8", "")


@dataclass(frozen=True)
class Question:
    """What is typed, and where."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"


def question(seed: int, folder: Path) -> Question:
    """The question of a seed; files that it needs are written to the folder."""
    chance = random.Random(seed)
    made = _Maker(chance, folder)
    kinds, weights = zip(*_KINDS.items(), strict=True)
    words = chance.choices(kinds, weights)[0](made)
    if chance.random() < 0.03:
        words = _shaken(words, chance)
    environment = {"COLUMNS": str(chance.choice((1, 20, 40, 60, 80, 100, 200, 1000)))} if chance.random() < 0.3 else {}
    if chance.random() < 0.1:
        environment[chance.choice(("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES", "VOLVELLE_DEBUG"))] = (
            chance.choice(("", "1", "dumb", "-5", "abc"))
        )
    encoding = chance.choice(("ascii", "latin-1", "cp1252", "utf-16")) if chance.random() < 0.1 else "utf-8"
    return Question(tuple(words), environment, encoding)


def _shaken(words: list[str], chance: random.Random) -> list[str]:
    """Words lost, doubled, swapped and replaced."""
    words = [*words]
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(words) + 1)
        match chance.randrange(4):
            case 0:
                del words[at : at + 1]
            case 1:
                words[at:at] = [chance.choice(_WORDS)]
            case 2:
                words[at:at] = words[max(at - 1, 0) : at]
            case _:
                chance.shuffle(words)
    return words


@cache
def _base(path: Path) -> Any:
    text = path.read_text("utf-8")
    return json.loads(text) if path.suffix == ".json" else YAML(typ="safe", pure=True).load(text)


@dataclass
class _Maker:
    chance: random.Random
    folder: Path

    # -- values ---------------------------------------------------------------------------------------------------

    def number(self, domain: NumberDomain, *, hostile: float = 0.06) -> str:
        """A number of a domain: usual mostly, anywhere inside sometimes, at or beyond its ends now and then."""
        roll = self.chance.random()
        if roll < hostile:
            value: Any = self.chance.choice(
                (
                    domain.least,
                    domain.most,
                    domain.least - 1,
                    domain.most * 10,
                    0,
                    -1,
                    "nan",
                    "inf",
                    "-inf",
                    "1e400",
                    "x",
                    "",
                )
            )
        elif roll < hostile + 0.2 or domain.kind is not None:
            low = max(domain.least, 1e-9 if not domain.whole else 1)
            value = low * 2.718281828 ** (self.chance.random() * log(max(domain.most, low) / low))
        else:
            usual = (1, 1, 1, 2, 2, 4, 8, 16, 64, 128, 512, 1024, 4096, 8192)
            value = self.chance.choice([one for one in usual if domain.holds(one)] or [domain.least])
        if domain.whole and isinstance(value, float) and abs(value) < 1e300:
            value = int(value)
        if domain.kind is None:
            return str(value)
        unit = next(unit for unit, size in domain.kind.units.items() if size == 1.0)
        return (
            f"{value} {unit}" if self.chance.random() > 0.03 else self.chance.choice((str(value), f"{value} furlong"))
        )

    def one_of(self, words: tuple[str, ...] | list[str], *, hostile: float = 0.03) -> str:
        return self.chance.choice(_WORDS) if self.chance.random() < hostile else self.chance.choice(list(words))

    def system(self, *, largest: int = 4096) -> str:
        name = self.one_of(CATALOGUE.names("clusters"))
        if self.chance.random() < 0.06:
            return f"{name}/{self.chance.choice(_HUGE)}"
        counts = [count for count in _COUNTS if count <= largest]
        return name if self.chance.random() < 0.05 else f"{name}/{self.chance.choice(counts)}"

    def model(self) -> str:
        if self.chance.random() < 0.7:
            return self.one_of(CATALOGUE.names("models"))
        return self.config()

    def file(self, name: str, content: bytes) -> str:
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def written(self, name: str, value: Any, *, wrong: float = 0.75) -> str:
        """A file of a value that went wrong, or of one that did not."""
        if self.chance.random() < wrong:
            value = mutated(value, self.chance, times=self.chance.choice((1, 1, 2, 4)))
        text = json.dumps(value, indent=1)
        return self.file(name, mangled(text, self.chance) if self.chance.random() < 0.12 else text.encode())

    def config(self) -> str:
        base = _base(self.chance.choice(sorted(_CONFIGS.glob("*.json"))))
        return self.written("config.json", base)

    # -- arguments ------------------------------------------------------------------------------------------------

    def options(self, command: click.Command, *, share: float, skip: tuple[str, ...] = ()) -> list[str]:
        """Some of a command's options."""
        words: list[str] = []
        for parameter in command.params:
            if not isinstance(parameter, click.Option) or parameter.name in skip or self.chance.random() > share:
                continue
            words += self._option(parameter)
        return words

    def _option(self, option: click.Option) -> list[str]:
        flag = self.chance.choice([*option.opts, *option.secondary_opts])
        if option.is_flag:
            return [flag]
        kind = option.type
        if isinstance(kind, Within):
            return [f"{flag}={self.number(kind.domain)}"]
        if isinstance(kind, click.Choice):
            return [f"{flag}={self.one_of(tuple(map(str, kind.choices)))}"]
        pools: dict[str, Callable[[], str]] = {
            "element": lambda: self.one_of(("bf16", "fp16", "fp8", "fp32", "fp4", "tf32")),
            "stack": lambda: self.one_of(("nemo", "megatron-core", "fsdp", "torchtitan", "maxtext", "deepspeed")),
            "set": self.change,
            "software": lambda: self.one_of(("hugectr", "other")),
            "since": lambda: self.one_of(("2022", "2023-01", "2021-06-30", "banana", "2024-13")),
            "lora_targets": lambda: self.one_of(
                ("all", "q,v", "attention", "mlp", "q,k,v,o,gate,up,down", "experts,state")
            ),
            "lengths": self.lengths,
            "load": self.load,
            "engine": lambda: self.one_of(("vllm", "sglang", "trtllm", "vllm-2024", "llama.cpp")),
            "weights": lambda: self.one_of(("bf16", "fp8", "fp8-block", "nvfp4", "mxfp4", "int8", "int4")),
            "kv": lambda: self.one_of(("bf16", "fp8")),
            "until": lambda: self.one_of(("2022", "2023-01", "2024-06-30", "9999", "2024-1")),
        }
        if option.name in pools:
            return [f"{flag}={pools[option.name]()}"]
        if option.name in ("catalogue", "folder"):
            return [f"{flag}={self.own_catalogue()}"]
        return [f"{flag}={self.one_of(_WORDS)}"]

    def change(self) -> str:
        """A number of a machine that is to be another, or what makes it another machine."""
        path = self.one_of((*field_names(CATALOGUE.cluster("dgx-h100/64")), "accelerators", "chip", "scale_up.size"))
        plain = (
            "2x",
            "0.5x",
            "x1.5",
            "+10%",
            "-20%",
            "b200",
            "16",
            "192 GB",
            "1 TB/s",
            "0x",
            "-1x",
            "1e400x",
            "+nan%",
            "",
        )
        field = numeric_field(path, CATALOGUE.cluster("dgx-h100/64"))
        drawn = [] if field is None else [self.number(field.domain)]
        return f"{path}={self.chance.choice([*plain, *drawn, *drawn])}"

    def lengths(self) -> str:
        """Lengths of documents, as they are typed or from a file."""
        text = self.one_of(
            ("512:0.7,4096:0.3", "128", "64:3,256:1", "1:1e-9,2048:5", "0:1", "512:-1", "9" * 40, "512:nan")
        )
        if self.chance.random() < 0.8:
            return text
        return self.file("lengths.txt", mangled(text.replace(",", "\n"), self.chance))

    def load(self) -> str:
        """Requests, as they are typed; few of them, that a question be short."""
        some = ("closed 1", "closed 7", "poisson 2/s", "gamma 3/s 0.5", "ramp 1/s 9/s", "at once", "poisson 1e9/s")
        odd = (
            "closed 0",
            "closed -1",
            "poisson 0/s",
            "poisson nan/s",
            "trace nowhere ×2",
            "closed 9999999999",
            "open 3",
        )
        return self.chance.choice(some if self.chance.random() < 0.8 else odd)

    def tuning(self) -> list[str]:
        """A way to fine-tune that people use."""
        ways = (
            ["--lora=16"],
            ["--qlora=64", "--optimizer=adam-8bit"],
            ["--lora=8", "--lora-targets=q,v", "--master=none", "--gradients=bf16"],
            ["--freeze=embedding", "--freeze-layers=2"],
            ["--freeze=embedding", "--freeze=head", "--freeze=norms"],
            ["--optimizer=muon"],
            ["--optimizer=adafactor", "--moments=bf16"],
            ["--lora=4", "--base=int8", "--lengths=16:0.9,256:0.1"],
        )
        return self.chance.choice(ways) if self.chance.random() < 0.3 else []

    def own_catalogue(self) -> str:
        """A catalogue folder with an entry that went wrong: a chip, a link or a cluster of the package's."""
        room = self.chance.choice(("chips", "links", "clusters", "models", "calibrations"))
        name = self.chance.choice(CATALOGUE.names(room))
        place = self.folder / "own" / room
        place.mkdir(parents=True, exist_ok=True)
        entry = CATALOGUE.entry(room, name).model_dump(mode="json", exclude_none=True, by_alias=True)
        (place / f"{name}.yaml").write_text(
            Path(self.written("entry.json", entry)).read_bytes().decode("latin-1"), "utf-8"
        )
        return str(self.folder / "own")


def _json(made: _Maker, often: float = 0.7) -> list[str]:
    return ["--json"] if made.chance.random() < often else []


@cache
def _command(verb: str) -> click.Command:
    command = _volvelle.get_command(click.Context(_volvelle), verb)
    assert command is not None
    return command


def _estimate(made: _Maker) -> list[str]:
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
        base += [f"--on={made.system()}", f"--batch={made.number(_domain('estimate', 'batch'))}"]
        share, skip = 0.15, ("on", "batch", "as_json", "catalogue")
    own = [f"--catalogue={made.own_catalogue()}"] if chance.random() < 0.08 else []
    return [*base, *made.options(_command("estimate"), share=share, skip=(*skip, "as_json")), *own, *_json(made)]


def _serve(made: _Maker) -> list[str]:
    """Half of them on chips that kernels were measured on."""
    chance = made.chance
    name = chance.choice(("dgx-h100", "dgx-a100", "dgx-b200", "l40s-cluster", "gb200-nvl72"))
    system = f"{name}/{chance.choice((1, 2, 4, 8, 16))}" if chance.random() < 0.7 else made.system()
    asked = [f"--load={made.load()}", f"--requests={chance.choice((1, 20, 60))}"] if chance.random() < 0.4 else []
    skip = ("on", "as_json", "catalogue", *(("batch", "load", "requests") if asked else ()))
    lengths = [f"--lengths={made.one_of(('fixed', 'uniform:0.8', 'around:0.2', 'uniform:2'))}"] if asked else []
    options = made.options(_command("serve"), share=0.15, skip=(*skip, "lengths"))
    return ["serve", made.model(), f"--on={system}", *asked, *lengths, *options, *_json(made)]


def _domain(verb: str, name: str) -> NumberDomain:
    kind = next(parameter.type for parameter in _command(verb).params if parameter.name == name)
    assert isinstance(kind, Within)
    return kind.domain


def _plan(made: _Maker) -> list[str]:
    skip = ("on", "as_json", "offload")
    base = ["plan", made.model(), f"--on={made.system(largest=512)}", *made.tuning()]
    return [*base, *made.options(_command("plan"), share=0.12, skip=skip), *_json(made)]


def _plan_offload(made: _Maker) -> list[str]:
    """Host memory too, on one or two nodes: few layouts, so that many are looked at."""
    name = made.chance.choice(CATALOGUE.names("clusters"))
    base = ["plan", made.model(), f"--on={name}/{made.chance.choice((4, 8, 16))}", "--offload", "--tp=1", "--tp=8"]
    return [*base, *made.options(_command("plan"), share=0.06, skip=("on", "as_json", "offload")), *_json(made)]


def _how_many(made: _Maker) -> list[str]:
    chance = made.chance
    base = ["plan", made.model(), f"--on={made.one_of(CATALOGUE.names('clusters'))}", "--tp=8", "--tp=1", "--zero=1"]
    base += [f"--tokens={made.one_of(('1B', '20B', '100B', '2T', '15e12'))}"]
    asked = [
        f"--days={made.number(_domain('plan', 'days'))}",
        f"--usd={made.one_of(('5 MUSD', '1 kUSD', '20MUSD', '-1'))}",
    ]
    base += chance.sample(asked, chance.choice((1, 1, 2)))
    return [*base, *_json(made)]


def _compare(made: _Maker) -> list[str]:
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
    words = made.options(_command("compare"), share=0.04, skip=("model", "on", "batch", "as_json", "catalogue"))
    return ["compare", *several, *question, *words, *_json(made)]


def _plan_application(made: _Maker) -> list[str]:
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
    return [*base, *made.options(command, share=0.25, skip=("system", "as_json")), *_json(made)]


def _dlrm(made: _Maker) -> str:
    tables = [{"count": 26, "rows": 1_000_000, "width": 128, "pooling": 1}]
    return made.written(
        "dlrm.json",
        {"dense": 13, "bottom": [512, 256, 128], "top": [1024, 512, 1], "interaction": "dot", "tables": tables},
    )


def _cost(made: _Maker) -> list[str]:
    words = made.options(_command("cost"), share=0.15, skip=("on", "as_json"))
    return ["cost", f"--on={made.system(largest=10**6)}", *words, *_json(made)]


def _map(made: _Maker) -> list[str]:
    graphs = sorted((ROOT / "examples" / "graphs").glob("*.yaml"))
    graph = (
        made.written("graph.yaml", _base(made.chance.choice(graphs))) if made.chance.random() < 0.7 else made.model()
    )
    system = (
        f"{made.chance.choice(('sn30-node', 'dgx-h100', 'dgx-a100', 'wse2-node'))}/{made.chance.choice((1, 2, 4, 8))}"
    )
    system = system if made.chance.random() < 0.8 else made.system(largest=64)
    words = made.options(_command("map"), share=0.12, skip=("on", "as_json", "limit", "out"))
    return ["map", graph, f"--on={system}", "--limit=1", *words, *_json(made)]


def _study(made: _Maker) -> dict[str, Any]:
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


def _explore(made: _Maker) -> list[str]:
    file = made.written("study.yaml", _study(made), wrong=0.4)
    return ["explore", file, "--dry-run", "--workers=1", *_json(made)]


def _explore_all(made: _Maker) -> list[str]:
    study = {**_study(made), "mapping": {"policy": "fixed", "tensor": made.chance.choice((1, 2, 8))}}
    file = made.file("study.yaml", json.dumps(study).encode())
    return ["explore", file, f"--out={made.folder / 'results'}", "--workers=1", *_json(made, 0.9)]


def _catalogue(made: _Maker) -> list[str]:
    room = made.one_of(("chips", "calibrations", "links", "clusters", "models"), hostile=0.1)
    names = list(CATALOGUE.names(room)) if room in ("chips", "links", "clusters", "models") else ["default"]
    own = [f"--catalogue={made.own_catalogue()}"] if made.chance.random() < 0.5 else []
    return ["catalogue", *[room, made.one_of(names)][: made.chance.randrange(3)], *own, *_json(made, 0.5)]


def _schema(made: _Maker) -> list[str]:
    return [
        "schema",
        made.one_of(("estimate", "compare", "plan", "cost", "map", "explore", "validate", "catalogue"), hostile=0.3),
    ]


def _validate(made: _Maker) -> list[str]:
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
    return ["validate", word, f"--data={made.file('rows.csv', raw)}", *_json(made)]


@cache
def _table(word: str) -> list[list[str]]:
    file = next(iter(sorted(_MEASUREMENTS.glob(f"*{word}*.csv*"))), None)
    return [["row_id", "x"], ["1", "2"]] if file is None else list(csv.reader(io.StringIO(table_text(file))))


def _words(made: _Maker) -> list[str]:
    return [
        made.one_of(("estimate", "plan", "--help", "-h", "--version", "cost", "serve", *_WORDS))
        for _ in range(made.chance.randrange(5))
    ]


_KINDS: dict[Callable[[_Maker], list[str]], float] = {
    _estimate: 36,
    _plan: 12,
    _plan_offload: 1,
    _how_many: 1,
    _compare: 6,
    _plan_application: 12,
    _cost: 16,
    _map: 4,
    _explore: 7,
    _explore_all: 1,
    _catalogue: 4,
    _schema: 1,
    _validate: 4,
    _words: 3,
    _serve: 8,
}
"""What is asked, and how often."""
