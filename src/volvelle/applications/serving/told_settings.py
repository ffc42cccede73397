"""What launch scripts told an engine that a measured row does not say, as they were on the day of the run."""

from collections.abc import Mapping
from datetime import date

from volvelle.catalogue.packaged_rows import packaged_rows

_SIGNS = (">=", "<=", "<", ">", "=")
_DATE, _INFERENCEX = "measured_on", "inferencex"
_DEGREES = ("tp", "attention_dp", "moe_ep")
"""What a script may lay out otherwise than a row has it."""


def all_settings() -> tuple[Mapping[str, str], ...]:
    """Of all sources, engines, models and chips, the more particular first."""
    return packaged_rows("measurements/serving_engine_settings.csv")


def source_of(stated: Mapping[str, str]) -> str:
    """Who ran a row: InferenceX, whoever lists it, where it ran the model on SGLang: six in seven, to the figure."""
    ran = stated.get("engine") == "sglang" and any(
        one["source_family"] == _INFERENCEX and one["engine"] == "sglang" and one["model"] == stated.get("model")
        for one in all_settings()
    )
    return _INFERENCEX if ran else stated.get("source_family", "")


def engine_settings(stated: Mapping[str, str]) -> Mapping[str, str]:
    """What launch scripts of a source told an engine; of a source that says nothing, the engine's defaults."""
    engine = stated["engine"]
    of_source = [one for one in all_settings() if one["source_family"] == source_of(stated)]
    of_engine = [one for one in of_source if one["engine"] == engine]
    fitting = [
        one
        for one in of_engine
        if one["model"] == "any"
        or (
            one["model"] == stated["model"]
            and stated["chip"] in one["chip"].split(";")
            and (stated.get("weights") or "bf16") in one["weights"].split(";")
        )
    ]
    for one in fitting:
        if _applies(one["applies_when"], stated):
            return one
    like = [one for one in of_engine if one["model"] == stated["model"]]
    usual = [one for one in all_settings() if one["engine"] == engine and one["model"] == "any"]
    return (*like, *usual, dict.fromkeys(all_settings()[0], "unset"))[0]


def is_of_other_kind(stated: Mapping[str, str]) -> bool:
    """Whether scripts show that a run drafted tokens, or had prompts on chips of their own, which its row hides."""
    return engine_settings(stated)["not_fitted"] not in ("", "unset")


def as_laid_out(stated: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """A row with degrees as its script had them, where it chose them itself or read others than the row has."""
    chosen = {name: told[name] for name in _DEGREES if told.get(name) not in (None, "", "unset")}
    return {**stated, **{name: stated["tp"] if value == "tp" else value for name, value in chosen.items()}}


def _applies(when: str, stated: Mapping[str, str]) -> bool:
    """Whether a condition like ``isl=1024 and osl=1024 and tp<8 and measured_on<2026-01-21`` holds."""
    return when in ("always", "otherwise") or all(_holds(term, stated) for term in when.split(" and "))


def _holds(term: str, stated: Mapping[str, str]) -> bool:
    sign = next(sign for sign in _SIGNS if sign in term)
    name, _, bound = term.partition(sign)
    found = stated.get(name)
    if not found:  # a row without a date is of no day
        return False
    value, limit = _number(name, found), _number(name, bound)
    holds = {">=": value >= limit, "<=": value <= limit, "<": value < limit, ">": value > limit}
    return holds.get(sign, value == limit)


def _number(name: str, text: str) -> float:
    return float(date.fromisoformat(text).toordinal()) if name == _DATE else float(text)
