"""Questions by chance about engines under load: traces, pools, drafts, searches, fleets, results of benchmarks.

Loads are short and searches small, so that a question takes little of the time that it may.
"""

import csv
import io
import json
from collections.abc import Callable
from functools import cache

from tests.conftest import ROOT
from tests.everyday.maker import MEASUREMENTS, Maker, as_json, command_of, parsed_file
from tests.everyday.mutation import HOSTILE, mangled, mutated
from volvelle.applications.serving.measurements import KINDS
from volvelle.applications.table_cells import table_text
from volvelle.cli.serving.plan import plan_serving

_SERVED = ("llama3-8b", "llama3-8b", "qwen3-8b", "mistral-7b", "llama3-70b", "mixtral-8x7b", "deepseek-v3")
_NODES = ("dgx-h100", "dgx-a100", "dgx-b200", "l40s-cluster", "gb200-nvl72")
_MARKS = "as_json", "catalogue", "brief"
_DEGREES = "tensor", "pipeline", "expert", "data"
_ASKED = "load", "requests", "input", "output", "batch"
_NOT_DRAWN = *_MARKS, *_ASKED, "on", "prefill", "decode", "router", "transfer"
"""Options of serve that are said on purpose, or not at all."""


_LOADS = (
    *("closed 1", "closed 5", "poisson 2/s", "poisson 0.01/s", "gamma 3/s 0.5", "ramp 1/s 9/s", "at once"),
    *("poisson 2/s", "closed 64"),
)
_EDGES = (
    *("poisson inf/s", "poisson 1e-9/s", "poisson 1e300/s", "gamma 1/s 1e-9", "gamma 1/s 1e9", "ramp 0/s 1/s"),
    *("ramp 1e9/s 1e-9/s", "closed 100000", "gamma 1/s 0", "gamma 1/s nan", "ramp 9/s 9/s", "poisson -1/s"),
)


def _model(made: Maker) -> str:
    return made.chance.choice(_SERVED) if made.chance.random() < 0.9 else made.model()


def _node(made: Maker) -> str:
    count = made.chance.choice((1, 2, 4, 8, 8, 8, 16))
    return f"{made.chance.choice(_NODES)}/{count}" if made.chance.random() < 0.95 else made.system()


def trace(made: Maker) -> str:
    """A trace of some requests, rows of which went wrong or are extreme."""
    chance = made.chance
    rows: list[list[object]] = []
    now = 0.0
    for _ in range(chance.choice((0, 1, 2, 12, 60))):
        now += chance.choice((0.0, 0.01, 0.3, 2.0))
        rows.append([round(now, 3), chance.choice((1, 2, 15, 16, 17, 300, 2000)), chance.choice((1, 1, 2, 40, 200))])
    for _ in range(chance.choice((0, 0, 0, 1)) if rows else 0):
        row = chance.choice(rows)
        match chance.randrange(5):
            case 0:
                row[chance.randrange(3)] = chance.choice(HOSTILE)
            case 1:
                row[chance.choice((1, 2))] = chance.choice((0, -1, 100_000, 10_000_000, 2**40, "nan", 1.5))
            case 2:
                row[0] = chance.choice((1e9, 1e12, 1e300, -5.0, "2023-11-16 18:15:46.6805900", "nan"))
            case 3:
                chance.shuffle(rows)
            case _:
                rows += [row] * chance.choice((1, 30))
    if chance.random() < 0.3:
        names = ("timestamp", "input_length", "output_length")
        lines = [
            {**dict(zip(names, row, strict=True)), "hash_ids": list(range(chance.choice((0, 1, 1, 4))))} for row in rows
        ]
        text = "\n".join(json.dumps(line) for line in lines)
    else:
        heads = ("arrival_s,input_tokens,output_tokens", "TIMESTAMP,ContextTokens,GeneratedTokens")
        heads = (*heads, "Timestamp,Request tokens,Response tokens", "0,5,5", "a,b")
        text = "\n".join(
            [chance.choice(heads[:2] if chance.random() < 0.8 else heads), *(",".join(map(str, row)) for row in rows)]
        )
    return made.file("trace.csv", mangled(text, chance) if chance.random() < 0.05 else text.encode())


def _load(made: Maker, some: tuple[str, ...] = _LOADS) -> str:
    chance = made.chance
    if chance.random() < 0.35:
        odd = chance.choice((" x1000", " ×1e-9", " ×0", " ×nan", " ×inf", " ×-1"))
        return f"trace {trace(made)}{odd if chance.random() < 0.1 else chance.choice(('', '', ' ×1.5'))}"
    if chance.random() < 0.75:
        return chance.choice(some)
    return chance.choice(_EDGES) if chance.random() < 0.6 else made.load()


def _some_requests(made: Maker) -> list[str]:
    chance = made.chance
    load = _load(made)
    words = [f"--load={load}"]
    if chance.random() < (0.1 if load.startswith("trace") else 0.8):  # those of a trace are its own
        words += [f"--requests={chance.choice((1, 2, 20, 100))}"]
    if chance.random() < 0.3:
        words += [f"--lengths={made.one_of(('uniform:0.1', 'around:0.9', 'uniform:0.8', 'around:2'))}"]
    if chance.random() < 0.5:
        words += [f"--input={made.one_of(('1', '15', '16', '512', '2048', '2048', '8193', '131072', '3000000'))}"]
    if chance.random() < 0.5:
        words += [f"--output={made.one_of(('1', '2', '64', '64', '512', '100000'))}"]
    return words


def _settings(made: Maker) -> list[str]:
    """Settings at which engines are tight."""
    pool = (
        "--max-batched-tokens=1",
        "--max-batched-tokens=15",
        "--max-batched-tokens=512",
        "--max-seqs=1",
        "--max-seqs=2",
        "--memory-share=20%",
        "--memory-share=100%",
        "--chunked-prefill",
        "--receive-interval=30",
        "--batch-wait=40",
        "--stream-interval=20",
        "--no-prefix-caching",
        "--engine=sglang",
        "--engine=trtllm",
        "--weights=fp8",
        "--kv=fp8",
        "--tp=1",
    )
    return made.chance.sample(pool, made.chance.choice((0, 1, 2, 3)))


def serve_load(made: Maker) -> list[str]:
    """One engine under a load, now and then drawn, launched or drafted for."""
    options = made.options(
        command_of("serve"),
        share=0.05,
        skip=(*_NOT_DRAWN, "into", "checkpoint", "lengths"),
    )
    return [
        "serve",
        _model(made),
        f"--on={_node(made)}",
        *_some_requests(made),
        *_settings(made),
        *options,
        *as_json(made),
    ]


def serve_drafts(made: Maker) -> list[str]:
    """With drafts, of one batch or under a load."""
    asked = _some_requests(made) if made.chance.random() < 0.4 else [f"--batch={made.one_of(('1', '8', '64', '500'))}"]
    return [
        "serve",
        _model(made),
        f"--on={_node(made)}",
        f"--speculate={made.speculation()}",
        *asked,
        *_settings(made),
        *as_json(made),
    ]


def serve_pools(made: Maker) -> list[str]:
    """Two pools."""
    pools = [f"--prefill={made.pool()}", f"--decode={made.pool()}"]
    pools = pools if made.chance.random() < 0.93 else pools[:1]
    asked = _some_requests(made) if made.chance.random() < 0.95 else []
    options = made.options(
        command_of("serve"),
        share=0.06,
        skip=(*_NOT_DRAWN, *_DEGREES, "lengths", "timeline", "emit", "speculate", "into", "checkpoint"),
    )
    return ["serve", _model(made), f"--on={_node(made)}", *pools, *asked, *options, *as_json(made)]


def serve_files(made: Maker) -> list[str]:
    """Files that launch it."""
    engine = made.chance.choice(("vllm", "sglang", "trtllm"))
    some = (engine, engine, engine, "dynamo", {"vllm": "vllm@0.19.0"}.get(engine, engine))
    target = made.one_of(some if made.chance.random() < 0.9 else ("sglang@1", "trtllm@", "vllm@" + "9" * 50))
    asked = [f"--engine={engine}", f"--emit={target}", *(_some_requests(made) if made.chance.random() < 0.3 else [])]
    more = made.options(
        command_of("serve"),
        share=0.08,
        skip=(*_NOT_DRAWN, "emit", "timeline", "engine", "lengths"),
    )
    return ["serve", _model(made), f"--on={_node(made)}", *asked, *more, *as_json(made)]


def plan_to_serve(made: Maker) -> list[str]:
    """A search of few candidates."""
    chance = made.chance
    fixed = [
        f"--tp={chance.choice((1, 1, 1, 2, 8))}",
        "--pp=1",
        "--max-batched-tokens=8192",
        f"--max-seqs={chance.choice((16, 128))}",
    ]
    fixed += [
        f"--weights={chance.choice(('bf16', 'bf16', 'bf16', 'fp8'))}",
        "--kv=bf16",
        "--ep=1",
        "--dp=1",
        "--workers=1",
    ]
    load = _load(made)
    asked = [f"--load={load}", f"--slo={made.limits()}"]
    asked += (
        [] if load.startswith("trace") else [f"--requests={chance.choice((1, 20, 50))}"]
    )  # those of a trace are its own
    asked += [f"--input={made.one_of(('1', '2048', '131072'))}"] if chance.random() < 0.3 else []
    said = ("weights", "kv", "max_batched_tokens", "max_seqs", "workers", "slo", "serve", "keep", "html", "figure")
    more = made.options(plan_serving, share=0.06, skip=(*_NOT_DRAWN, *_DEGREES, *said))
    more += [f"--speculate={made.speculation()}" for _ in range(chance.choice((0, 0, 0, 1)))]
    return [
        "plan",
        _model(made),
        "--serve",
        f"--on={chance.choice(_NODES)}/{chance.choice((1, 8, 8, 16))}",
        *asked,
        *fixed,
        *more,
        *as_json(made),
    ]


def fleet_of_one(made: Maker) -> list[str]:
    """A fleet of one model, in words."""
    asked = [
        f"--on={made.chance.choice(_NODES)}{made.chance.choice(('', '', '/8', '/1'))}",
        f"--load={_load(made, some=('poisson 12/s', 'gamma 3/s 0.5', 'poisson 0.01/s', 'poisson 400/s'))}",
        f"--slo={made.limits()}",
    ]
    options = made.options(command_of("fleet"), share=0.07, skip=("on", "load", "slo", "check", "plot", *_MARKS))
    return [
        "fleet",
        _model(made),
        *asked,
        "--tp=1",
        f"--check={made.one_of(('none', 'none', 'busiest'))}",
        *options,
        *as_json(made),
    ]


def fleet_file(made: Maker) -> list[str]:
    """A fleet of a file that went wrong."""
    fleet = parsed_file(ROOT / "examples" / "fleets" / "chat-and-summaries.yaml")
    few = {
        **fleet,
        "services": [
            {**one, "model": "llama3-8b", "tensor": 1} for one in fleet["services"][: made.chance.choice((1, 1, 2))]
        ],
    }
    for one in few["services"]:
        one["load"] = {**one["load"], "rates": [2 * rate for rate in one["load"]["rates"][:3]]}
    return ["fleet", made.written("fleet.yaml", few, wrong=0.5), *as_json(made)]


def calibrate_bench(made: Maker) -> list[str]:
    """Results of benchmarks that went wrong, or of another model, machine or engine."""
    chance = made.chance
    files = []
    for place in range(chance.choice((1, 1, 2))):
        result = parsed_file(ROOT / "examples" / "benchmarks" / f"clients-{chance.choice((1, 1, 16))}.json")
        detail = ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors", "start_times")
        if chance.random() < 0.5:
            result = {key: value for key, value in result.items() if key not in detail}
        if chance.random() < 0.3:
            other = (
                {"completed": 0, "failed": 20},
                {"failed": 3},
                {"model_id": "Qwen/Qwen3-8B"},
                {"model_id": "x/y"},
                {"version": "0.1"},
                {"tp": "8"},
                {"errors": ["no"] * 20},
                {"max_concurrency": None},
                {"request_rate": "abc"},
                {"duration": 0},
            )
            result = {**result, **chance.choice(other)}
        if chance.random() < 0.6:
            result = mutated(result, chance, times=chance.choice((1, 2)))
        text = json.dumps(result, default=str)
        files.append(
            made.file(f"result-{place}.json", mangled(text, chance) if chance.random() < 0.15 else text.encode())
        )
    words = [f"--bench={file}" for file in files] if chance.random() < 0.8 else ["--bench", *files]
    words += (
        [f"--on={chance.choice((*['dgx-h100/1'] * 8, 'dgx-h100/8', 'l40s-cluster/1', 'nowhere'))}"]
        if chance.random() < 0.95
        else []
    )
    odd = (
        "--engine=sglang",
        "--model=gpt2",
        "--model=llama3-70b",
        "--tp=2",
        "--weights=fp8",
        "--max-seqs=1",
        "--max-batched-tokens=1",
        "--save=mine.yaml",
        "--version=2",
        "--memory-share=1%",
    )
    return ["calibrate", "serving", *words, *chance.sample(odd, chance.choice((0, 0, 0, 1))), *as_json(made)]


def validate_serving(made: Maker) -> list[str]:
    """Some rows of a shipped table as one's own, cells of which went wrong."""
    chance = made.chance
    kind = chance.choice(list(KINDS))
    header, *rows = _rows(kind)
    few = [[*row] for row in chance.sample(rows, 3)]
    for _ in range(chance.choice((0, 1, 2, 6))):
        row = chance.choice(few)
        row[chance.randrange(len(row))] = str(chance.choice(HOSTILE))
    if chance.random() < 0.15:
        at = chance.randrange(len(header))
        header, few = [*header[:at], *header[at + 1 :]], [[*row[:at], *row[at + 1 :]] for row in few]
    text = io.StringIO()
    csv.writer(text).writerows([header, *few])
    raw = mangled(text.getvalue(), chance) if chance.random() < 0.1 else text.getvalue().encode()
    told = [f"--kind={kind if chance.random() < 0.7 else made.one_of(list(KINDS))}"] if chance.random() < 0.4 else []
    return ["validate", "serving", f"--data={made.file('rows.csv', raw)}", *told, *as_json(made)]


@cache
def _rows(kind: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table_text(MEASUREMENTS / f"serving_{kind}.csv.gz"))))


SERVING_KINDS: dict[Callable[[Maker], list[str]], float] = {
    serve_load: 28,
    serve_drafts: 10,
    serve_pools: 12,
    serve_files: 8,
    plan_to_serve: 10,
    fleet_of_one: 8,
    fleet_file: 6,
    calibrate_bench: 9,
    validate_serving: 9,
}
"""What is asked about serving, and how often."""
