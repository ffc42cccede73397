"""Graph → graph: add the backward pass that the forward declarations imply."""

from dataclasses import replace

from volvelle.domains import within_domains
from volvelle.workload.graph import Block, Role, Tensor, Workload
from volvelle.workload.operations import Operation, Phase, Pointwise
from volvelle.workload.signature import Signature
from volvelle.workload.tuning import RANK_DIM


def seed_of(output: str) -> str:
    """Name of the gradient that a block is handed for one of its outputs."""
    return f"{output}.seed"


@within_domains
def with_backward(workload: Workload) -> Workload:
    """The same workload with every block's backward operations after its forward ones.

    A block is handed the gradients of its outputs (`seed_of`) and leaves the gradients of its inputs
    and weights (``"<tensor>.grad"``). Where a tensor feeds several operations their gradient summands are added by a
    fused sum. Frozen weights get no gradient, and neither does what comes before the first that is not.
    """
    reached = _reached(workload) if workload.is_tuned else {block.name for block in workload.blocks}
    return replace(
        workload,
        blocks=tuple(_block_with_backward(block, inputs=block.name in reached) for block in workload.blocks),
    )


def _reached(workload: Workload) -> set[str]:
    """Blocks whose inputs something trainable has a part in, somewhere they run."""
    trains = {block.name for block in workload.blocks if block.trainable()}
    reached: set[str] = set()
    changed = False
    for name, count in workload.runs:
        if changed or (name in trains and count > 1):
            reached.add(name)
        changed = changed or name in trains
    return reached


def _block_with_backward(block: Block, *, inputs: bool) -> Block:
    """`inputs`: whether gradients are wanted of what the block is handed."""
    differentiable = _differentiable(block, inputs=inputs)
    if not differentiable:
        return block
    tensors = list(block.tensors)
    known = dict(block.tensor_of)
    summands: dict[str, list[str]] = {}
    operations: list[Operation] = list(block.operations)
    alias: dict[str, str] = {}
    through_adapters: set[str] = set()

    def gradient_like(name: str, of: str) -> None:
        tensor = replace(known[of], name=name, role=Role.GRADIENT, tied_to="")
        known[name] = tensor
        tensors.append(tensor)

    def settle(tensor: str, *, named: bool = False) -> bool:
        """Make ``tensor.grad`` out of its summands; whether there is any. A lone summand needs no operation."""
        parts = [alias.get(part, part) for part in summands.get(tensor, [])]
        target = f"{tensor}.grad"
        if not parts:
            return False
        if len(parts) == 1 and not named:
            alias[target] = parts[0]
            return True
        others = [part for part in parts if part not in through_adapters]
        if len(parts) > len(others) > 1:
            # Those of frozen products may be summands over chips, which are exchanged once if they are added first.
            add(f"{target}.base", tensor, others)
            parts = [f"{target}.base", *(part for part in parts if part in through_adapters)]
        add(target, tensor, parts)
        return True

    def add(target: str, tensor: str, parts: list[str]) -> None:
        gradient_like(target, tensor)
        dims = known[tensor].dims
        operations.append(
            Operation(
                name=target,
                kind=Pointwise(Signature((dims,) * len(parts), (dims,)), flops=len(parts) - 1.0, is_sum=True),
                inputs=tuple(parts),
                outputs=(target,),
                phase=Phase.BACKWARD,
                fused=True,
            )
        )

    for name in block.outputs:
        seed = Tensor(name=seed_of(name), dims=known[name].dims, element=known[name].element, role=Role.INPUT)
        tensors.append(seed)
        known[seed.name] = seed
        summands.setdefault(name, []).append(seed.name)
    for op in reversed(block.operations):
        if op.outputs[0] not in differentiable or not settle(op.outputs[0]):
            continue
        wanted = [name in differentiable for name in op.inputs]
        gradients = op.kind.gradients(op, wanted)
        for backward in gradients.operations:
            for output in backward.outputs:
                of = next(op.inputs[index] for index, name in gradients.carried.items() if name == output)
                gradient_like(output, of)
                if RANK_DIM in backward.kind.signature.dims:
                    through_adapters.add(output)
            read = tuple(alias.get(name, name) for name in backward.inputs)
            operations.append(replace(backward, inputs=read))
        for index, name in gradients.carried.items():
            summands.setdefault(op.inputs[index], []).append(name)
    for name in (*(block.inputs if inputs else ()), *(tensor.name for tensor in block.trainable())):
        settle(name, named=True)
    return replace(block, operations=tuple(operations), tensors=tuple(tensors))


def _differentiable(block: Block, *, inputs: bool) -> set[str]:
    """Tensors that a gradient can reach: weights, handed-over activations, and what is made of them."""
    reached = {tensor.name for tensor in block.trainable()} | (set(block.inputs) if inputs else set())
    for op in block.operations:
        if any(name in reached for name in op.inputs):
            reached.add(op.outputs[0])
    return reached
