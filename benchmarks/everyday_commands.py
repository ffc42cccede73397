"""How long the questions take that people ask first, each as a command in a process of its own: seconds, and CPU time.

Prints all of them as JSON on the last line with --json, and the slowest.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time

QUESTIONS = {
    "layout, fit, days, money": "plan llama3-70b --on dgx-h100/64 --seq 8192 --batch 1024 --tokens 2T",
    "the same of one layout": "estimate llama3-70b --on dgx-h100/64 --seq 8192 --batch 1024 --tp 4 --pp 8 --tokens 2T",
    "how many by a date": "plan llama3-70b --on dgx-h100 --tokens 2T --days 30",
    "how many for a budget": "plan llama3-70b --on dgx-h100 --tokens 2T --usd 5MUSD",
    "nothing fits": "plan llama3-70b --on dgx-h100/8 --batch 64",
    "two systems": "compare dgx-h100/64 dgx-b200/64 --model llama3-70b --batch 1024",
    "two models": "compare llama3-8b qwen3-8b --on dgx-h100/16 --batch 64 --seq 4096",
    "two layouts": "compare 'tp4 pp8' 'dp64 zero3 recompute full' --model llama3-70b --on dgx-h100/64 --batch 1024",
    "two stacks": "compare nemo fsdp --model llama3-8b --on dgx-h100/16 --batch 64",
    "what if, one layout": "estimate llama3-70b --on dgx-h100/64 --batch 1024 --tp 4 --pp 8 --set scale_up.rate=2x",
    "what if, best layout": "plan llama3-70b --on dgx-h100/64 --batch 1024 --set chip.memory.capacity=192GB",
    "what if, money": "cost --on dgx-h100/64 --set accelerators=128",
    "fine-tuning": "plan llama3-70b --on dgx-h100/8 --batch 8 --lora 16",
}
ASK = "import sys; from volvelle.cli import main; main()"


def taken(words: str) -> dict[str, float]:
    """Seconds and CPU seconds of a command; it must answer."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", ASK, *shlex.split(words)], capture_output=True, check=False)
    after, seconds = os.times(), time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise SystemExit(f"volvelle {words} failed:\n{done.stderr.decode()}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2)}


def main() -> None:
    """Ask all, once to warm the disk and once to time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    taken("--version")
    found = {}
    for name, words in QUESTIONS.items():
        found[name] = taken(words)
        if not asked.json:
            print(
                f"{found[name]['seconds']:6.2f} s, {found[name]['cpu_seconds']:.2f} s of CPU  {name}: volvelle {words}"
            )
    slowest = max(found, key=lambda name: found[name]["cpu_seconds"])
    print(json.dumps({"questions": found, "slowest": slowest, **found[slowest]}))


if __name__ == "__main__":
    main()
