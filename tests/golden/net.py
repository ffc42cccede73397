"""A net under every change: the answers of two commits to the same questions, held against each other.

``scripts/golden OLD NEW`` asks both commits every question of ``questions.yaml`` (NEW may be ``.``, the files as they
are) and lists what moved by more than 1e-12 of itself. ``renames.yaml`` says what has another name now;
``permitted.yaml`` what may move, and why. It exits with 1 if anything else moved.

``scripts/golden --record`` writes the answers of the small set that the tests ask.

Answers are kept in ``.golden/`` by commit, so that a commit is asked once.
"""

import argparse
import fnmatch
import hashlib
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.golden.answering import PYTHON
from tests.golden.quantities import Value, named

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEPT = ROOT / ".golden"
TOLERANCE = 1e-12

Answers = dict[str, dict[str, Value]]
"""Question → name → value."""


def read(name: str) -> Any:
    """One of the files beside this one."""
    return YAML(typ="safe", pure=True).load((HERE / name).read_text("utf-8"))


def questions(only: str = "*") -> dict[str, list[str]]:
    """``group/name`` → arguments of the command, of those whose names fit."""
    found = {
        f"{group}/{name}": shlex.split(words)
        for group, named in read("questions.yaml").items()
        for name, words in named.items()
    }
    found |= {
        f"{PYTHON}-{function}/{name}": [PYTHON, expression]
        for function, named in read("python.yaml").items()
        for name, expression in named.items()
    }
    return {name: words for name, words in found.items() if fnmatch.fnmatch(name, only)}


def small() -> dict[str, list[str]]:
    """The questions that every run of the tests asks."""
    every = questions()
    return {name: every[name] for name in read("small.yaml")}


def recorded(answer: Mapping[str, Any]) -> dict[str, Value]:
    """An answer as it is kept."""
    written = named({"written": answer.get("written", {})})
    return {"exit": float(answer["exit"]), "said": answer.get("said"), **named(answer.get("document")), **written}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A quantity that is not what it was."""

    question: str
    name: str
    old: Value
    new: Value

    @property
    def by(self) -> float:
        """By what share of itself; infinite where it is not a matter of more or less."""
        if isinstance(self.old, float) and isinstance(self.new, float):
            if math.isnan(self.old) and math.isnan(self.new):
                return 0.0
            largest = max(abs(self.old), abs(self.new))
            return abs(self.new - self.old) / largest if largest else 0.0
        return 0.0 if self.old == self.new else math.inf


def movements(old: Answers, new: Answers, *, ignored: Sequence[str] = ()) -> list[Moved]:
    """What moved by more than the tolerance, largest first; what is only in the new answers did not move."""
    found = []
    for question, before in old.items():
        after = new.get(question, {})
        for name, value in before.items():
            if any(fnmatch.fnmatch(f"{question}:{name}", pattern) for pattern in ignored):
                continue
            moved = Moved(question=question, name=name, old=value, new=after.get(name, "(gone)"))
            if moved.by > TOLERANCE:
                found.append(moved)
    return sorted(found, key=lambda moved: -moved.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What may move, by how much, and why."""

    reason: str
    what: tuple[str, ...]
    within: float = math.inf

    def covers(self, moved: Moved) -> bool:
        """Whether this movement is permitted."""
        full = f"{moved.question}:{moved.name}"
        return moved.by <= self.within and any(fnmatch.fnmatch(full, pattern) for pattern in self.what)


class Commit:
    """The package of one commit, asked in the words it knew."""

    def __init__(self, revision: str) -> None:
        self.here = revision == "."
        self.revision = "the working tree" if self.here else _git("rev-parse", "--short", revision)

    def has(self, path: str) -> bool:
        """Whether a file or folder had come by then; it may have gone again."""
        if self.here and (ROOT / path).exists():
            return True
        return bool(_git("log", "-1", "--format=%h", "HEAD" if self.here else self.revision, "--", path))

    @cached_property
    def renames(self) -> list[Mapping[str, Any]]:
        """The blocks of renames that came after this commit."""
        return [block for block in read("renames.yaml") if not self.has(block["since"])]

    def asked(self, words: Sequence[str]) -> list[str]:
        """A question in this commit's words."""
        line = "\0".join(words)
        kind = "expressions" if words[0] == PYTHON else "options"
        for block in reversed(self.renames):
            for new, old in (block.get(kind) or {}).items():
                if kind == "expressions":
                    line = re.sub(new, old, line)
                    continue
                line = re.sub(
                    rf"(^|\0){re.escape(new).replace(' ', chr(0))}(?=\0|$)",
                    lambda m, old=old: m[1] + old.replace(" ", "\0"),
                    line,
                )
        return [word.replace("tests/golden/", f"{HERE}/") for word in line.split("\0") if word]

    def answers(self, asked: Mapping[str, list[str]]) -> Answers:
        """What it says, under today's names."""
        translated = {name: self.asked(words) for name, words in asked.items()}
        raw: dict[str, Any] = {}
        kept = None if self.here else KEPT / f"{self.revision}.json"
        if kept and kept.exists():
            raw = json.loads(kept.read_text("utf-8"))
        key = {name: f"{name} {_digest(words)}" for name, words in translated.items()}
        missing = {key[name]: words for name, words in translated.items() if key[name] not in raw}
        if missing:
            raw |= (answered := self._ask(missing))
            _print_slowest(answered)
            if kept:
                KEPT.mkdir(exist_ok=True)
                kept.write_text(json.dumps(raw), "utf-8")
        return {name: self._renamed(name, recorded(raw[key[name]])) for name in asked}

    def _ask(self, asked: Mapping[str, list[str]]) -> dict[str, Any]:
        print(f"asking {self.revision} {len(asked)} questions", file=sys.stderr)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            tree = ROOT
            if not self.here:
                tree = folder / "tree"
                tree.mkdir()
                archive = subprocess.run(["git", "archive", self.revision], cwd=ROOT, check=True, capture_output=True)
                subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
            (folder / "asked.json").write_text(json.dumps(asked), "utf-8")
            files = [str(folder / "asked.json"), str(folder / "answers.json")]
            path = os.pathsep.join((str(tree / "src"), str(ROOT)))
            environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "80", "NO_COLOR": "1"}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled by who uses them first
            command = [sys.executable, "-P", "-m", "tests.golden.answering", *files]
            subprocess.run(command, cwd=tree, env=environment, check=True)
            said = (folder / "answers.json").read_text("utf-8").replace(f"{tree}/", "").replace(f"{ROOT}/", "")
            found: dict[str, Any] = json.loads(said)
        return found

    def _renamed(self, question: str, answer: dict[str, Value]) -> dict[str, Value]:
        for block in self.renames:
            if not fnmatch.fnmatch(question, block.get("questions", "*")):
                continue
            keys = [(re.compile(old), new) for old, new in (block.get("keys") or {}).items()]
            words = block.get("words") or {}
            negated = [re.compile(pattern) for pattern in block.get("negated") or ()]
            found: dict[str, Value] = {}
            for name, value in answer.items():
                renamed = name
                for old, new in keys:
                    renamed = old.sub(new, renamed)
                if isinstance(value, bool) and any(pattern.search(renamed) for pattern in negated):
                    found[renamed] = not value
                else:
                    found[renamed] = words.get(value, value) if isinstance(value, str) else value
            answer = found
        return answer


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _digest(words: Iterable[str]) -> str:
    own = [Path(file).read_bytes() for word in words for file in re.findall(rf"{HERE}/[\w./-]*\w", word)]
    text = "\0".join(words).replace(str(ROOT), "").encode()
    return hashlib.sha256(text + b"".join(own)).hexdigest()[:12]


def _print_slowest(answered: Mapping[str, Any], most: int = 20) -> None:
    slowest = sorted(answered.items(), key=lambda item: -item[1]["seconds"])
    for name, said in slowest[:most]:
        print(f"{said['seconds']:6.1f} s  {name.rpartition(' ')[0]}", file=sys.stderr)
    print(f"{sum(said['seconds'] for said in answered.values()):6.1f} s of processors in all", file=sys.stderr)


def _shown(value: Value) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Compare two commits."""
    parser = argparse.ArgumentParser(prog="scripts/golden", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("old", nargs="?", help="a commit")
    parser.add_argument("new", nargs="?", default=".", help="a commit, or . for the files as they are (the default)")
    parser.add_argument("--record", action="store_true", help="write today's answers to the small set, and stop")
    parser.add_argument("--only", default="*", help="questions whose names fit, like 'estimate/*'")
    parser.add_argument("--most", type=int, default=40, help="movements to list (default 40)")
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    given = parser.parse_args()
    if given.record:
        answers = Commit(".").answers(small())
        (HERE / "answers.json").write_text(json.dumps(answers, indent=0, sort_keys=True) + "\n", "utf-8")
        return
    if given.old is None:
        parser.error("name the commit to hold today's answers against")
    asked = questions(given.only)
    commits = Commit(given.old), Commit(given.new)
    old, new = (commit.answers(asked) for commit in commits)
    settings = read("permitted.yaml")
    found = movements(old, new, ignored=settings["never_compared"])
    # A permission is for changes that came after the old commit and are in the new one.
    applies = [
        one for one in settings["permitted"] or () if not commits[0].has(one["since"]) and commits[1].has(one["since"])
    ]
    permissions = [
        Permission(reason=one["reason"], what=tuple(one["what"]), within=float(one.get("within", math.inf)))
        for one in applies
    ]
    loose = [moved for moved in found if not any(permission.covers(moved) for permission in permissions)]
    compared = sum(len(answer) for answer in old.values())
    for permission in permissions:
        count = sum(permission.covers(moved) for moved in found)
        print(f"permitted: {count} quantities ({permission.reason})")
    for moved in loose[: given.most]:
        print(f"{moved.question}  {moved.name}: {_shown(moved.old)} -> {_shown(moved.new)}  ({moved.by:.2g})")
    if len(loose) > given.most:
        print(f"… and {len(loose) - given.most} more")
    print(f"{len(asked)} questions, {compared} quantities, {len(found)} moved, {len(loose)} of them not permitted")
    if given.json:
        print(
            json.dumps(
                {"questions": len(asked), "quantities": compared, "moved": len(found), "not_permitted": len(loose)}
            )
        )
    sys.exit(1 if loose else 0)


if __name__ == "__main__":
    main()
