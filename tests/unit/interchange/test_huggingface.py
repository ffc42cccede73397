"""Hugging Face configurations: published models come out at their published size, bad files are refused by place."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from volvelle import Catalogue, Transformer, transformer
from volvelle.errors import DescriptionError, OutsideDomainError, UnknownNameError
from volvelle.interchange.huggingface import FAMILIES, read_config
from volvelle.workload.families.shape import LayerKind

FILES = ROOT / "tests" / "data" / "huggingface"

EXACT = {
    "bloom-7b1": 7069016064,
    "deepseek-moe-16b": 16375728128,
    "deepseek-v2": 235741434880,
    "deepseek-v2-lite": 15706484224,
    "falcon-40b": 41303293952,
    "falcon-7b": 6921720704,
    "gemma-2b": 2506172416,
    "gemma-7b": 8537680896,
    "gemma2-9b": 9241705984,
    "gemma3-1b": 999885952,
    "gemma3-27b": 27009346304,
    "gpt-neox-20b": 20554567680,
    "gpt2": 124439808,
    "jamba-1.5-mini": 51570323328,
    "llama-2-7b": 6738415616,
    "llama-3-8b": 8030261248,
    "llama-3.1-405b": 405853388800,
    "llama-3.2-1b": 1235814400,
    "llama4-maverick": 400711848960,
    "mistral-7b": 7241732096,
    "mixtral-8x22b": 140620634112,
    "mixtral-8x7b": 46702792704,
    "mpt-7b": 6649286656,
    "nemotron-h-8b": 8100852736,
    "opt-6.7b": 6658473984,
    "phi-3-mini": 3821079552,
    "qwen2.5-7b": 7615616512,
    "qwen3-235b-a22b": 235093634560,
    "qwen3-30b-a3b": 30532122624,
    "qwen3-8b": 8190735360,
    "starcoder-15b": 15517456384,
}
"""Published counts; tests/data/huggingface/README.md says whose."""

NEARLY = {
    "deepseek-v3": 671026419200,  # 14848 balancing biases are left out
    "glm-5": 744e9,  # published rounded
    "gpt-j-6b": 6050882784,  # feed-forward biases
    "gpt-oss-20b": 20914757184,  # biases of experts, sinks
    "kimi-k2.5": 1026408232448,  # 23040 balancing biases
    "minimax-m2.5": 228689764864,  # balancing biases, norms across heads
    "qwen2-57b-a14b": 57.4e9,  # published rounded; the shared gate
    "qwen3-next-80b-a3b": 79.67e9,  # as llama.cpp counts it; the shared gate
    "qwen3.5-397b-a17b": 396.35e9,  # as llama.cpp counts it; the shared gate
}

ROUNDED = {"jamba-1.5-large": 398, "nemotron-h-56b": 56}
"""Published in whole billions only, cut off."""


def fields(name: str, **changes: object) -> dict[str, object]:
    """A published file with some fields changed; ``...`` takes a field out."""
    found = json.loads((FILES / f"{name}.json").read_text("utf-8")) | changes
    return {key: value for key, value in found.items() if value is not ...}


@pytest.mark.parametrize("name", EXACT)
def test_a_published_model_has_its_published_number_of_parameters(name: str) -> None:
    assert transformer(read_config(FILES / f"{name}.json")).parameters() == EXACT[name]


@pytest.mark.parametrize("name", NEARLY)
def test_what_the_shape_leaves_out_is_below_a_thousandth(name: str) -> None:
    assert transformer(read_config(FILES / f"{name}.json")).parameters() == pytest.approx(NEARLY[name], rel=1e-3)


@pytest.mark.parametrize("name", ROUNDED)
def test_a_model_published_in_billions_has_as_many(name: str) -> None:
    assert transformer(read_config(FILES / f"{name}.json")).parameters() // 10**9 == ROUNDED[name]


def test_every_file_is_tested_and_told_of_and_every_family_has_one() -> None:
    names = {file.stem for file in FILES.glob("*.json")}
    told = (FILES / "README.md").read_text("utf-8")
    assert names == {*EXACT, *NEARLY, *ROUNDED, "opt-350m"}
    assert all(f"`{name}`" in told for name in names)
    assert {str(fields(name)["model_type"]) for name in names} == set(FAMILIES)


@pytest.mark.parametrize("name", ["mixtral-8x7b", "deepseek-v2", "qwen3-30b-a3b", "llama-3-8b", "falcon-7b"])
def test_the_order_of_keys_does_not_matter(name: str) -> None:
    backwards = dict(reversed(fields(name).items()))
    assert read_config(backwards, name=name) == read_config(FILES / f"{name}.json")


def test_a_folder_is_read_by_the_config_it_holds_and_named_for_itself(tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(fields("llama-3-8b")), "utf-8")
    assert read_config(folder).name == "my-model"
    assert read_config(folder / "config.json").name == "my-model"
    assert read_config(folder, name="other").name == "other"


def test_fields_are_named_by_where_they_came_from_or_by_their_family() -> None:
    assert read_config(fields("opt-6.7b")).name == "opt-6.7b"
    assert read_config(fields("llama-3-8b")).name == "llama"


def test_the_architecture_tells_the_family_where_the_type_is_absent_or_its_makers_own() -> None:
    plain = read_config(FILES / "deepseek-v3.json", name="x")
    assert read_config(fields("deepseek-v3", model_type=...), name="x") == plain
    assert read_config(fields("deepseek-v3", model_type="kimi_k2"), name="x") == plain


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("llama-2-7b", "num_key_value_heads", {"kv_heads": 32}),
        ("mistral-7b", "num_key_value_heads", {"kv_heads": 8}),
        ("llama-3.2-1b", "head_dim", {"head_dim": 64}),
        ("gemma-7b", "head_dim", {"head_dim": 256}),
        ("qwen3-8b", "head_dim", {"head_dim": 128}),
        ("llama-3-8b", "tie_word_embeddings", {"tied_embeddings": False}),
        ("gpt-neox-20b", "tie_word_embeddings", {"tied_embeddings": False}),
        ("gemma-2b", "tie_word_embeddings", {"tied_embeddings": True}),
        ("gpt2", "n_inner", {"ffn": 3072}),
        ("gpt2", "resid_pdrop", {"dropout": True}),
        ("deepseek-v2", "q_lora_rank", {}),
    ],
)
def test_an_absent_key_means_what_transformers_takes_it_for(name: str, field: str, expected: dict[str, object]) -> None:
    shape = read_config(fields(name, **{field: ...}))
    assert {key: getattr(shape, key) for key in expected} == expected


def test_queries_without_a_rank_are_projected_directly() -> None:
    shape = read_config(fields("deepseek-v2", q_lora_rank=None))
    assert shape.latent is not None
    assert shape.latent.query_rank == 0


def test_the_decoders_of_falcon_differ_as_its_file_says() -> None:
    older, newer = read_config(FILES / "falcon-7b.json"), read_config(FILES / "falcon-40b.json")
    assert (older.kv_heads, older.norms_per_layer, older.parallel_block) == (1, 1, True)
    assert (newer.kv_heads, newer.norms_per_layer, newer.parallel_block) == (8, 2, True)
    rw = read_config(
        fields("falcon-7b", alibi=True, bias=True, multi_query=False, parallel_attn=False, num_attention_heads=64)
        | {"hidden_size": 2048}
    )
    assert (rw.kv_heads, rw.norms_per_layer, rw.parallel_block, rw.positions) == (64, 2, False, "alibi")
    assert rw.linear_bias == "all"
    single = read_config(fields("falcon-40b", num_ln_in_parallel_attn=1))
    assert single.norms_per_layer == 1


def test_the_first_files_of_falcon_are_read_by_their_old_names() -> None:
    old = fields("falcon-40b", model_type="RefinedWeb", architectures=["RWForCausalLM"])
    old |= {"n_head": 128, "n_layer": 60, "n_head_kv": 8}
    for key in ("num_attention_heads", "num_hidden_layers", "num_kv_heads"):
        old.pop(key)
    assert read_config(old, name="x") == read_config(FILES / "falcon-40b.json", name="x")


def test_layers_without_experts_at_the_start_are_counted() -> None:
    shape = read_config(fields("qwen3-30b-a3b", mlp_only_layers=[1, 0]))
    assert shape.experts is not None
    assert shape.experts.dense_layers == 2


def test_the_kinds_of_layers_are_read_from_whatever_says_them() -> None:
    local, whole = (LayerKind(mixer=mixer, feed="mlp") for mixer in ("local attention", "attention"))  # type: ignore[arg-type]
    by_period = read_config(FILES / "gemma3-1b.json")
    assert (by_period.pattern, by_period.window) == ((local,) * 5 + (whole,), 512)
    listed = (["sliding_attention"] * 5 + ["full_attention"]) * 4 + ["sliding_attention"] * 2
    assert read_config(fields("gemma3-1b", layer_types=listed), name="gemma3-1b") == by_period
    assert read_config(fields("gemma3-1b", layer_types=["full_attention"] * 26)).pattern == ()
    inside = json.loads((FILES / "llama4-maverick.json").read_text("utf-8"))
    by_interval = read_config(inside, name="x")
    inside["text_config"]["no_rope_layers"] = [1, 1, 1, 0] * 12
    assert read_config(inside, name="x") == by_interval
    assert read_config({**inside["text_config"], "architectures": ["Llama4ForCausalLM"]}, name="x") == by_interval


def test_a_small_jamba_without_experts_has_none() -> None:
    shape = read_config(fields("jamba-1.5-mini", num_experts=1, mamba_dt_rank="auto"))
    assert shape.experts is None
    assert shape.mamba is not None
    assert shape.mamba.step_rank == 256
    assert {kind.feed for kind in shape.pattern} == {"mlp"}


def test_linear_attention_stands_where_the_file_or_its_interval_says() -> None:
    by_interval = read_config(FILES / "qwen3-next-80b-a3b.json", name="x")
    listed = (["linear_attention"] * 3 + ["full_attention"]) * 12
    assert read_config(fields("qwen3-next-80b-a3b", layer_types=listed), name="x") == by_interval
    assert [str(kind) for kind in by_interval.pattern] == ["delta net + experts"] * 3 + ["attention + experts"]
    assert by_interval.attention_gate
    whole = read_config(fields("qwen3-next-80b-a3b", layer_types=["full_attention"] * 48))
    assert whole.delta_net is None


def test_norms_of_minimax_go_over_all_heads_unless_its_file_says_otherwise() -> None:
    assert read_config(fields("minimax-m2.5"), name="x").qk_norm_over_heads
    assert not read_config(fields("minimax-m2.5", qk_norm_type="per_head"), name="x").qk_norm_over_heads
    assert not read_config(fields("minimax-m2.5", use_qk_norm=False), name="x").qk_norm_over_heads


def test_models_of_the_catalogue_agree_with_their_files(catalogue: Catalogue) -> None:
    for name in ("glm-5", "kimi-k2.5", "minimax-m2.5", "qwen3.5-397b-a17b"):
        own = catalogue.model(name)
        assert read_config(FILES / f"{name}.json") == own


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        (fields("llama-3-8b", hidden_size=...), DescriptionError, "hidden_size"),
        (fields("llama-3-8b", vocab_size=...), DescriptionError, "vocab_size"),
        (fields("llama-3-8b", hidden_size="big"), DescriptionError, "hidden_size is 'big'"),
        (fields("llama-3-8b", num_hidden_layers=True), DescriptionError, "num_hidden_layers is True"),
        (fields("llama-3-8b", num_hidden_layers=1.5), DescriptionError, "num_hidden_layers is 1.5"),
        (fields("llama-3-8b", num_attention_heads=33), DescriptionError, "33 heads"),
        (fields("llama-3-8b", num_key_value_heads=7), DescriptionError, "7 key-value heads"),
        (fields("llama-3-8b", tie_word_embeddings="yes"), DescriptionError, "tie_word_embeddings is 'yes'"),
        (fields("llama-3-8b", hidden_act="tanh"), OutsideDomainError, "hidden_act is 'tanh'"),
        (fields("llama-3-8b", mlp_bias=True), OutsideDomainError, "mlp_bias is True"),
        (fields("llama-3-8b", model_type=..., architectures=...), DescriptionError, "add model_type"),
        (fields("mixtral-8x7b", num_local_experts=...), DescriptionError, "num_local_experts"),
        (fields("mixtral-8x7b", num_experts_per_tok=9), DescriptionError, "9 of 8 experts"),
        (fields("qwen2-57b-a14b", decoder_sparse_step=2), OutsideDomainError, "decoder_sparse_step is 2"),
        (fields("qwen3-30b-a3b", mlp_only_layers=[5]), OutsideDomainError, "mlp_only_layers is [5]"),
        (fields("deepseek-v2", moe_layer_freq=2), OutsideDomainError, "moe_layer_freq is 2"),
        (fields("deepseek-v2", kv_lora_rank=...), DescriptionError, "kv_lora_rank"),
        (fields("deepseek-v2", attention_bias=True), OutsideDomainError, "attention_bias is True"),
        (fields("opt-350m"), OutsideDomainError, "word_embed_proj_dim is 512"),
        (fields("opt-350m", word_embed_proj_dim=1024), OutsideDomainError, "do_layer_norm_before is False"),
        (fields("gpt2", add_cross_attention=True), OutsideDomainError, "add_cross_attention is True"),
        (fields("gpt-neox-20b", attention_bias=False), OutsideDomainError, "attention_bias is False"),
        (fields("mpt-7b", attn_config={"qk_ln": True}), OutsideDomainError, "qk_ln is True"),
        (fields("mpt-7b", attn_config=3), DescriptionError, "attn_config is 3"),
        ({"model_type": "mllama", "text_config": {}}, OutsideDomainError, "'text_config'"),
        ({"model_type": "gemma3", "text_config": {}}, DescriptionError, "num_attention_heads"),
        (fields("gemma3-1b", layer_types=["full_attention"]), DescriptionError, "it must name 26 layers"),
        (fields("gemma3-1b", layer_types=["odd"] * 26), OutsideDomainError, "layer_types is ['odd'"),
        (fields("jamba-1.5-mini", mamba_proj_bias=True), OutsideDomainError, "mamba_proj_bias is True"),
        (fields("nemotron-h-8b", hybrid_override_pattern="ME" * 26), OutsideDomainError, "hybrid_override_pattern is"),
        (fields("nemotron-h-8b", hybrid_override_pattern="M-"), DescriptionError, "it must name 52 layers"),
        (fields("nemotron-h-8b", hybrid_override_pattern=...), OutsideDomainError, "hybrid_override_pattern is None"),
        (fields("qwen3-next-80b-a3b", mlp_only_layers=[0]), OutsideDomainError, "mlp_only_layers is [0]"),
        (fields("qwen3-next-80b-a3b", attention_bias=True), OutsideDomainError, "attention_bias is True"),
        (fields("glm-5", indexer_types=["full", "shared"]), OutsideDomainError, "indexer_types is ['full', 'shared']"),
        (fields("nemotron-h-8b", use_conv_bias=False), OutsideDomainError, "use_conv_bias is False"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    changed: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error) as caught:
        read_config(changed)
    assert says in str(caught.value)


def test_a_misspelt_family_or_field_is_told_its_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'mixtral'"):
        read_config(fields("mixtral-8x7b", model_type="mixtrall", architectures=...))
    with pytest.raises(DescriptionError, match="is 'hiden_size' meant for it"):
        read_config(fields("llama-3-8b", hidden_size=..., hiden_size=4096))


def test_files_that_are_not_there_or_not_json_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"config\.json' does not exist"):
        read_config(tmp_path)
    bad = tmp_path / "config.json"
    bad.write_text("{", "utf-8")
    with pytest.raises(DescriptionError, match=r"config\.json' is not JSON"):
        read_config(bad)
    bad.write_text("[1]", "utf-8")
    with pytest.raises(DescriptionError, match="holds list, not named fields"):
        read_config(bad)


def test_the_catalogue_and_the_published_file_agree(catalogue) -> None:  # type: ignore[no-untyped-def]
    """Where both have a model, they describe the same network; the length trained at may be shorter.

    The catalogue still counts every layer of its smallest Gemma 3 as attention over the whole sequence.
    """
    older = {("gemma3-1b", "pattern"), ("gemma3-1b", "window")}
    both = {"llama-2-7b": "llama2-7b", "llama-3-8b": "llama3-8b", "llama-3.1-405b": "llama3-405b"}
    both |= {name: name for name in (*EXACT, *NEARLY, *ROUNDED) if name in catalogue.names("models")}
    assert len(both) >= 25
    for file, name in both.items():
        read, kept = read_config(FILES / f"{file}.json", name=name), catalogue.model(name)
        for field in Transformer.__dataclass_fields__:
            if field not in ("sequence", "position_slots", "dropout") and (name, field) not in older:
                assert getattr(read, field) == getattr(kept, field), (name, field)
