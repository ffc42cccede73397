"""What trtllm-bench sets by itself, and how NVIDIA ran it: all requests at once, and no server before the engine.

Its source (tensorrt_llm/bench/build/tuning.py, Apache-2.0) takes the sequences that the cache holds, at most 4 096 over
all stages, and a budget of tokens in which prompts keep up with answers; NVIDIA's overview of performance names the
share of memory and the number of requests, and spreads models with experts by attention in data parallelism.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from volvelle.applications.serving.instance import Settings
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.estimators.serving.cache import cache_bytes, weight_bytes
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel

SHARE = 0.95
"""Of the memory that weights leave, in many cases; 0.9 and less where that was too much, which rows do not say."""
_MOST_SEQUENCES = 4096
_FEWEST_TOKENS, _MOST_TOKENS = 2048, 32768
_GRAIN = ((4096, 256), (8192, 512))
"""Budgets below so many tokens are rounded up to multiples of so many."""
_COARSE = 1024


def bench_settings(served: ServedModel, layout: ServingLayout, capacity: float, sizes: Mapping[str, float]) -> Settings:
    """Of a run of prompts and answers of these lengths, on chips with so much memory."""
    prompt, answer = sizes["isl"], sizes["osl"]
    left = (capacity - weight_bytes(served, layout)) * SHARE
    held = left / float(cache_bytes(served, layout, prompt + answer, block=1))
    sequences = min(held, _MOST_SEQUENCES) / layout.pipeline
    tokens = min(sequences * (1.0 + prompt / answer), _MOST_TOKENS)
    grain = next((grain for below, grain in _GRAIN if tokens < below), _COARSE)
    return Settings(
        token_budget=int(max(_FEWEST_TOKENS, grain * np.ceil(tokens / grain))),
        max_sequences=_MOST_SEQUENCES,
        memory_share=SHARE,
        prefix_caching=False,
        chunks=True,
    )


@cache
def _requests() -> Mapping[tuple[int, int], int]:
    rows = packaged_rows("measurements/serving_saturated_requests.csv")
    return {(int(row["isl"]), int(row["osl"])): int(row["requests"]) for row in rows}


def bench_requests(prompt: int, answer: int) -> int | None:
    """Requests of a run of such lengths; None: of lengths that NVIDIA did not run."""
    return _requests().get((prompt, answer))
