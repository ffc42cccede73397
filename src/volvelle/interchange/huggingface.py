"""Reads a Hugging Face ``config.json`` as a :class:`Transformer`.

The file itself says which family it is (``model_type``, else ``architectures``), and each family has its reader in
:mod:`volvelle.interchange.decoder_families` or, where layers are of several kinds,
:mod:`volvelle.interchange.hybrid_families`; those with linear or sparse attention are in
:mod:`volvelle.interchange.newer_families`. A key the file may leave out takes the default
that the ``transformers`` library gives it; a key that decides the size of the network may not be left out.

What the shape leaves out, so that an estimate from it stays on the safe side:

* sliding windows of Phi-3: attention is counted over the whole sequence (those of Mistral, Gemma, gpt-oss and Llama 4
  are read);
* what is not the language model (the vision towers of Gemma 3, Llama 4, Qwen3.5 and Kimi K2.5): its text part only;
* how rotary angles are scaled for long contexts (YaRN, linear, llama3): no cost worth counting, but the context counts
  the factor;
* multi-token-prediction layers (``num_nextn_predict_layers`` of DeepSeek-V3): the main network only;
* the gate before Qwen's shared expert (one column a layer), the router's own bias (DeepSeek-V3), weights of norms
  across all heads (MiniMax-M2: those within a head are counted), attention sinks and the biases of experts (gpt-oss),
  the feed-forward biases of GPT-J, the output bias of Llama's optional attention bias: together below 0.05 % of the
  parameters of any published model;
* the norm of Llama 4's queries and keys (``use_qk_norm``), which has no weights;
* the type weights are stored in (``torch_dtype``): a training step has its own. ``quantization_config`` sets
  `published_weights`, which serving uses.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from volvelle.errors import DescriptionError, OutsideDomainError, UnknownNameError, brief
from volvelle.interchange import decoder_families
from volvelle.interchange.config_fields import ConfigFields
from volvelle.interchange.hybrid_families import HYBRID_FAMILIES
from volvelle.interchange.json_file import read_json
from volvelle.interchange.newer_families import NEWER_FAMILIES
from volvelle.interchange.quantization import weight_format_of
from volvelle.workload.families.shape import Transformer

FAMILIES: Mapping[str, Callable[[ConfigFields], Transformer]] = {
    **decoder_families.FAMILIES,
    **HYBRID_FAMILIES,
    **NEWER_FAMILIES,
}
"""Families by ``model_type``, each with its reader."""
_ARCHITECTURE = re.compile("(.*?)(ForCausalLM|ForConditionalGeneration|LMHeadModel)")
_OTHERWISE = {"RWForCausalLM": "falcon", "Gemma3ForCausalLM": "gemma3_text"}
"""Architectures that are not called like their family, as ``Qwen2MoeForCausalLM`` is like ``qwen2_moe``."""


def read_config(source: Path | Mapping[str, object], *, name: str | None = None) -> Transformer:
    """The architecture a Hugging Face ``config.json`` describes: a file, a folder that holds one, or its fields.

    `context` is the longest sequence that the model was made for. `sequence` is the default training length, as of
    every model: ``dataclasses.replace`` it with the length you train at. The module lists what is left out.
    Raises :class:`DescriptionError` for a file that does not make sense and :class:`OutsideDomainError` for a network
    the shape has no words for, naming the field.
    """
    fields, called = (source, "") if isinstance(source, Mapping) else _load(source)
    said = fields.get("_name_or_path")
    if not name:
        name = called or (Path(said).name if isinstance(said, str) else "") or str(fields.get("model_type") or "config")
    family = _family(fields, name)
    shape = FAMILIES[family](ConfigFields(name=name, family=family, fields=fields))
    return replace(shape, published_weights=weight_format_of(fields))


def _load(path: Path) -> tuple[Mapping[str, object], str]:
    file = path / "config.json" if path.is_dir() else path
    fields = read_json(file, missing="give a config.json or a folder that holds one")
    return fields, file.resolve().parent.name if file.name == "config.json" else file.stem


def _family(fields: Mapping[str, object], name: str) -> str:
    """The family by ``model_type``, else by the first of ``architectures`` that is known."""
    said = fields.get("model_type")
    if isinstance(said, str) and said in FAMILIES:
        return said
    built = fields.get("architectures")
    for architecture in built if isinstance(built, list) else []:
        called = _ARCHITECTURE.fullmatch(str(architecture))
        like = (name for name in FAMILIES if called and name.replace("_", "") == called[1].lower())
        family = _OTHERWISE.get(str(architecture)) or next(like, None)
        if family is not None:
            return family
    if isinstance(fields.get("text_config"), Mapping):
        raise OutsideDomainError(
            f"config of {name!r}: {brief(said)} is a network of several kinds of input; "
            f"its language model alone is under 'text_config': read that"
        )
    if not isinstance(said, str):
        raise DescriptionError(
            f"config of {name!r}: neither model_type ({brief(said)}) nor architectures ({brief(built)}) says which "
            f"family it is; add model_type, one of {', '.join(FAMILIES)}"
        )
    raise UnknownNameError.among(f"family of models (model_type of config {name!r})", said, FAMILIES)
