"""Files a study leaves beside its results: the report, the front as a table, the answers as JSON."""

import csv
import io
from pathlib import Path

from volvelle.errors import ResultsError
from volvelle.report.documents.document import json_text
from volvelle.report.documents.explore import ExploreDocument
from volvelle.report.explore.page import explore_page
from volvelle.studies.answers.answers import Answers


def front_csv(answers: Answers) -> str:
    """The front as a table, numbers in SI units: point, fields, measures, layout."""
    designs = answers.front.designs
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    if designs:
        first = designs[0]
        layout = [name for name in first.layout if name not in first.fields]
        write.writerow(["point", *first.fields, *first.measures, *layout])
        for one in designs:
            write.writerow(
                [
                    one.number,
                    *one.fields.values(),
                    *one.measures.values(),
                    *(one.layout.get(name, "") for name in layout),
                ]
            )
    return text.getvalue()


def write_explore_files(answers: Answers, folder: Path, *, command: str = "") -> tuple[Path, ...]:
    """Write report.html, front.csv and summary.json; gives where they are. The report shows the command."""
    texts = {
        "report.html": explore_page(answers, command=command),
        "front.csv": front_csv(answers),
        "summary.json": json_text("explore", ExploreDocument.model_validate(answers)) + "\n",
    }
    written = []
    for name, text in texts.items():
        file, passing = folder / name, folder / f"writing-{name}"
        try:
            passing.write_text(text, "utf-8")
            passing.replace(file)
        except OSError as error:
            raise ResultsError(f"{str(file)!r} cannot be written: {error.strerror}") from None
        written.append(file)
    return tuple(written)
