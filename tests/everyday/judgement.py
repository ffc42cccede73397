"""What no answer may hold: figures that are negative or not finite, and figures that contradict each other."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

_SIGNED = frozenset(
    {
        *(
            "error",
            "left_out_error",
            "gain",
            "headroom",
            "up",
            "down",
            "price",
            "per_million",
            "change",
            "slack",
            "logit",
            "intercept",
        ),
        *("bias", "residual", "low_error", "high_error", "median_error", "mean_error", "worst_error", "elasticities"),
        *(
            "objective_change",
            "steps",
            "difference",
            "differences",
            "swing",
            "seed",
            "exponent",
            "slope",
            "left_out_error",
        ),
    }
)
"""Keys of figures that may be negative."""
_CLOSE = 1e-6
_WRONG = re.compile(r"(?<![\w.-])[-+]?(nan|inf)(?![\w.-])")
_WRONG_SCORE = re.compile("(nan|inf) ?%")
"""In tables of scores, which quote the cells of rows too."""
_QUOTING = re.compile("; it (must|may)|there is no |cites ")
"""Refusals of rows, which show what was found."""
_MFU = re.compile(r"([\d.,]+) % of peak")


def absurdities(arguments: tuple[str, ...], status: int, out: str, given: str = "") -> list[str]:
    """What is absurd about an answer; what files said that were `given` may be repeated."""
    if status not in (0, 1):
        return []
    if "--json" not in arguments:
        return _in_text(arguments, out, given)
    try:
        document = json.loads(out, parse_constant=_no_constant)
    except ValueError as error:
        return [f"--json is no JSON: {error}"]
    found = list(_impossible(document, ()))
    verb = document.get("verb") if isinstance(document, dict) else None
    if verb == "estimate":
        found += _estimate(document)
    if verb == "plan":
        found += _plan(document)
    if verb == "compare":
        found += _compare(document)
    if verb == "serve":
        found += _serve(document)
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _in_text(arguments: tuple[str, ...], out: str, given: str) -> list[str]:
    shown = "\n".join(line for line in out.splitlines() if not _QUOTING.search(line))
    for word in arguments:  # what was asked is repeated
        shown = shown.replace(word, "") if word else shown
        if _WRONG.search(value := word.partition("=")[2]):  # in commands that would do too: --load 'poisson inf/s'
            shown = shown.replace(value, "")
    wrong = _WRONG_SCORE if arguments[:1] == ("validate",) else _WRONG
    found = [f"text has {match.group()!r}" for match in wrong.finditer(shown) if not _named(match, given)][:1]
    found += [f"MFU of {match[1]} %" for match in _MFU.finditer(shown) if float(match[1].replace(",", "")) > 100]
    return found


def _named(match: re.Match[str], given: str) -> bool:
    """Whether a word, with what follows it, is a name that was given: a study may be called ``nan s``."""
    following = re.match(r" ?\w*", match.string[match.end() :])
    return bool(given) and f'"{match.group()}{following.group() if following else ""}'.rstrip() in given


def _impossible(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _impossible(part, (*path, str(key)))
    elif isinstance(value, list):
        for part in value:
            yield from _impossible(part, path)
    elif isinstance(value, int | float) and value < 0 and _SIGNED.isdisjoint(path):
        yield f"{'.'.join(path)} is {value}"


def _inside(value: float, found: dict[str, Any] | None, name: str) -> Iterator[str]:
    if found is not None and not found["low"] * (1 - _CLOSE) <= value <= found["high"] * (1 + _CLOSE):
        yield f"{name} {value} lies outside its own range {found['low']} … {found['high']}"


def _estimate(document: dict[str, Any]) -> list[str]:
    found = []
    held = sum(part["bytes"] for part in document["memory"])
    if abs(held - document["memory_bytes"]) > _CLOSE * held:
        found.append(f"parts of memory make {held}, not {document['memory_bytes']}")
    seconds = document["seconds"]
    if seconds is None:
        return found
    if not seconds > 0:
        found.append(f"a step takes {seconds} s")
    if document["utilisation"] > 1:
        found.append(f"MFU of {100 * document['utilisation']:.1f} %")
    exposed = sum(part["seconds"] for part in document["contributions"] if part["exposed"])
    if abs(exposed - seconds) > _CLOSE * seconds:
        found.append(f"parts make {exposed} s, not {seconds}")
    hidden = max((part["seconds"] for part in document["contributions"] if not part["exposed"]), default=0.0)
    if hidden > seconds * (1 + _CLOSE):
        found.append(f"{hidden} s are hidden behind a step of {seconds} s")
    return [*found, *_inside(seconds, document["range"], "the step")]


def _compare(document: dict[str, Any]) -> list[str]:
    found = []
    for one in document["alternatives"]:
        if (one["utilisation"] or 0.0) > 1:
            found.append(f"MFU of {100 * one['utilisation']:.1f} %")
        if one["seconds"] is not None:
            found += _inside(one["seconds"], one["range"], one["name"])
            made = sum(one["parts"].values())
            if one["parts"] and abs(made - one["seconds"]) > _CLOSE * made:
                found.append(f"parts of {one['name']} make {made} s, not {one['seconds']}")
    for told in document["differences"]:
        if told is not None:
            found += _inside(told["ratio"], told["range"], "the ratio")
            if not 0.0 <= told["chance"] <= 1.0:
                found.append(f"a chance of {told['chance']}")
    return found


def _plan(document: dict[str, Any]) -> list[str]:
    layouts = document.get("layouts") or []
    times = [layout["seconds"] for layout in layouts if "seconds" in layout]
    found = [] if times == sorted(times) else ["layouts are not in order"]
    for plan in document.get("plans") or []:
        for name, figure in plan["figures"].items():
            found += _inside(figure["value"], figure if "low" in figure else None, name)
        if plan["figures"].get("utilisation", {"value": 0.0})["value"] > 1:
            found.append(f"{100 * plan['figures']['utilisation']['value']:.1f} % of peak")
    found += [f"MFU of {100 * one['utilisation']:.1f} %" for one in layouts if one.get("utilisation", 0) > 1][:1]
    if times and document.get("range"):
        found += _inside(times[0], document["range"], "the first layout")
    return found


def _serve(document: dict[str, Any]) -> list[str]:
    """An answer that can be served has figures above zero, in order, and inside their own ranges."""
    if not document["feasible"]:
        return [] if document["violations"] else ["it cannot be served, and nothing says why"]
    found = []
    load, static = document.get("load"), document.get("static")
    if static is not None:
        for name in ("ttft", "latency", "output_throughput"):
            found += [] if static[name] > 0 else [f"{name} is {static[name]}"]
        for name, range_of in (("ttft", "ttft"), ("tpot", "tpot"), ("latency", "latency")):
            found += _inside(static[name], document["ranges"].get(range_of), name)
    for name, latency in ((load or {}).get("latencies") or {}).items():
        shares = list(latency["percentiles"].values())
        if any(before > after * (1 + _CLOSE) for before, after in pairwise(shares)):
            found.append(f"percentiles of {name} are not in order: {shares}")
        if name in ("ttft", "e2el") and not latency["mean"] > 0:
            found.append(f"{name} is {latency['mean']}")
    if load is not None and load["unstable"] is None and not load["output_throughput"] > 0:
        found.append(f"{load['output_throughput']} tokens a second")
    return found
