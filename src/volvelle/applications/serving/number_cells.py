"""Numbers that rows of serving tables state: what each may be, said once for all kinds of tables."""

from collections.abc import Iterable, Mapping

from volvelle.domains import (
    DEGREE,
    ENGINE_SEQUENCES,
    NO_DEGREE,
    PLAIN_SHARE,
    REQUEST_LENGTH,
    ROWS,
    SERVED_BATCH,
    STEP_BUDGET,
    NumberDomain,
)
from volvelle.workload.serving.offered import HOURLY_RATE
from volvelle.workload.serving.requests import REQUEST_TOKENS

_CLIENTS = NumberDomain(1, 10**5, whole=True)
"""Of a measured run: six times the most that are published."""
_DOMAINS: Mapping[str, NumberDomain] = {
    **dict.fromkeys(("tp", "pp", "ep", "dp", "attention_dp", "moe_tp", "moe_ep"), DEGREE),
    **{
        f"{pool}_{name}": domain
        for pool in ("prefill", "decode")
        for name, domain in {
            **dict.fromkeys(("workers", "tp", "attention_dp"), DEGREE),
            **dict.fromkeys(("moe_tp", "moe_ep"), NO_DEGREE),
        }.items()
    },
    "chips": NO_DEGREE,
    **dict.fromkeys(("isl", "osl"), REQUEST_LENGTH),
    "mean_osl_derived": NumberDomain(REQUEST_LENGTH.least, REQUEST_LENGTH.most),
    "batch": SERVED_BATCH,
    "concurrency": _CLIENTS,
    "target_qps": HOURLY_RATE,
    **dict.fromkeys(("decode_batch_size", "max_batch_per_engine", "max_num_seqs"), ENGINE_SEQUENCES),
    "max_num_batched_tokens": STEP_BUDGET,
    "kv_tokens": REQUEST_TOKENS,
    "gpu_memory_utilization": PLAIN_SHARE,
    **dict.fromkeys(
        ("prefill_tokens", "prefill_requests", "prefill_past_tokens", "decode_requests", "decode_context_tokens"), ROWS
    ),
}
_FILLED = frozenset(
    {
        *("tp", "isl", "osl", "batch", "concurrency", "prefill_tokens", "decode_requests", "decode_context_tokens"),
        *("prefill_tp", "decode_tp"),
    }
)
"""Columns that a kind needs in every row; other numbers may be left blank."""


def check_numbers(cells: Mapping[str, str], needed: Iterable[str] = ()) -> None:
    """Raise a ``ValueError`` that names the first cell whose number is none, or none that may be."""
    for column, domain in _DOMAINS.items():
        text = cells.get(column, "")
        if not text:
            continue
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{column} is {text!r}, not a number") from None
        if not domain.holds(value):
            raise ValueError(f"{column} is {text}; it must be {domain}")
    blank = [column for column in needed if column in _FILLED and not cells.get(column)]
    if blank:
        raise ValueError(f"it states no {blank[0]}")
