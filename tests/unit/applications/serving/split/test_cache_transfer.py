"""Caches between two instances."""

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.serving.instance import Instance, instance
from volvelle.applications.serving.split.cache_transfer import TransferLink, cache_transfer
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel

LINK = TransferLink(name="slow", rate=1e9, latency=0.25)


def one(catalogue: Catalogue, model: str, tensor: int) -> Instance:
    served = ServedModel(shape=catalogue.model(model), weights="fp8", cache="bf16")
    return instance(catalogue, served, "h100-sxm", ServingLayout(tensor=tensor), "vllm")


def seconds(first: Instance, second: Instance, tokens: int) -> float:
    return float(cache_transfer(first, second, np.array([tokens]), LINK, by_layer=False).seconds[0])


def test_a_prompt_of_llama_70b_takes_its_327_680_bytes_a_token_over_all_links(catalogue: Catalogue) -> None:
    four, eight = one(catalogue, "llama3-70b", 4), one(catalogue, "llama3-70b", 8)
    assert seconds(eight, eight, 1024) == pytest.approx(1024 * 327_680 / 8 / 1e9)
    assert seconds(four, eight, 1024) == pytest.approx(1024 * 327_680 / 4 / 1e9)
    assert seconds(eight, four, 1024) == pytest.approx(1024 * 327_680 / 4 / 1e9)


def test_caches_go_in_whole_blocks(catalogue: Catalogue) -> None:
    eight = one(catalogue, "llama3-70b", 8)
    assert seconds(eight, eight, 1) == seconds(eight, eight, 16) < seconds(eight, eight, 17)


def test_layer_by_layer_only_the_last_is_waited_for(catalogue: Catalogue) -> None:
    eight = one(catalogue, "llama3-70b", 8)
    tokens = np.array([1024])
    after, beside = (cache_transfer(eight, eight, tokens, LINK, by_layer=way) for way in (False, True))
    took = float(after.seconds[0])
    asked = {"started": 0.0, "computed": 10.0, "free": 0.0}
    assert after.arrival(0, **asked) == pytest.approx(10.0 + took + 0.25)
    assert beside.arrival(0, **asked) == pytest.approx(10.0 + took / 80 + 0.25)
    assert beside.least == pytest.approx(took / 80 + 0.25)
