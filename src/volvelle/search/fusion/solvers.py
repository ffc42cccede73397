"""The only module that knows solvers: HiGHS, OR-Tools' CP-SAT and Gurobi, each an extra."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil, floor, inf, isfinite
from time import perf_counter

import numpy as np

from volvelle.errors import MissingExtraError
from volvelle.search.fusion.assignment_model import AssignmentModel

__all__ = ["CpSat", "Gurobi", "Highs", "Solver", "SolverAnswer", "highs_is_installed"]

_TICKS = 1_000_000_000
"""Whole numbers that make up one unit of time, for CP-SAT."""


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
    seconds: float


def highs_is_installed() -> bool:
    """Whether the default solver is there."""
    return find_spec("highspy") is not None


def _missing(name: str, extra: str) -> MissingExtraError:
    return MissingExtraError(
        f"{name} is not installed; pip install 'volvelle[{extra}]', or use method='exact', which needs no solver"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Highs:
    """HiGHS, an open solver of mixed-integer models by branch and cut."""

    threads: int = 1

    def solve(self, model: AssignmentModel, *, time_limit: float, start: Sequence[float] | None = None) -> SolverAnswer:
        """Solve a model, from a known solution if one is given."""
        try:
            import highspy  # noqa: PLC0415 - an extra
        except ImportError:
            raise _missing("HiGHS", "solvers") from None
        begun = perf_counter()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(model.cost), len(model.row_lower)
        program.col_cost_, program.col_lower_, program.col_upper_ = model.cost, model.lower, model.upper
        program.row_lower_, program.row_upper_ = model.row_lower, model.row_upper
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = model.starts
        program.a_matrix_.index_ = model.columns
        program.a_matrix_.value_ = model.values
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        program.integrality_ = [kinds[bool(whole)] for whole in model.integer]
        engine = highspy.Highs()
        engine.setOptionValue("output_flag", False)
        engine.setOptionValue("threads", self.threads)
        engine.setOptionValue("time_limit", float(time_limit))
        engine.setOptionValue("mip_rel_gap", 1e-9)
        engine.setOptionValue("mip_abs_gap", 1e-10)
        engine.passModel(program)
        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = list(start)
            engine.setSolution(known)
        engine.run()
        info, status = engine.getInfo(), engine.getModelStatus()
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        none = status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        bound = info.mip_dual_bound if isfinite(info.mip_dual_bound) else -inf
        return SolverAnswer(
            values=list(engine.getSolution().col_value) if found else None,
            objective=info.objective_function_value if found else inf,
            bound=inf if none else max(0.0, bound),
            nodes=max(0, int(info.mip_node_count)),
            seconds=perf_counter() - begun,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CpSat:
    """OR-Tools' CP-SAT, an open solver that learns from conflicts; whole numbers only.

    Coefficients that are not whole are rounded so that the model only gets easier: its bound stays a bound.
    """

    workers: int = 1
    """One (with strong linearisation) or eight; two are slower than either."""

    def solve(self, model: AssignmentModel, *, time_limit: float, start: Sequence[float] | None = None) -> SolverAnswer:
        """Solve a model, from a known solution if one is given."""
        try:
            from ortools.sat.python import cp_model  # noqa: PLC0415 - an extra
        except ImportError:
            raise _missing("CP-SAT (OR-Tools)", "solvers") from None
        begun = perf_counter()
        program = cp_model.CpModel()
        horizon = 4 * _TICKS
        columns = [
            program.new_int_var(int(lower), int(upper) if isfinite(upper) else horizon, "")
            for lower, upper in zip(model.lower, model.upper, strict=True)
        ]
        timed = ~np.isfinite(model.upper)
        for row, (low, high, scale) in enumerate(zip(model.row_lower, model.row_upper, model.row_scale, strict=True)):
            entries = slice(model.starts[row], model.starts[row + 1])
            mine, values = model.columns[entries], model.values[entries]
            if scale:
                whole = [_whole(value * scale, down=not isfinite(low)) for value in values]
                lower = ceil(low * scale - 1e-6) if isfinite(low) else -(2**60)
                upper = floor(high * scale + 1e-6) if isfinite(high) else 2**60
            else:  # c·time ≥ Σ a·choice: times count in ticks, and what they must cover is rounded down
                whole = [
                    int(value) if timed[one] else -floor(-value * _TICKS)
                    for one, value in zip(mine, values, strict=True)
                ]
                lower, upper = 0, 2**60
            total = cp_model.LinearExpr.weighted_sum([columns[one] for one in mine], whole)
            program.add_linear_constraint(total, lower, upper)
        objective = np.flatnonzero(model.cost)
        program.minimize(sum(columns[one] for one in objective))
        if start is not None:
            for column, value, is_time in zip(columns, start, timed, strict=True):
                program.add_hint(column, min(horizon, ceil(value * _TICKS)) if is_time else round(value))
        engine = cp_model.CpSolver()
        engine.parameters.max_time_in_seconds = max(0.01, time_limit - (perf_counter() - begun))
        engine.parameters.num_workers = self.workers
        if self.workers == 1:
            engine.parameters.linearization_level = 2
        status = engine.solve(program)
        found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        return SolverAnswer(
            values=[
                engine.value(column) / (_TICKS if is_time else 1)
                for column, is_time in zip(columns, timed, strict=True)
            ]
            if found
            else None,
            objective=engine.objective_value / _TICKS if found else inf,
            bound=inf if status == cp_model.INFEASIBLE else max(0.0, engine.best_objective_bound / _TICKS),
            nodes=int(engine.num_branches),
            seconds=perf_counter() - begun,
        )


def _whole(value: float, *, down: bool) -> int:
    """The nearest whole number if it is one but for rounding, else the one that makes the row easier."""
    nearest = round(value)
    if abs(value - nearest) <= 1e-6 * max(1.0, abs(value) * 1e-6):
        return nearest
    return floor(value) if down else ceil(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gurobi:
    """Gurobi, a commercial solver; needs a licence for all but small models."""

    threads: int = 1

    def solve(self, model: AssignmentModel, *, time_limit: float, start: Sequence[float] | None = None) -> SolverAnswer:
        """Solve a model, from a known solution if one is given."""
        try:
            import gurobipy  # noqa: PLC0415 - an extra
        except ImportError:
            raise _missing("Gurobi", "gurobi") from None
        begun = perf_counter()
        with gurobipy.Env(params={"OutputFlag": 0}) as environment, gurobipy.Model(env=environment) as program:
            kinds = [gurobipy.GRB.BINARY if whole else gurobipy.GRB.CONTINUOUS for whole in model.integer]
            columns = program.addVars(
                len(kinds), lb=model.lower.tolist(), ub=model.upper.tolist(), obj=model.cost.tolist(), vtype=kinds
            )
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
            program.Params.Threads, program.Params.TimeLimit, program.Params.MIPGap = self.threads, time_limit, 1e-9
            program.optimize()
            found = program.SolCount > 0
            none = program.Status in (gurobipy.GRB.INFEASIBLE, gurobipy.GRB.INF_OR_UNBD)
            return SolverAnswer(
                values=[columns[number].X for number in range(len(kinds))] if found else None,
                objective=program.ObjVal if found else inf,
                bound=inf if none else max(0.0, program.ObjBound),
                nodes=int(program.NodeCount),
                seconds=perf_counter() - begun,
            )


Solver = Highs | CpSat | Gurobi
