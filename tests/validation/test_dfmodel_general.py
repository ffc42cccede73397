"""DFModel's 320 points asked as anyone asks: study files of catalogue machines, nothing published named in them."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from volvelle.catalogue.published.dfmodel import DesignPoint, Study, dfmodel
from volvelle.reproductions.dfmodel.design_space import WITHIN
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.evaluate import Evaluator

_STUDIES: dict[str, Study] = {"llm": "LLM", "dlrm": "DLRM", "hpl": "HPL", "fft": "FFT"}
_CHIPS = {"h100-sxm": "h100", "tpu-v4": "tpu", "sn30": "sn30", "wse-2": "wse-2"}
_MEMORIES = {"sn30": "ddr", "h100-sxm": "hbm"}
_LINKS = {"pcie-dfmodel": "pcie", "nvlink4": "nvlink"}
_SHAPES = {
    ("ring", "ring"): "2d_torus",
    ("ring", "ring", "ring"): "3d_torus",
    ("fully-connected", "fully-connected"): "dragonfly",
    ("ring", "switch"): "dgx_1",
    ("switch", "switch"): "dgx_2",
}


def compared(path: Path, workload: Study) -> list[tuple[DesignPoint, tuple[float, float, float], bool]]:
    """Every point of a study: what was logged, how far utilisation, price and power are off, and whether proven."""
    logged = {(one.accelerator, one.topology, one.memory, one.link): one for one in dfmodel().points(workload)}
    study = read_study(path)
    assert study.published is None
    found = Evaluator(study=study).rows(0, len(study.grid))
    rows = []
    for row in range(len(found.numbers)):
        values = {
            path: str(column[int(found.positions[axis.name][row])])
            for axis in study.axes
            for path, column in axis.columns.items()
        }
        kinds = tuple(text.split()[0] for text in values["network.shape"].split(", "))
        link = values.get("scale_up.link", values["network.link"])
        point = logged.pop((_CHIPS[values["chip"]], _SHAPES[kinds], _MEMORIES[values["chip.memory"]], _LINKS[link]))
        ours = [float(found.columns[name][row]) for name in ("mfu", "machine_usd", "power")]
        stated = (point.utilisation, point.cost, point.power)
        off = tuple(one / other - 1.0 for one, other in zip(ours, stated, strict=True))
        rows.append((point, off, float(found.columns["gap"][row]) <= 1e-6))
    assert not logged, "every logged point is asked for"
    return rows


@pytest.mark.parametrize(("name", "within"), [("llm", 74), ("dlrm", 80), ("hpl", 80), ("fft", 80)])
def test_a_study_file_of_catalogue_machines_gives_what_dfmodel_logged(name: str, within: int) -> None:
    rows = compared(ROOT / "examples" / "studies" / f"dfmodel-{name}.yaml", _STUDIES[name])
    assert len(rows) == 80
    assert all(proven for _, _, proven in rows)
    assert sum(max(map(abs, off)) <= WITHIN for _, off, _ in rows) == within
    # Where ours is not what was logged it is better: the logged solver had stopped early.
    assert all(off[0] > -WITHIN and max(map(abs, off[1:])) <= WITHIN for _, off, _ in rows)
