"""Reads the ``quantization_config`` of a Hugging Face ``config.json``: the format that published weights are stored in.

The names returned are those of ``volvelle serve --weights``. A quantisation that Volvelle has no format for is returned
in the words of the file, so that serving can reject it by name; training ignores it.
"""

from collections.abc import Mapping

from volvelle.errors import brief

_BY_METHOD = {"fbgemm_fp8": "fp8", "mxfp4": "mxfp4"}
_BY_BITS = {"awq": {4: "int4"}, "gptq": {4: "int4", 8: "int8"}, "auto-round": {4: "int4", 8: "int8"}}
"""Methods that store integers → bits of a weight → format."""
_BY_ALGORITHM = {"FP8": "fp8", "FP8_PB_WO": "fp8-block", "NVFP4": "nvfp4", "W4A16_AWQ": "int4"}
"""``quant_algo`` of NVIDIA's Model Optimizer → format."""


def weight_format_of(fields: Mapping[str, object]) -> str:
    """Return the format of the published weights; empty: 16 bits, or the file states none."""
    stated = fields.get("quantization_config")
    inner = fields.get("text_config")
    if not isinstance(stated, Mapping) and isinstance(inner, Mapping):
        stated = inner.get("quantization_config")
    if not isinstance(stated, Mapping):
        return ""
    method, algorithm = str(stated.get("quant_method", "")).lower(), str(stated.get("quant_algo", "")).upper()
    if method == "fp8":
        found = "fp8-block" if stated.get("weight_block_size") else "fp8"
    elif method == "compressed-tensors":
        found = _compressed(stated)
    elif method in _BY_BITS:
        found = _BY_BITS[method].get(_whole(stated.get("bits")), "")
    else:
        found = _BY_METHOD.get(method) or _BY_ALGORITHM.get(algorithm, "")
    return found or _words(stated)


def _compressed(stated: Mapping[str, object]) -> str:
    """Return the format of compressed-tensors weights: all groups of the file must agree."""
    if stated.get("format") == "mxfp4-pack-quantized":
        return "mxfp4"
    groups = stated.get("config_groups")
    listed = list(groups.values()) if isinstance(groups, Mapping) else []
    found = {_group(group) if isinstance(group, Mapping) else "" for group in listed}
    return found.pop() if len(found) == 1 else ""


def _group(group: Mapping[str, object]) -> str:
    weights, activations = group.get("weights"), group.get("input_activations")
    if not isinstance(weights, Mapping):
        return ""
    bits, kind = _whole(weights.get("num_bits")), weights.get("type")
    if kind == "int" and activations is None:
        return {4: "int4", 8: "int8"}.get(bits, "")
    if kind == "float" and bits == 8:
        return "fp8-block" if weights.get("strategy") == "block" else "fp8"
    return "nvfp4" if kind == "float" and bits == 4 and weights.get("group_size") == 16 else ""


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _words(stated: Mapping[str, object]) -> str:
    """Return the words of the file that name its quantisation."""
    named = ("quant_method", "quant_algo", "format", "bits", "load_in_4bit", "load_in_8bit")
    told = ", ".join(f"{name} {brief(stated[name])}" for name in named if stated.get(name))
    return f"quantization_config with {told or 'no quant_method'}"
