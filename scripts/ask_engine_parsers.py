"""Asks the engines' own parsers whether they take the files that ``--emit`` writes; no CUDA is needed.

    python scripts/ask_engine_parsers.py vllm /path/to/python     # of an environment with that vLLM installed
    python scripts/ask_engine_parsers.py sglang /path/to/python

The environment needs the engine without its dependencies on CUDA (``pip install --no-deps``) and what its parser
imports. vLLM is told that its platform is a CPU; packages that only devices use may stand in as empty modules.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from volvelle import Catalogue
from volvelle.errors import MappingError
from volvelle.interchange.engine_launch.deployment import LaunchFile
from volvelle.verbs.serving.files import launch_files, write_files
from volvelle.verbs.serving.question import ServingQuestion

_EMPTY = "torchvision"
FORMATS = (("bf16", "bf16"), ("fp8", "fp8"), ("fp8-block", "fp8"))
_ASK = {
    "vllm": """
import shlex, sys
import vllm.platforms
from vllm.platforms.cpu import CpuPlatform
vllm.platforms._current_platform = CpuPlatform()
from vllm.benchmarks.serve import add_cli_args
from vllm.entrypoints.openai.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser
for folder in sys.argv[1:]:
    for line in open(f"{folder}/launch.sh"):
        words = [word for word in shlex.split(line, comments=True) if "CUDA_VISIBLE" not in word and word != "&"]
        if "serve" in words:
            words = words[words.index("serve") + 1:]
            words[words.index("--config") + 1] = f"{folder}/vllm.yaml"
            parser = FlexibleArgumentParser()
            make_arg_parser(parser.add_subparsers().add_parser("serve"))
            found = parser.parse_args(["serve", *words])
            told = (found.tensor_parallel_size, found.max_num_batched_tokens, found.max_model_len)
            print("server", found.model_tag, *told)
    bench = shlex.split(open(f"{folder}/benchmark.sh").read().splitlines()[-1])
    parser = FlexibleArgumentParser()
    add_cli_args(parser)
    found = parser.parse_args(bench[bench.index("serve") + 1:])
    print("benchmark", found.max_concurrency, found.request_rate, found.random_range_ratio, found.metadata)
""",
    "sglang": """
import argparse, importlib.abc, importlib.machinery, sys, types
class Empty(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in EMPTY:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return Empty(spec.name)
    def exec_module(self, module):
        module.__path__ = []
sys.meta_path.insert(0, Finder())
from sglang.srt.server_args import ServerArgs
from sglang.srt.server_args_config_parser import ConfigArgumentMerger
NAMES = ("model_path", "tensor_parallel_size", "data_parallel_size", "expert_parallel_size", "chunked_prefill_size")
for folder in sys.argv[1:]:
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    words = ConfigArgumentMerger(parser).merge_config_with_args(["--config", f"{folder}/sglang.yaml", "--port", "8000"])
    found = parser.parse_args(words)
    print("server", *(getattr(found, name) for name in NAMES))
""".replace("EMPTY", repr((_EMPTY,))),
}


def _asked(engine: str) -> Iterator[tuple[LaunchFile, ...]]:
    """Files of a grid of what can be asked: layouts, formats, loads; nothing is timed."""
    known = Catalogue()
    for model, on, layouts in (
        ("llama3-70b", "dgx-h100/8", ((8, 1, 1, 1), (2, 1, 1, 1), (4, 2, 1, 1))),
        ("deepseek-v3", "dgx-b200/8", ((8, 1, 1, 1), (1, 1, 8, 8), (8, 1, 1, 8), (2, 1, 4, 1))),
    ):
        shape, cluster = known.model(model), known.cluster(on)
        for (tensor, pipeline, data, expert), (weights, kv) in product(layouts, FORMATS):
            for told in ({"load": "closed 16"}, {"load": "gamma 2/s 0.5", "lengths": "around:0.2"}, {"batch": 8}):
                question = ServingQuestion(
                    model=model,
                    on=on,
                    engine=engine,
                    weights=weights,
                    kv=kv,
                    tensor=tensor,
                    pipeline=pipeline,
                    data=data,
                    expert=expert,
                    **told,  # type: ignore[arg-type]
                )
                try:
                    yield launch_files(engine, question, question.instance(known, shape, cluster), cluster)
                except MappingError as refused:
                    print(f"refused: {refused}")


def main() -> int:
    """Ask about the whole grid."""
    engine, python = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        places = []
        for number, files in enumerate(_asked(engine)):
            places.append(Path(folder) / str(number))
            write_files(files, places[-1])
        print(f"{len(places)} sets of files")
        return subprocess.run([python, "-c", _ASK[engine], *map(str, places)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
