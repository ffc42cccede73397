"""Traces of a small transformer, recorded with PyTorch in a process of its own.

``python -m tests.torch_recording FOLDER --batch 4 --width 256`` writes a Kineto profile, an execution trace, an
exported program and, where onnxscript is there, an ONNX model, and prints what steps took as JSON; ``--ranks 2`` writes
profiles and execution traces of so many ranks over Gloo. It needs torch alone, not this package.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

VOCABULARY, SEQUENCE, HEADS = 1000, 128, 4


class Block(nn.Module):
    """Attention and a feed-forward network, each behind a norm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.heads, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        batch, length, width = tokens.shape
        parts = (
            self.heads(self.norms[0](tokens)).reshape(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        )
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        tokens = tokens + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        widened: torch.Tensor = self.down(functional.gelu(self.up(self.norms[1](tokens))))
        return tokens + widened


class Transformer(nn.Module):
    """A decoder, as GPT-2 is one."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(SEQUENCE, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        tokens = self.words(words) + self.places(torch.arange(words.shape[1]))
        for block in self.blocks:
            tokens = block(tokens)
        scores: torch.Tensor = self.head(self.norm(tokens))
        return scores


def training_step(model: nn.Module, words: torch.Tensor) -> Callable[[], None]:
    """Forward, backward and an optimiser's step."""
    optimiser = torch.optim.AdamW(model.parameters())

    def step() -> None:
        optimiser.zero_grad()
        torch.autograd.backward(functional.cross_entropy(model(words).flatten(0, 1), words.flatten()))
        optimiser.step()

    return step


def timed(step: Callable[[], object], repeats: int) -> float:
    """Seconds of the best of several runs: what else the machine does only adds."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        found.append(time.perf_counter() - start)
    return min(found)


def recorded(step: Callable[[], None], folder: Path, name: str, *, repeats: int = 1) -> tuple[float, float]:
    """Write the profile of the fastest of several steps, and an execution trace of the last; its seconds.

    Those of the clock, and those of the processor, which others on the machine do not add to.
    """
    best = (float("inf"), float("inf"))
    for turn in range(repeats):
        observer = None
        if turn == repeats - 1:
            observer = ExecutionTraceObserver().register_callback(str(folder / f"{name}_et.json"))
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer) as found:
            start, used = time.perf_counter(), time.process_time()
            step()
            taken = (time.perf_counter() - start, time.process_time() - used)
        if taken < best or (observer is not None and repeats == 1):
            best = taken
            found.export_chrome_trace(str(folder / f"{name}_kineto.json"))
    return best


def several(step: Callable[[], None], folder: Path, steps: int) -> None:
    """Write one profile of several steps: what others on the machine add to one operation, medians do not see."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as found:
        for _ in range(steps):
            step()
    found.export_chrome_trace(str(folder / "steps_kineto.json"))


def alone(
    folder: Path, batch: int, width: int, layers: int, repeats: int, steps: int, *, profiles_only: bool = False
) -> dict[str, float]:
    torch.manual_seed(0)
    model, words = Transformer(width, layers), torch.randint(0, VOCABULARY, (batch, SEQUENCE))
    step = training_step(model, words)
    step()
    step()
    told = {"step": timed(step, repeats)}
    told["profiled"], told["processor"] = recorded(step, folder, "step", repeats=repeats)
    told["step"] = min(told["step"], timed(step, repeats))
    if steps:
        several(step, folder, steps)
    if profiles_only:
        return told
    torch.export.save(torch.export.export(model, (words,)), str(folder / "model.pt2"))
    if find_spec("onnxscript") is None:
        return told
    torch.onnx.export(model, (words,), str(folder / "model.onnx"), dynamo=True)
    return told


def rates() -> dict[str, float]:
    """What one core sustains: FLOP a second in products of fp32, and bytes a second of a copy."""
    left, right = torch.randn(1024, 1024), torch.randn(1024, 1024)
    first = torch.randn(1 << 25)
    second = torch.empty_like(first)
    product, copy = timed(lambda: torch.mm(left, right), 10), timed(lambda: second.copy_(first), 10)
    return {"flop_rate": 2.0 * 1024**3 / product, "memory_rate": 2.0 * first.nbytes / copy}


def rank(number: int, ranks: int, folder: str, port: int) -> None:
    """One of several ranks, with gradients added up over Gloo."""
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=number, world_size=ranks)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(Transformer(128, 2))
    step = training_step(model, torch.randint(0, VOCABULARY, (2, SEQUENCE)))
    step()
    step()
    recorded(step, Path(folder), f"rank{number}")
    torch.distributed.destroy_process_group()


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("folder", type=Path)
    for name, usual in (
        ("batch", 4),
        ("width", 256),
        ("layers", 4),
        ("repeats", 1),
        ("steps", 0),
        ("ranks", 0),
        ("port", 29_511),
    ):
        asked.add_argument(f"--{name}", type=int, default=usual)
    asked.add_argument("--rates", action="store_true")
    asked.add_argument("--profiles-only", action="store_true", help="Export no program.")
    told = asked.parse_args()
    torch.set_num_threads(1)
    found: dict[str, float] = {}
    if told.ranks:
        started = get_context("spawn")
        others = [
            started.Process(target=rank, args=(number, told.ranks, str(told.folder), told.port))
            for number in range(told.ranks)
        ]
        for process in others:
            process.start()
        for process in others:
            process.join()
        if any(process.exitcode for process in others):
            raise SystemExit(1)
    else:
        found = alone(
            told.folder,
            told.batch,
            told.width,
            told.layers,
            told.repeats,
            told.steps,
            profiles_only=told.profiles_only,
        )
    if told.rates:
        found |= rates()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
