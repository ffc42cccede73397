"""What engines are told of drafts: who drafts, and how many tokens; refuses what they cannot draft as it was timed."""

import json
from collections.abc import Mapping

from volvelle.interchange.engine_launch.deployment import HEAD, Deployment, Value, cannot
from volvelle.workload.serving.drafting import Drafting, DraftMethod

_INSTEAD = "leave --speculate away, or take drafts that it has"


def vllm_drafts(deployment: Deployment, title: str) -> Mapping[str, Value]:
    """The option of vLLM, one object of settings; nothing where nothing is drafted."""
    drafting = deployment.drafting
    if drafting is None:
        return {}
    _refuse_tree(drafting, title)
    window = drafting.window or 0
    told: dict[str, Value] = {"num_speculative_tokens": window}
    if drafting.drafter is DraftMethod.NGRAM:
        told = {"method": "ngram", **told, "prompt_lookup_max": window}
    elif drafting.drafter is DraftMethod.MTP:
        told = {"method": "mtp", **told}
    elif drafting.drafter is DraftMethod.MODEL:
        split = deployment.layout.tensor if drafting.tensor is None else drafting.tensor
        if split not in (1, deployment.layout.tensor):
            raise cannot(title, f"a draft model on {split} chips", f"take tp1 or tp{deployment.layout.tensor}")
        told = {"method": "draft_model", "model": deployment.draft_checkpoint, **told}
        told["draft_tensor_parallel_size"] = split
    else:
        told = {"method": "eagle3", "model": HEAD, **told}
        if drafting.drafter is DraftMethod.PARALLEL:
            told["parallel_drafting"] = True
    return {"--speculative-config": json.dumps(told)}


def sglang_drafts(deployment: Deployment, title: str) -> Mapping[str, Value]:
    """Options of SGLang; nothing where nothing is drafted."""
    drafting = deployment.drafting
    if drafting is None:
        return {}
    _refuse_tree(drafting, title)
    algorithms = {DraftMethod.EAGLE: "EAGLE3", DraftMethod.MTP: "NEXTN", DraftMethod.MODEL: "STANDALONE"}
    if drafting.drafter not in algorithms:
        raise cannot(title, f"{drafting.drafter} drafts as they were timed", _INSTEAD)
    if drafting.tensor not in (None, deployment.layout.tensor):
        raise cannot(title, f"a draft model on {drafting.tensor} chips", f"take tp{deployment.layout.tensor}")
    window = drafting.window or 0
    told: dict[str, Value] = {"--speculative-algorithm": algorithms[drafting.drafter]}
    if drafting.drafter is not DraftMethod.MTP:
        told["--speculative-draft-model-path"] = deployment.draft_checkpoint or HEAD
    return told | {
        "--speculative-num-steps": window,
        "--speculative-eagle-topk": 1,
        "--speculative-num-draft-tokens": window + 1,
    }


def no_drafts(deployment: Deployment, title: str) -> None:
    """Refuse drafts, for an engine whose settings of them are not recorded."""
    if deployment.drafting is not None:
        raise cannot(title, "drafts, for which no settings of it are recorded", "leave --speculate away")


def _refuse_tree(drafting: Drafting, title: str) -> None:
    if drafting.branching:
        raise cannot(title, "a tree of drafts as it was timed", _INSTEAD)
