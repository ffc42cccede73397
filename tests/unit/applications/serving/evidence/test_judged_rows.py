"""Which runs tell the errors of engines: as counted from calibration rows, and of nothing else."""

from volvelle.applications.serving.evidence.judged_rows import judged_rows
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import ERROR_CELLS
from volvelle.catalogue.packaged_rows import packaged_rows


def test_every_error_of_the_table_names_the_calibration_rows_that_tell_it(catalogue: Catalogue) -> None:
    calibration = [row for row in serving_measurements().rows if row.head.split == "calibration"]
    counted = {line: rows.written() for line, rows in judged_rows(calibration, catalogue).items()}
    shipped = {
        (line["engine"], line["family"], line["constant"]): {name: line[name] for name in ERROR_CELLS}
        for line in packaged_rows("engines.csv")
        if line["constant"].startswith("error ")
    }
    assert counted == shipped


def test_rows_of_models_with_experts_are_counted_apart_where_errors_are_told_apart() -> None:
    lines = {(row["engine"], row["family"], row["constant"]): row for row in packaged_rows("engines.csv")}
    apart = [key for key in lines if key[2].endswith(" with experts")]
    assert apart
    for engine, family, constant in apart:
        dense = lines[engine, family, constant.removesuffix(" with experts")]
        assert (lines[engine, family, constant]["models"], dense["models"]) == ("experts", "dense")
