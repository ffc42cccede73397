"""The only module that knows solvers: HiGHS and CP-SAT through OR-Tools' MathOpt, and Gurobi, each an extra."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from math import ceil, inf, isfinite
from time import perf_counter
from typing import Any

import numpy as np

from volvelle.errors import MissingExtraError, install_line
from volvelle.search.fusion.assignment_model import TICKS, AssignmentModel, in_whole_numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverAnswer:
    """What a solver says of a model."""

    values: Sequence[float] | None
    """The best solution found."""
    objective: float
    """Its value, in the model's units."""
    bound: float
    """No solution is below; infinite where there is none at all."""
    nodes: int


def highs_is_installed() -> bool:
    """Whether the default solver is there."""
    return find_spec("ortools") is not None


def _missing(name: str, extra: str) -> MissingExtraError:
    return MissingExtraError(
        f"{name} is not installed; run {install_line(extra)}, or use method='exact', which needs no solver"
    )


Solver = Callable[[AssignmentModel, float, Sequence[float] | None], SolverAnswer]
"""(model, seconds at most, a known solution to start from if there is one) → what it finds, on one core."""


def highs(model: AssignmentModel, time_limit: float, start: Sequence[float] | None = None) -> SolverAnswer:
    """HiGHS, an open solver of mixed-integer models by branch and cut."""
    begun = perf_counter()
    mathopt = _mathopt("HiGHS")
    from ortools.math_opt.solvers import highs_pb2  # noqa: PLC0415 - an extra

    parameters = mathopt.SolveParameters(
        time_limit=_left(time_limit, begun),
        relative_gap_tolerance=1e-9,
        absolute_gap_tolerance=1e-10,
        # By default what is within 1e-6 of a whole number counts as one, and objectives lean on it.
        highs=highs_pb2.HighsOptionsProto(
            int_options={"threads": 1}, double_options={"mip_feasibility_tolerance": 1e-9}
        ),
    )
    return _solved(mathopt, mathopt.SolverType.HIGHS, model, parameters, start)


def cp_sat(model: AssignmentModel, time_limit: float, start: Sequence[float] | None = None) -> SolverAnswer:
    """CP-SAT, an open solver that learns from conflicts; whole numbers only.

    Coefficients that are not whole are rounded by us, so that the model only gets easier: its bound stays a bound.
    """
    begun = perf_counter()
    mathopt = _mathopt("CP-SAT")
    from ortools.sat import sat_parameters_pb2  # noqa: PLC0415 - an extra

    whole = in_whole_numbers(model)
    ticks = np.where(np.isfinite(model.upper), 1, TICKS)
    if start is not None:
        start = [min(most, ceil(value * unit)) for value, unit, most in zip(start, ticks, whole.upper, strict=True)]
    # Wide enough that nothing is rescaled, which would round once more, and either way. One worker does best with
    # strong linearisation.
    engine = sat_parameters_pb2.SatParameters(
        mip_max_bound=float(whole.upper.max()), mip_max_activity_exponent=62, linearization_level=2
    )
    parameters = mathopt.SolveParameters(time_limit=_left(time_limit, begun), threads=1, cp_sat=engine)
    answer = _solved(mathopt, mathopt.SolverType.CP_SAT, whole, parameters, start)
    return SolverAnswer(
        values=None if answer.values is None else (np.asarray(answer.values) / ticks).tolist(),
        objective=answer.objective / TICKS,
        bound=answer.bound / TICKS,
        nodes=answer.nodes,
    )


def _mathopt(name: str) -> Any:
    try:
        from ortools.math_opt.python import mathopt  # noqa: PLC0415 - an extra
    except ImportError:
        raise _missing(f"{name} (OR-Tools)", "solvers") from None
    return mathopt


def _left(time_limit: float, begun: float) -> timedelta:
    """What is left of the limit once the engine is loaded and its model rounded."""
    return timedelta(seconds=max(0.01, time_limit - (perf_counter() - begun)))


def _solved(
    mathopt: Any, kind: Any, model: AssignmentModel, parameters: Any, start: Sequence[float] | None
) -> SolverAnswer:
    """One of OR-Tools' engines on a model."""
    program = mathopt.Model.from_model_proto(_message(model))
    variables = list(program.variables())
    hints = [] if start is None else [mathopt.SolutionHint(variable_values=dict(zip(variables, start, strict=True)))]
    result = mathopt.solve(
        program, kind, params=parameters, model_params=mathopt.ModelSolveParameters(solution_hints=hints)
    )
    reasons, ended = mathopt.TerminationReason, result.termination
    none = ended.reason in (reasons.INFEASIBLE, reasons.INFEASIBLE_OR_UNBOUNDED)
    found = result.has_primal_feasible_solution()
    return SolverAnswer(
        values=result.variable_values(variables) if found else None,
        objective=result.objective_value() if found else inf,
        bound=inf if none else max(0.0, ended.objective_bounds.dual_bound),
        nodes=max(0, int(result.solve_stats.node_count)),
    )


def _message(model: AssignmentModel) -> Any:
    """The model as MathOpt stores it: whole arrays at a time, where its Python classes take a term at a time."""
    from ortools.math_opt import model_pb2  # noqa: PLC0415 - an extra

    columns, rows = range(len(model.cost)), range(len(model.row_lower))
    row_of = np.repeat(np.arange(len(rows)), np.diff(model.starts))
    order, priced = np.lexsort((model.columns, row_of)), np.flatnonzero(model.cost)
    message = model_pb2.ModelProto()
    message.variables.ids.extend(columns)
    message.variables.lower_bounds.extend([0.0] * len(columns))
    message.variables.upper_bounds.extend(model.upper.tolist())
    message.variables.integers.extend(model.integer.tolist())
    message.objective.linear_coefficients.ids.extend(priced.tolist())
    message.objective.linear_coefficients.values.extend(model.cost[priced].tolist())
    message.linear_constraints.ids.extend(rows)
    message.linear_constraints.lower_bounds.extend(model.row_lower.tolist())
    message.linear_constraints.upper_bounds.extend(model.row_upper.tolist())
    message.linear_constraint_matrix.row_ids.extend(row_of.tolist())
    message.linear_constraint_matrix.column_ids.extend(model.columns[order].tolist())
    message.linear_constraint_matrix.coefficients.extend(model.values[order].tolist())
    return message


def gurobi(model: AssignmentModel, time_limit: float, start: Sequence[float] | None = None) -> SolverAnswer:
    """Gurobi, a commercial solver; needs a licence for all but small models."""
    try:
        import gurobipy  # noqa: PLC0415 - an extra
    except ImportError:
        raise _missing("Gurobi", "gurobi") from None
    with gurobipy.Env(params={"OutputFlag": 0}) as environment, gurobipy.Model(env=environment) as program:
        kinds = [gurobipy.GRB.BINARY if whole else gurobipy.GRB.CONTINUOUS for whole in model.integer]
        columns = program.addVars(len(kinds), ub=model.upper.tolist(), obj=model.cost.tolist(), vtype=kinds)
        for row, (low, high) in enumerate(zip(model.row_lower, model.row_upper, strict=True)):
            entries = slice(model.starts[row], model.starts[row + 1])
            mine = [columns[int(one)] for one in model.columns[entries]]
            total = gurobipy.LinExpr(model.values[entries].tolist(), mine)
            if isfinite(low):
                program.addConstr(total >= low)
            if isfinite(high):
                program.addConstr(total <= high)
        if start is not None:
            for number, value in enumerate(start):
                columns[number].Start = value
        program.Params.Threads, program.Params.TimeLimit, program.Params.MIPGap = 1, time_limit, 1e-9
        program.optimize()
        found = program.SolCount > 0
        none = program.Status in (gurobipy.GRB.INFEASIBLE, gurobipy.GRB.INF_OR_UNBD)
        return SolverAnswer(
            values=[columns[number].X for number in range(len(kinds))] if found else None,
            objective=program.ObjVal if found else inf,
            bound=inf if none else max(0.0, program.ObjBound),
            nodes=int(program.NodeCount),
        )
