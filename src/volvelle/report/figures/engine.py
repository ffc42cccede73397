"""Altair and the renderer behind it, loaded when the first picture is asked for. Only this module knows them."""

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from volvelle.errors import MissingExtraError, install_line

_VEGA_LITE = "6.1"
"""The version whose layout our pictures were looked at in."""
_LAYOUT = {"legend": {"layout": {"top": {"direction": "vertical", "anchor": "start"}}}}
"""Legends below each other, which the renderer knows how to do and Altair's schema does not."""


def _engine(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"pictures are drawn by Altair, of which {name} is not installed; run {install_line('plot')}"
        ) from None


def check_engines() -> None:
    """Refuse where one of them is not installed."""
    for name in ("altair", "vl_convert"):
        if find_spec(name) is None:
            _engine(name)


class _Altair:
    """The module altair, imported at the first use of one of its names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_engine("altair"), name)


alt: Any = _Altair()
"""Any, because its arguments are often gathered in dictionaries, each key of which has a type of its own there."""
if TYPE_CHECKING:
    import altair

    Chart: TypeAlias = (
        altair.Chart
        | altair.LayerChart
        | altair.FacetChart
        | altair.HConcatChart
        | altair.VConcatChart
        | altair.ConcatChart
    )
else:
    Chart = object


def data_of(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows for a chart, as one text: Altair copies its charts at every step, rows and all."""
    return alt.Data(values=json.dumps([dict(row) for row in rows]), format=alt.DataFormat(type="json"))


def marks_of(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A chart of some rows."""
    return alt.Chart(data_of(rows))


def named(names: Iterable[str | list[str]]) -> str:
    """How an axis of whole numbers writes names in their place; a list is written in lines."""
    return f"{json.dumps(list(names))}[datum.value]"


def vega_svg(chart: Mapping[str, Any]) -> str:
    """A chart, as its dictionary, drawn as the renderer does it."""
    drawn = _engine("vl_convert").vegalite_to_svg(dict(chart), vl_version=_VEGA_LITE, config=_LAYOUT)
    return str(drawn)


def vega_png(svg: str, *, scale: float) -> bytes:
    """An SVG text as pixels."""
    return bytes(_engine("vl_convert").svg_to_png(svg, scale=scale))
