"""Arguments by chance: numbers of their domains, names of the catalogue, files that went wrong, options of commands."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path
from typing import Any

import click
from ruamel.yaml import YAML

from tests.conftest import ROOT
from tests.everyday.mutation import mangled, mutated
from volvelle.base.option_kinds import Number
from volvelle.catalogue import Catalogue
from volvelle.cli import _volvelle
from volvelle.cli.question_command import TypedValue
from volvelle.domains import NumberDomain
from volvelle.studies.design_space.fields import field_names, numeric_field

CATALOGUE = Catalogue()
MEASUREMENTS = ROOT / "src" / "volvelle" / "catalogue" / "data" / "measurements"
_CONFIGS = ROOT / "tests" / "data" / "huggingface"
WORDS = (
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


@cache
def parsed_file(path: Path) -> Any:
    text = path.read_text("utf-8")
    return json.loads(text) if path.suffix == ".json" else YAML(typ="safe", pure=True).load(text)


@dataclass
class Maker:
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
        return self.chance.choice(WORDS) if self.chance.random() < hostile else self.chance.choice(list(words))

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
        base = parsed_file(self.chance.choice(sorted(_CONFIGS.glob("*.json"))))
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
        kind, domain = option.type, domain_of_type(option.type)
        if domain is not None:
            return [f"{flag}={self.number(domain)}"]
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
            "speculate": self.speculation,
            "prefill": self.pool,
            "decode": self.pool,
            "slo": self.limits,
            "emit": lambda: self.one_of(("vllm", "sglang", "trtllm", "dynamo", "vllm@0.19.0", "vllm@9", "@")),
            "timeline": lambda: self.one_of(("run.json", "run.json.gz", ".", "/proc/nowhere/run.json")),
            "trace": lambda: self.one_of(("steps", ".", "/proc/nowhere/steps")),
            "into": lambda: self.one_of(("files", ".", "/proc/nowhere/files")),
            "until": lambda: self.one_of(("2022", "2023-01", "2024-06-30", "9999", "2024-1")),
        }
        if option.name in pools:
            return [f"{flag}={pools[option.name]()}"]
        if option.name in ("catalogue", "folder"):
            return [f"{flag}={self.own_catalogue()}"]
        return [f"{flag}={self.one_of(WORDS)}"]

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

    def limits(self) -> str:
        """Limits of latencies, as they are typed."""
        some = ("p99 ttft 2 s, p95 tpot 50 ms", "p99 ttft 2 s", "p50 e2el 20 s", "mean tpot 30 ms", "p99 tps 20")
        odd = ("p99 ttft 1 ns", "p99.9 itl 1e-300 s", "p95 tpot 0 s", "p0 ttft 1 s", "p99 ttft inf s", "tpot 50 ms")
        odd = (*odd, "p99 ttft -1 s", "p99 tps 1e9", "p99 ttft 2 s, p99 ttft 3 s", "p99 ttft 1e9 h", "nan", ",")
        return self.one_of(some if self.chance.random() < 0.75 else odd)

    def pool(self) -> str:
        """Workers of a pool, as they are typed."""
        some = ("1x tp1", "2x tp1", "1x tp2", "1x tp4", "2x tp1 weights fp8", "1x tp1 on dgx-a100/8")
        odd: tuple[str, ...] = (
            "0x tp1",
            "1x tp0",
            "999999999x tp8",
            "tp2 tp4",
            "1x on",
            "1x tp3",
            "-1x",
            "1x tp1 on nowhere",
            "2x pp9",
        )
        return self.one_of(some if self.chance.random() < 0.8 else odd)

    def speculation(self) -> str:
        """Drafts, as they are typed."""
        some = ("eagle 3", "mtp 1", "parallel 5", "ngram 4", "draft llama3-8b 4 tp1", "eagle 3 tree 4x2", "eagle best")
        some = (*some, "eagle 2 acceptance 0.8 decay 0.9", "ngram best acceptance 0.5", "draft gpt2 2")
        odd = ("eagle 0", "eagle 999", "eagle 3 acceptance 1.5", "eagle 3 acceptance nan", "eagle 8 tree 9x9x9x9x9x9x9")
        odd = (
            *odd,
            "eagle 3 curve nowhere",
            "draft nobody 4",
            "mtp 1 decay -1",
            "eagle 1 acceptance 0",
            "draft",
            "eagle",
        )
        if self.chance.random() < 0.15:
            rows = self.chance.sample(("1,1.7", "2,2.3", "3,2.7", "0,1", "2,9", "nan,nan", "3,-1", "x", "1,1e9"), 3)
            return f"eagle 3 curve {self.file('curve.csv', chr(10).join(('window,tokens_per_step', *rows)).encode())}"
        return self.one_of(some if self.chance.random() < 0.75 else odd)

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


def as_json(made: Maker, often: float = 0.7) -> list[str]:
    return ["--json"] if made.chance.random() < often else []


@cache
def command_of(verb: str) -> click.Command:
    command = _volvelle.get_command(click.Context(_volvelle), verb)
    assert command is not None
    return command


def domain_of(verb: str, name: str) -> NumberDomain:
    kind = next(parameter.type for parameter in command_of(verb).params if parameter.name == name)
    domain = domain_of_type(kind)
    assert domain is not None, f"{verb} {name} is no number"
    return domain


def domain_of_type(kind: click.ParamType) -> NumberDomain | None:  # type: ignore[type-arg]  # generic only in newer versions
    """The domain of an option that is a number; None: it is none."""
    if isinstance(kind, TypedValue) and isinstance(kind.kind, Number):
        return kind.kind.domain
    return None
