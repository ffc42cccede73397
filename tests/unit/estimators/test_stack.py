"""What software makes of a chip's constants."""

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.stack import Stack

SLOW = Stack(
    name="slow",
    factors={("", "", "matrix_efficiency"): 0.5, ("hopper", "fp8", "matrix_efficiency"): 2.0},
    own_errors={("hopper", "bf16"): 1.3},
)


def test_the_nearest_factor_counts_and_a_share_stays_one() -> None:
    assert SLOW.factor("matrix_efficiency", "ampere", "fp8") == 0.5
    assert SLOW.applied({"matrix_efficiency": 0.8}, {}, "ampere", "bf16") == {"matrix_efficiency": 0.4}
    assert SLOW.applied({"matrix_efficiency": 0.8}, {}, "hopper", "fp8")["matrix_efficiency"] == 0.98


def test_columns_of_samples_are_multiplied_and_cut_alike() -> None:
    found = SLOW.applied({"matrix_efficiency": np.array([0.2, 0.6])}, {}, "hopper", "fp8")["matrix_efficiency"]
    assert found == pytest.approx([0.4, 0.98])


def test_how_far_steps_were_off_in_runs_of_ones_own_counts() -> None:
    assert SLOW.applied({}, {"matrix_efficiency": 1.0}, "hopper", "bf16")["step_error"] == 1.3


def test_what_is_no_training_step_has_the_chips_constants(catalogue: Catalogue) -> None:
    machine = catalogue.cluster("dgx-h100/8", stack="fsdp")
    chip, software = fitted_constants(machine, "bf16", software=False), fitted_constants(machine, "bf16")
    assert chip == fitted_constants(catalogue.cluster("dgx-h100/8"), "bf16", software=False)
    assert software.matrix_efficiency < chip.matrix_efficiency
