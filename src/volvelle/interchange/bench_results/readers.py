"""Reads results of benchmarks, whichever of the three wrote them; what is missing or wrong is said with its place."""

import json
from collections.abc import Mapping
from math import inf
from pathlib import Path

from volvelle.errors import DescriptionError, brief
from volvelle.input_limits import other_reader, read_bytes
from volvelle.interchange.bench_results.result import BenchResult, Fields, spread_evenly

_SHAPES = (
    "a result of vllm bench serve --save-result, of sglang.bench_serving --output-file, or AIPerf's "
    "profile_export_aiperf.json"
)
_LARGEST = 2**29
"""Bytes of a file: one with details has every answer in it."""
_SERVER = {"tp_size": "tp", "pp_size": "pp", "dp_size": "dp", "ep_size": "ep", "version": "version"}
"""What SGLang's server says of itself, by the words here."""


def read_results(file: Path) -> tuple[BenchResult, ...]:
    """All runs of a file: one, or one a line."""
    try:
        held = read_bytes(file, most=_LARGEST)
    except FileNotFoundError:
        raise DescriptionError(f"{str(file)!r} does not exist; give {_SHAPES}") from None
    other = other_reader(str(file), held[:64])
    if other:
        raise DescriptionError(f"{str(file)!r} is no result of a benchmark: {other}")
    text = held.decode("utf-8", "replace")
    found = tuple(_result(fields, place) for fields, place in _objects(text, file.name))
    if not found:
        raise DescriptionError(f"{file.name} is empty; give {_SHAPES}")
    return found


def _objects(text: str, name: str) -> list[tuple[Mapping[str, object], str]]:
    """The whole file as one object, or each line as one."""
    try:
        pieces = [(json.loads(text), name)]
    except (ValueError, RecursionError) as whole:
        lines = [(place, line) for place, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(lines) < 2:
            raise _no_json(name, whole) from None
        pieces = []
        for place, line in lines:
            try:
                pieces.append((json.loads(line), f"{name}, line {place}"))
            except (ValueError, RecursionError) as error:
                # A file of one object over many lines: where that ends says more than its first line.
                raise _no_json(name, whole if place == 1 else error, "" if place == 1 else f", line {place}") from None
    for fields, where in pieces:
        if not isinstance(fields, dict):
            raise DescriptionError(f"{where} holds {type(fields).__name__}, not named fields; give {_SHAPES}")
    return pieces


def _no_json(name: str, error: Exception, line: str = "") -> DescriptionError:
    return DescriptionError(
        f"{name}{line} is not JSON: {error}; the file is cut short or was written over: copy it again, or run the "
        f"benchmark again"
    )


def _result(fields: Mapping[str, object], place: str) -> BenchResult:
    asked = Fields(fields, place)
    if "time_to_first_token" in fields or "aiperf_version" in fields:
        return _of_aiperf(asked)
    if "mean_e2e_latency_ms" in fields:
        return _of_sglang(asked)
    if "mean_ttft_ms" in fields or ("model_id" in fields and "completed" in fields):
        return _of_vllm(asked)
    raise DescriptionError(f"{place} is no result of a benchmark: it has {brief(list(fields))}; give {_SHAPES}")


def _milliseconds(asked: Fields, names: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for measure, name in names.items():
        value = asked.number(name, needed=measure in ("ttft", "tpot"))
        if value is not None and value < 0.0:
            raise DescriptionError(
                f"{asked.place}: {name} is {brief(value)}; a latency is no less than 0: run it again"
            )
        if value:
            found[measure] = 1e-3 * value
    return found


def _of_vllm(asked: Fields) -> BenchResult:
    fields, completed = asked.fields, asked.count("completed")
    errors = _errors(fields)
    prompts = asked.number("num_prompts", needed=False) or completed
    failed = asked.number("failed", needed=False)
    asked.refuse_failed(max(prompts - completed, len(errors)) if failed is None else failed, prompts, _first(errors))
    clients = asked.number("max_concurrency", needed=False)
    told = {key: value for key, value in fields.items() if isinstance(value, str) and key in METADATA}
    return _assembled(
        asked,
        tool="vllm bench serve",
        model=asked.text("model_id"),
        requests=completed,
        clients=None if clients is None else int(clients),
        rate=_rate(asked, "request_rate"),
        burstiness=asked.number("burstiness", needed=False) or 1.0,
        figures=_milliseconds(asked, {"ttft": "mean_ttft_ms", "tpot": "mean_tpot_ms", "itl": "median_itl_ms"}),
        told=told,
    )


METADATA = (
    *("engine", "version", "chip", "tp", "pp", "dp", "ep", "weights", "kv"),
    *("max_batched_tokens", "max_seqs", "memory_share"),
)
"""What ``--metadata`` of vllm bench serve may say of the server, by the words here."""


def _of_sglang(asked: Fields) -> BenchResult:
    fields, completed = asked.fields, asked.count("completed")
    errors = _errors(fields)
    asked.refuse_failed(len(errors), completed + len(errors), _first(errors))
    info = fields.get("server_info")
    server = info if isinstance(info, dict) else {}
    clients = asked.number("max_concurrency", needed=False)
    told = {word: f"{server[name]}" for name, word in _SERVER.items() if server.get(name) is not None}
    if int(told.get("dp", "1")) > 1 and server.get("enable_dp_attention"):
        # Its tensor parallelism counts ranks that repeat attention too.
        told["tp"] = f"{int(told['tp']) // int(told['dp'])}"
    return _assembled(
        asked,
        tool="sglang.bench_serving",
        model=f"{server.get('model_path') or ''}",
        requests=completed,
        clients=None if clients is None else int(clients),
        rate=_rate(asked, "request_rate"),
        burstiness=1.0,
        figures=_milliseconds(asked, {"ttft": "mean_ttft_ms", "tpot": "mean_tpot_ms", "itl": "median_itl_ms"}),
        told={"engine": "sglang", **told} if server else told,
    )


def _of_aiperf(asked: Fields) -> BenchResult:
    fields = asked.fields
    if fields.get("was_cancelled") or fields.get("is_complete") is False:
        why = asked.text("incomplete_reason")
        raise DescriptionError(
            f"{asked.place}: the run did not finish{f' ({brief(why)})' if why else ''}; run the benchmark again"
        )
    completed = _within(asked, "count_of").count("avg")
    failed = _average(asked, "error_request_count", needed=False) or 0.0
    asked.refuse_failed(failed, completed + failed)
    config = fields.get("input_config")
    load = _found(config, ("loadgen", "phases"))
    clients, rate = _found(load, ("concurrency",)), _found(load, ("request_rate", "rate"))
    models = _found(config, ("model_names", "models", "model"))
    figures = {
        "ttft": 1e-3 * _average(asked, "time_to_first_token"),
        "tpot": 1e-3 * _average(asked, "inter_token_latency"),
    }
    return BenchResult(
        place=asked.place,
        tool="aiperf",
        model=models[0] if isinstance(models, list) and models and isinstance(models[0], str) else "",
        requests=completed,
        clients=int(clients) if isinstance(clients, int | float) and clients else None,
        rate=float(rate) if isinstance(rate, int | float) and rate else inf,
        input_tokens=spread_evenly(completed * _average(asked, "input_sequence_length"), completed),
        output_tokens=spread_evenly(completed * _average(asked, "output_sequence_length"), completed),
        detailed=False,
        figures=figures,
    )


def _average(asked: Fields, name: str, *, needed: bool = True) -> float:
    if not needed and not isinstance(asked.fields.get(name), dict):
        return 0.0
    inner = _within(asked, name)
    return inner.above("avg") if needed else inner.number("avg") or 0.0


def _within(asked: Fields, name: str) -> Fields:
    found = asked.fields.get(name)
    if not isinstance(found, dict):
        raise DescriptionError(f"{asked.place}: {name} is missing; export it with AIPerf's default metrics")
    return Fields(found, f"{asked.place}: {name}")


def _found(config: object, names: tuple[str, ...]) -> object:
    """The first of some names anywhere among fields in fields."""
    if isinstance(config, list):
        return next((one for part in config if (one := _found(part, names)) is not None), None)
    if not isinstance(config, dict):
        return None
    for name in names:
        if config.get(name) is not None:
            return config[name]
    return next((one for part in config.values() if (one := _found(part, names)) is not None), None)


def _errors(fields: Mapping[str, object]) -> list[object]:
    """What went wrong with requests, of those with which something did."""
    found = fields.get("errors")
    return [one for one in found if one] if isinstance(found, list) else []


def _first(errors: list[object]) -> str:
    return str(errors[0]) if errors else ""


def _rate(asked: Fields, name: str) -> float:
    """Requests a second; both tools write an infinite rate as a word or as a number that JSON does not have."""
    found = asked.fields.get(name)
    if found is None or (isinstance(found, str) and found.lower() in ("inf", "infinity")):
        return inf
    if isinstance(found, int | float) and not isinstance(found, bool) and found > 0:
        return float(found)
    raise DescriptionError(
        f"{asked.place}: {name} is {brief(found)}; runs at a rate, or with clients at a rate of inf, can be replayed"
    )


def _assembled(
    asked: Fields,
    *,
    tool: str,
    model: str,
    requests: int,
    clients: int | None,
    rate: float,
    burstiness: float,
    figures: Mapping[str, float],
    told: Mapping[str, str],
) -> BenchResult:
    prompts, answers = asked.lengths("input_lens"), asked.lengths("output_lens")
    detailed = prompts is not None and answers is not None
    if detailed and not len(prompts) == len(answers) == requests:  # type: ignore[arg-type]
        raise DescriptionError(
            f"{asked.place}: {requests:,} requests were completed, and lengths are those of {len(prompts):,} prompts "  # type: ignore[arg-type]
            f"and {len(answers):,} answers; the file is of another run or cut"  # type: ignore[arg-type]
        )
    return BenchResult(
        place=asked.place,
        tool=tool,
        model=model,
        requests=requests,
        clients=clients,
        rate=rate,
        burstiness=burstiness,
        input_tokens=prompts if detailed else asked.mean_lengths("total_input_tokens", requests),  # type: ignore[arg-type]
        output_tokens=answers if detailed else asked.mean_lengths("total_output_tokens", requests),  # type: ignore[arg-type]
        arrival=asked.times("start_times", requests),
        detailed=detailed,
        figures=figures,
        told=told,
    )
