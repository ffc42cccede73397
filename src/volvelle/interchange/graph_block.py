"""One block of a graph file: its tensors, its kernels in an order in which they can run, and its pins."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from volvelle.domains import LAYERS
from volvelle.errors import DescriptionError, GraphError, UnknownNameError, brief
from volvelle.interchange.graph_kernel import KINDS, NAME, KernelLine, check_element, read_kernel
from volvelle.quantities import numbered
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.graph import Block
from volvelle.workload.signature import Signature

_SECTIONS = ("inputs", "weights", "data")
_WHAT = {"inputs": "input", "weights": "weight", "data": "data"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    section: str
    dims: tuple[str, ...]
    element: str | None
    tied_to: str


def read_block(
    name: str, stated: Mapping[str, object], *, sizes: Mapping[str, float], element: str, where: str
) -> tuple[Block, Mapping[str, int]]:
    """The block and the partitions its kernels are pinned to."""
    declared = _declared(stated, sizes, where)
    kernels = _kernels(stated.get("kernels"), declared, where)
    outputs = _outputs(stated.get("outputs"), kernels, where)
    _check_loose_ends(declared, kernels, outputs, where)
    ordered = _in_order(kernels, where)
    b = BlockBuilder(name, element=element)
    dims_of: dict[str, tuple[str, ...]] = {}
    for tensor, each in declared.items():
        dims_of[tensor] = each.dims
        dims = " ".join(each.dims)
        if each.section == "inputs":
            b.input(tensor, dims, element=each.element)
        elif each.section == "weights":
            b.weight(tensor, dims, element=each.element, tied_to=each.tied_to)
        else:
            b.data(tensor, dims, element=each.element or "int64")
    for line in ordered:
        signature = _signature(line, dims_of, sizes)
        try:
            kind = KINDS[line.kind].build(line, signature, sizes)
        except GraphError as error:
            raise error if str(error).startswith(line.where) else GraphError(f"{line.where}: {error}") from None
        if line.element is not None:
            check_element(line.element, line.where)
        b.add(line.name, kind, line.reads, element=line.element)
        dims_of[line.name] = line.makes
    repeat = LAYERS.read(stated.get("repeat", 1), f"{where}: repeat")
    return b.build(outputs=outputs, repeat=int(repeat)), _pins(ordered)


def _declared(stated: Mapping[str, object], sizes: Mapping[str, float], where: str) -> dict[str, _Declared]:
    found: dict[str, _Declared] = {}
    for section in _SECTIONS:
        tensors = stated.get(section) or {}
        if not isinstance(tensors, Mapping):
            raise DescriptionError(
                f"{where}: {section} is {brief(tensors)}; name tensors with their dimensions, like x: a b"
            )
        for name, text in tensors.items():
            at = f"{where}: {_WHAT[section]} {name!r}"
            _check_name(name, at)
            if name in found:
                raise GraphError(
                    f"{at} has the name of {_article(found[name].section)} {_WHAT[found[name].section]} too; rename one"
                )
            found[name] = _tensor(section, text, sizes, at)
    return found


def _article(section: str) -> str:
    return {"inputs": "an", "weights": "a"}.get(section, "other")


def _tensor(section: str, stated: object, sizes: Mapping[str, float], at: str) -> _Declared:
    fields = {"dims": stated} if isinstance(stated, str) else stated
    if not isinstance(fields, Mapping) or not isinstance(fields.get("dims"), str):
        raise DescriptionError(
            f"{at} is {brief(stated)}; write its dimensions, like 'batch hidden', or "
            "{dims: batch hidden, element: fp8}"
        )
    known = ("dims", "element", "tied_to") if section == "weights" else ("dims", "element")
    for key in fields:
        if key not in known:
            raise DescriptionError(f"{at}: {UnknownNameError.among('field', str(key), known)}")
    dims = tuple(fields["dims"].split())
    if len(set(dims)) != len(dims):
        raise GraphError(f"{at} is {brief(fields['dims'])}, which names a dimension twice; give each its own name")
    _check_dims(dims, sizes, at)
    element = fields.get("element")
    if element is not None:
        check_element(element, at)
    return _Declared(section=section, dims=dims, element=element, tied_to=str(fields.get("tied_to") or ""))


def _kernels(stated: object, declared: Mapping[str, _Declared], where: str) -> dict[str, KernelLine]:
    if not isinstance(stated, Mapping) or not stated:
        raise DescriptionError(f"{where}: kernels is {brief(stated)}; name each kernel with what it does")
    found = {}
    for name, line in stated.items():
        at = f"{where}: kernel {name!r}"
        _check_name(name, at)
        if name in declared:
            section = declared[name].section
            raise GraphError(f"{at} has the name of {_article(section)} {_WHAT[section]} too; rename one")
        found[name] = read_kernel(name, line, where)
    made = {*declared, *found}
    for line in found.values():
        for tensor in line.reads:
            if tensor not in made:
                problem = UnknownNameError.among("tensor", tensor, made)
                raise GraphError(
                    f"{line.where} reads {tensor!r}, which nothing makes: {problem} "
                    f"Declare it under inputs, weights or data, or add the kernel that makes it"
                )
    return found


def _outputs(stated: object, kernels: Mapping[str, KernelLine], where: str) -> tuple[str, ...]:
    names = stated.replace(",", " ").split() if isinstance(stated, str) else stated
    if not isinstance(names, list) or not names:
        raise DescriptionError(f"{where}: outputs is {brief(stated)}; name the kernels whose results leave the graph")
    for name in names:
        if not isinstance(name, str) or name not in kernels:
            raise GraphError(f"{where}: outputs: {UnknownNameError.among('kernel', str(name), kernels)}")
        if names.count(name) > 1:
            raise GraphError(f"{where}: outputs names {name!r} twice; name each once")
    return tuple(names)


def _check_loose_ends(
    declared: Mapping[str, _Declared], kernels: Mapping[str, KernelLine], outputs: Sequence[str], where: str
) -> None:
    read = {tensor for line in kernels.values() for tensor in line.reads}
    for line in kernels.values():
        if line.name not in read and line.name not in outputs:
            raise GraphError(
                f"{line.where} makes a tensor nobody reads; read it, add it to outputs, or remove the kernel"
            )
    for tensor, each in declared.items():
        if tensor not in read:
            raise GraphError(f"{where}: {_WHAT[each.section]} {tensor!r} is never read; read it or remove it")


def _in_order(kernels: Mapping[str, KernelLine], where: str) -> list[KernelLine]:
    """Kernels so that each comes after what it reads; as in the file where there is a choice."""
    names = list(kernels)
    place = {name: at for at, name in enumerate(names)}
    sorter = TopologicalSorter(
        {place[name]: [place[read] for read in line.reads if read in place] for name, line in kernels.items()}
    )
    try:
        sorter.prepare()
    except CycleError as refused:
        *circle, _ = refused.args[1]
        first = circle.index(min(circle))
        closed = [names[at] for at in (*circle[first:], *circle[: first + 1])]
        raise GraphError(
            f"{where}: kernels {' → '.join(closed)} go in a circle: each reads what the one before it makes; "
            "cut it where data come from the step before, with an input"
        ) from None
    ready: list[int] = []
    order: list[KernelLine] = []
    while sorter.is_active():
        for at in sorter.get_ready():
            heapq.heappush(ready, at)
        at = heapq.heappop(ready)
        order.append(kernels[names[at]])
        sorter.done(at)
    return order


def _signature(line: KernelLine, dims_of: Mapping[str, tuple[str, ...]], sizes: Mapping[str, float]) -> Signature:
    _check_dims(line.makes, sizes, line.where)
    inputs = []
    for tensor, taken in zip(line.reads, line.taken_as, strict=True):
        own = dims_of[tensor]
        if taken is None:
            inputs.append(own)
            continue
        at = f"{line.where}: {tensor!r} taken as '{' '.join(taken)}'"
        _check_dims(taken, sizes, at)
        if len(set(taken)) != len(taken):
            raise GraphError(f"{at} names a dimension twice; give each its own name")
        if len(taken) != len(own):
            raise GraphError(
                f"{at} has {numbered(len(taken), 'dimension')}, but it is '{' '.join(own)}'; name one for each"
            )
        for dim, its in zip(taken, own, strict=True):
            if sizes[dim] != sizes[its]:
                raise GraphError(
                    f"{at} calls its dimension {its!r} (size {sizes[its]:g}) {dim!r} (size {sizes[dim]:g}); "
                    "take it under a name of the same size"
                )
        inputs.append(taken)
    invented = [dim for dim in line.makes if not any(dim in dims for dims in inputs)]
    if invented and not KINDS[line.kind].invents:
        read = "; ".join(f"{tensor} is '{' '.join(dims)}'" for tensor, dims in zip(line.reads, inputs, strict=True))
        raise GraphError(
            f"{line.where} makes '{' '.join(line.makes)}', but nothing it reads has {', '.join(invented)} ({read}); "
            "correct the dimensions, or read a tensor that has them"
        )
    return Signature(tuple(inputs), (line.makes,))


def _pins(ordered: Sequence[KernelLine]) -> dict[str, int]:
    """Pins by kernel; none may come before a pin its data depend on."""
    pins: dict[str, int] = {}
    latest: dict[str, tuple[int, str]] = {}
    for line in ordered:
        before = max((latest[name] for name in line.reads if name in latest), default=(-1, ""))
        pin = line.partition
        if pin is not None:
            if pin < before[0]:
                raise GraphError(
                    f"{line.where} is pinned to partition {pin}, but it needs {before[1]!r}, which is pinned to the "
                    f"later partition {before[0]}; pin it to {before[0]} or later"
                )
            pins[line.name] = pin
            before = max(before, (pin, line.name))
        if before[0] >= 0:
            latest[line.name] = before
    return pins


def _check_name(name: object, at: str) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise DescriptionError(f"{at}: a name has letters, digits, '_' and '-' and starts with a letter; rename it")


def _check_dims(dims: Sequence[str], sizes: Mapping[str, float], at: str) -> None:
    for dim in dims:
        if dim not in sizes:
            raise GraphError(f"{at}: {UnknownNameError.among('dimension', dim, sizes)} Give it a size under sizes")
