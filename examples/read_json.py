"""Ask the command for JSON, and take from it what a script needs."""

import json
import subprocess
import sys
from pathlib import Path

question = "estimate gpt3-175b --on dgx-a100/1024 --tp 8 --pp 8 --batch 1536 --json"
command = [str(Path(sys.executable).parent / "volvelle"), *question.split()]
done = subprocess.run(command, capture_output=True, text=True, check=False)
if done.returncode == 2:
    raise SystemExit(done.stderr)  # the question made no sense
answer = json.loads(done.stdout)

print(f"{answer['model']} on {answer['system']}: {'can' if answer['feasible'] else 'cannot'} run")
around = answer["range"]
print(f"{answer['seconds']:.1f} s, {around['low']:.1f} s to {around['high']:.1f} s")

exposed = [line for line in answer["contributions"] if line["exposed"]]
print(f"\nsum of what is exposed: {sum(line['seconds'] for line in exposed):.1f} s; the three longest:")
for line in sorted(exposed, key=lambda line: -line["seconds"])[:3]:
    print(f"  {line['name']:30} {line['seconds']:.2f} s  {line['resource']}")

print("\nnumbers that are assumed:")
for number in answer["inputs"]:
    if number["evidence"] == "assumed":
        print(f"  {number['name']} ({number['source']})")
