"""Timed matrix products: what ``rocblas-bench`` prints, and tables of one's own with m, n, k, element and seconds."""

import re
from collections.abc import Iterable, Mapping

from volvelle.interchange.logs.lines import Line, RefusedError, count, number
from volvelle.interchange.logs.logged import LoggedGemm, Refused

_ROCBLAS = "rocblas-Gflops"
_OWN = ("m", "n", "k", "element", "seconds")
_TYPES = {
    "s": "fp32",
    "f32_r": "fp32",
    "d": "fp64",
    "f64_r": "fp64",
    "h": "fp16",
    "f16_r": "fp16",
    "bf16_r": "bf16",
    "i8_r": "int8",
    "f8_r": "fp8",
    "bf8_r": "fp8",
}
_TYPE = re.compile(r"(?:-r|--precision|--a_type)[ =](\w+)")
_ELEMENT = re.compile(r"[a-z][a-z0-9]{2,8}$")


def is_header(text: str) -> bool:
    """Whether a line names the columns of products."""
    names = _cells(text)
    return (_ROCBLAS in names and {"M", "N", "K"} <= set(names)) or set(_OWN) <= {name.lower() for name in names}


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.split(",")]


def read_gemms(lines: Iterable[Line]) -> tuple[tuple[LoggedGemm, ...], list[Refused]]:
    """All products of a file."""
    found: list[LoggedGemm] = []
    refused: list[Refused] = []
    header: list[str] = []
    element: str | None = None
    for line in lines:
        said = _TYPE.search(line.text)
        if said is not None and "rocblas-bench" in line.text:
            element = _TYPES.get(said[1])
        if is_header(line.text):
            header = _cells(line.text)
            continue
        cells = _cells(line.text)
        if not header or len(cells) < 4:
            continue
        try:
            if len(cells) != len(header):
                raise RefusedError(f"{len(cells)} columns, and the header has {len(header)}: cut, or a decimal comma")
            if not line.ended:
                raise RefusedError("the file ends in this line: its last number may be cut")
            row = dict(zip(header, cells, strict=True))
            found.append(_rocblas(line, row, element) if _ROCBLAS in row else _own(line, row))
        except RefusedError as why:
            refused.append(Refused(line.number, str(why)))
    return tuple(found), refused


def _rocblas(line: Line, row: Mapping[str, str], element: str | None) -> LoggedGemm:
    m, n, k = (count(row[name], name) for name in "MNK")
    batch = next((count(row[name], name) for name in ("batch_count", "Batch_Count") if name in row), 1)
    seconds = 1e-6 * number(row["us"], "us")
    printed = 1e9 * number(row[_ROCBLAS], _ROCBLAS)
    done = 2.0 * m * n * k * batch / seconds
    if abs(done / printed - 1.0) > 0.02:
        raise RefusedError(
            f"{m} × {n} × {k} in {row['us']} us is {done / 1e9:.6g} Gflops, and {row[_ROCBLAS]} is printed"
        )
    return LoggedGemm(line=line.number, m=m, n=n, k=k, batch=batch, element=element, seconds=seconds)


def _own(line: Line, given: Mapping[str, str]) -> LoggedGemm:
    row = {name.lower(): value for name, value in given.items()}
    element = row["element"].lower()
    if not _ELEMENT.match(element):
        raise RefusedError(f"the element type is {row['element']!r}")
    return LoggedGemm(
        line=line.number,
        m=count(row["m"], "m"),
        n=count(row["n"], "n"),
        k=count(row["k"], "k"),
        element=element,
        seconds=number(row["seconds"], "seconds"),
    )
