"""The only module of simulations that knows numba: machine code where it is installed, the plain function otherwise.

Answers are the same either way: no arithmetic is reordered, and a division by zero gives infinity in both. What Python
itself calls is kept on disk beside the source, so that only one run of an installation compiles; and a short run need
not wait for it: `plain` is the function as it is written.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

try:
    import numba
except ImportError:
    numba = None  # type: ignore[assignment,unused-ignore]

INSTALLED = numba is not None
"""Whether functions are compiled; without, they run a hundred times slower."""
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Nothing compiled here makes an array, so none needs to be counted: ten times as fast, and half the compiling."""
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""What only compiled code calls needs no door to Python: a third of the compiling again."""


def compiled(function: Function) -> Function:
    """The function as machine code for other compiled functions, or itself where numba is not installed."""
    if not INSTALLED:
        return function
    made: Function = numba.njit(**_OPTIONS, **_INNER)(function)
    return made


def entry(function: Function) -> Function:
    """A function that Python calls, compiled with all that it calls; it holds no lock of the interpreter.

    It is kept on disk until a module of simulations changes: by itself numba looks at the one file that a function
    stands in, and would run what it calls as it was before.
    """
    if not INSTALLED:
        return function
    made: Any = numba.njit(**_OPTIONS)(function)
    with suppress(RuntimeError):  # there is nowhere to write: every process compiles for itself
        made.enable_caching()
        made._cache._cache_file._source_stamp = _stamp()
    found: Function = made
    return found


def ready(function: Callable[..., object]) -> bool:
    """Whether an entry would run at once: compiled in this process, or by an earlier one that kept it on disk."""
    if not INSTALLED:
        return True
    made: Any = function
    if made.overloads:
        return True
    with suppress(AttributeError, OSError):  # there is nowhere to keep it, or it cannot be read
        return bool(made._cache._cache_file._load_index())
    return False


def plain(function: Function) -> Function:
    """The function as Python runs it, with all that it calls: a hundred times slower, and there at once."""
    if not INSTALLED:
        return function
    written: Any = _plain(function, {})
    found: Function = written
    return found


def _plain(dispatcher: Any, known: dict[int, FunctionType]) -> FunctionType:
    """The written function of a compiled one, in a module where what it calls is the written one too."""
    if id(dispatcher) not in known:
        source = dispatcher.py_func
        names = dict(source.__globals__)
        known[id(dispatcher)] = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
        for name in source.__code__.co_names:
            if hasattr(names.get(name), "py_func"):
                names[name] = _plain(names[name], known)
    return known[id(dispatcher)]


def _stamp() -> tuple[float, int]:
    """When the newest of the modules was written, and how long all of them are."""
    files = [file.stat() for file in Path(__file__).parent.rglob("*.py")]
    return max(file.st_mtime for file in files), sum(file.st_size for file in files)
