"""Engines: their constants, and how far off figures of theirs may be."""

from volvelle.catalogue.engines import serving_engine


def test_errors_of_models_with_experts_are_told_apart_where_runs_tell_them() -> None:
    engine = serving_engine("trtllm", "hopper")
    assert engine.error_of("tpot", experts=True) == engine.error["tpot with experts"]
    assert engine.error_of("tpot", experts=False) == engine.error["tpot"]
    assert engine.error_of("latency", experts=True) is None
    assert "tpot with experts" in serving_engine("vllm").error
    assert "tpot with experts" not in serving_engine("vllm", "blackwell").error  # whose runs are all with experts
