"""Answers and pictures of the studies that pages show."""

from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from volvelle.report.explore.pictures import front_picture, heat_picture, time_picture, tornado_picture
from volvelle.report.explore.text import print_answers, print_inversion
from volvelle.report.figures.rendering import svg
from volvelle.studies.answers.answers import answer
from volvelle.studies.answers.invert import invert
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.sweep.local import run_local
from volvelle.studies.sweep.manifest import open_results

__all__ = ["explore_pages"]

STUDIES = Path(__file__).resolve().parent.parent / "examples" / "studies"
ASKED = {
    "which-machine": "days <= 49 and usd minimal",
    "how-sure-measured": "P(days<=30)>=0.9 and run_usd.p50 minimal",
}
"""Requirements that pages show the answer of."""
PICTURES = {"front": front_picture, "tornado": tornado_picture, "heat": heat_picture, "time": time_picture}
SHOWN: dict[str, tuple[str, ...]] = {
    "which-machine": ("front", "time"),
    "what-to-build": ("front", "heat", "tornado"),
    "how-sure-measured": (),
}


def explore_pages() -> dict[str, str]:
    """Files for pages: each study's answer as text, and the pictures that are shown."""
    found: dict[str, str] = {}
    for name, pictures in SHOWN.items():
        study = read_study(STUDIES / f"{name}.yaml")
        with TemporaryDirectory() as folder:
            results = open_results(Path(folder) / "results", study, chunk=64)
            run_local(results)
            answers = answer(results, study)
            console = _console()
            print_answers(answers, console)
            found[f"explore-{name}.txt"] = _told(f"explore examples/studies/{name}.yaml", console)
            if name in ASKED:
                console = _console()
                print_inversion(invert(results, study, ASKED[name]), console)
                asked = f'explore examples/studies/{name}.yaml --invert "{ASKED[name]}"'
                found[f"explore-{name}-invert.txt"] = _told(asked, console)
        for picture in pictures:
            drawn = PICTURES[picture](answers)
            if drawn is None:
                raise SystemExit(f"study {name} has no {picture} picture, but a page shows it")
            found[f"explore-{name}-{picture}.svg"] = svg(drawn)
    return found


def _console() -> Console:
    return Console(file=StringIO(), width=100, color_system=None)


def _told(question: str, console: Console) -> str:
    file = console.file
    assert isinstance(file, StringIO)
    lines = (line.rstrip() for line in file.getvalue().splitlines())
    return f"$ volvelle {question}\n" + "\n".join(lines) + "\n"
