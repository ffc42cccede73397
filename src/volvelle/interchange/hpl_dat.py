"""``HPL.dat``, the input file of High-Performance Linpack, for a planned run."""

from volvelle.mapping.process_grid import ProcessGrid
from volvelle.workload.families.hpl import Hpl


def hpl_dat(problem: Hpl, grid: ProcessGrid) -> str:
    """The file's text; what a plan does not decide has the values that vendors ship."""
    lines = (
        ("HPLinpack benchmark input file", ""),
        (f"planned by volvelle for {grid.processes} processes", ""),
        ("HPL.out", "output file name (if any)"),
        ("6", "device out (6=stdout,7=stderr,file)"),
        ("1", "# of problems sizes (N)"),
        (str(problem.order), "Ns"),
        ("1", "# of NBs"),
        (str(problem.block), "NBs"),
        ("1", "PMAP process mapping (0=Row-,1=Column-major)"),
        ("1", "# of process grids (P x Q)"),
        (str(grid.rows), "Ps"),
        (str(grid.columns), "Qs"),
        ("16.0", "threshold"),
        ("1", "# of panel fact"),
        ("2", "PFACTs (0=left, 1=Crout, 2=Right)"),
        ("1", "# of recursive stopping criterium"),
        ("4", "NBMINs (>= 1)"),
        ("1", "# of panels in recursion"),
        ("2", "NDIVs"),
        ("1", "# of recursive panel fact."),
        ("2", "RFACTs (0=left, 1=Crout, 2=Right)"),
        ("1", "# of broadcast"),
        (str(grid.broadcast.value), "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)"),
        ("1", "# of lookahead depth"),
        (str(grid.depth), "DEPTHs (>=0)"),
        ("1", "SWAP (0=bin-exch,1=long,2=mix)"),
        ("64", "swapping threshold"),
        ("1", "L1 in (0=transposed,1=no-transposed) form"),
        ("0", "U  in (0=transposed,1=no-transposed) form"),
        ("1", "Equilibration (0=no,1=yes)"),
        ("8", "memory alignment in double (> 0)"),
    )
    return "".join(f"{value:<12} {words}".rstrip() + "\n" for value, words in lines)
