"""A file that another command reads is refused with the name of that command."""

import shutil
from pathlib import Path

import pytest

from tests.everyday.asking import ask

_ONNX = Path("examples/traces/model.onnx").resolve()
_COMMANDS = [
    ("map", "{}", "--on", "dgx-h100/8"),
    ("estimate", "{}", "--on", "dgx-h100/8", "--batch", "8"),
    ("plan", "{}", "--on", "dgx-h100/8", "--batch", "8"),
    ("serve", "{}", "--on", "dgx-h100/8"),
    ("explore", "{}"),
    ("mpi", "{}"),
    ("calibrate", "from", "{}", "--on", "dgx-h100/8"),
    ("calibrate", "serving", "llama3-8b", "--on", "dgx-h100/8", "--bench", "{}"),
    ("serve", "llama3-8b", "--on", "dgx-h100/8", "--load", "trace {}"),
    ("validate", "training", "--data", "{}"),
    ("job", "llama3-8b", "--on", "dgx-h100/8", "--phases", "{}"),
]


@pytest.mark.parametrize("words", _COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("name", ["model.onnx", "model"])
def test_an_onnx_model_is_sent_to_replay(tmp_path: Path, words: tuple[str, ...], name: str) -> None:
    if name == "model" and words[0] in ("estimate", "plan", "serve") and words[1] == "{}":
        pytest.skip("a name without an ending is looked up in the catalogue")
    shutil.copy(_ONNX, tmp_path / name)
    reply = ask(tmp_path, *(word.format(name) for word in words))
    assert reply.status == 2, reply
    assert f"volvelle replay {name} --on SYSTEM" in reply.err
    assert "UTF-8" not in reply.err


@pytest.mark.parametrize(
    ("name", "held", "says"),
    [
        ("program.pt2", b"PK\x03\x04\xff\x00", "volvelle replay program.pt2"),
        ("step.0.et", b"\x12\x0a\x80\xff", "volvelle replay step.0.et"),
        ("profile.json.gz", b"\x1f\x8b\x08\x00", "volvelle replay profile.json.gz"),
        ("traces.otf2", b"OTF2\x01\xff", "volvelle mpi traces.otf2"),
        ("model.safetensors", b"\x80\x01\x00\x00", "config.json"),
        ("unknown.dat", b"\xff\xfe\x00\x01", "cannot be read as text"),
    ],
)
def test_other_binary_files_are_sent_to_their_command(tmp_path: Path, name: str, held: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(held)
    reply = ask(tmp_path, "map", name, "--on", "dgx-h100/8")
    assert reply.status == 2
    assert says in reply.err


def test_a_large_binary_file_is_sent_to_its_command_too(tmp_path: Path) -> None:
    (tmp_path / "large.onnx").write_bytes(_ONNX.read_bytes() + bytes(20 * 2**20))
    reply = ask(tmp_path, "map", "large.onnx", "--on", "dgx-h100/8")
    assert "volvelle replay large.onnx --on SYSTEM" in reply.err
