"""Describe a two-layer network once; enumerate its layouts; find Megatron's among them."""

from collections import Counter

from volvelle import (
    REPLICATED,
    BlockBuilder,
    Catalogue,
    ClosedForm,
    ParallelMapping,
    Phase,
    ShardedBlock,
    TrainingStep,
    Workload,
    all_shardings,
    split,
    with_backward,
)

# One line an operation. A dimension that is not in the output is summed over.
mlp = BlockBuilder("mlp")
x = mlp.input("x", "batch position hidden")
w1, w2 = mlp.weight("w1", "hidden ffn"), mlp.weight("w2", "ffn hidden")
up = mlp.contract("up", "batch position hidden, hidden ffn -> batch position ffn", x, w1)
act = mlp.pointwise("gelu", "batch position ffn -> batch position ffn", up, saves=(0,))
down = mlp.contract("down", "batch position ffn, ffn hidden -> batch position hidden", act, w2)

forward = Workload(
    name="two-layer network",
    sizes={"batch": 4, "position": 2048, "hidden": 4096, "ffn": 16384},
    blocks=(mlp.build(outputs=(down,)),),
)
whole = with_backward(forward)
(block,) = whole.blocks

print(f"forward   {whole.flops(phase=Phase.FORWARD) / 1e12:.2f} TFLOP")
print(f"backward  {whole.flops(phase=Phase.BACKWARD) / 1e12:.2f} TFLOP, by operations nobody wrote:")
for op in block.operations:
    if op.phase is Phase.BACKWARD:
        print(f"  {op.name:18} {op.kind.signature}")


def talk(found: ShardedBlock) -> str:
    """The collectives of one pass forward and back, weight gradients apart."""
    words = []
    for phase in (Phase.FORWARD, Phase.BACKWARD):
        names = [f"{collective.value} of {tensor}" for collective, tensor in found.collectives(phase)]
        words.append(f"    {phase.value}: {', '.join(names) or 'nothing'}")
    return "\n".join(words)


def count(found: ShardedBlock) -> int:
    """How many collectives one pass takes, weight gradients apart."""
    return sum(len(found.collectives(phase)) for phase in (Phase.FORWARD, Phase.BACKWARD))


# Every way to split every operation over one axis of chips.
layouts = list(all_shardings(block, boundaries=(REPLICATED, split("position"))))
print(f"\n{len(layouts)} layouts")

# To share the weights, both products must split a dimension that their weights have.
weighty = {"hidden", "ffn"}
sharing = [(edge, s) for edge, s in layouts if {s.dims["up"], s.dims["down"]} <= weighty]
print(f"{len(sharing)} of them share the weights of both products; by number of collectives:")
for number, many in sorted(Counter(count(s) for _, s in sharing).items()):
    print(f"  {number}: {many}")

fewest = min(count(s) for _, s in sharing)
print("\nwith the fewest:")
for edge, s in sharing:
    if count(s) == fewest:
        splits = ", ".join(f"{op} {s.dims[op]}" for op in ("up", "gelu", "down"))
        print(f"  {splits}, handed over {edge}\n{talk(s)}")

print("\nthe same splits, activations handed over split by position:")
for edge, s in sharing:
    if edge == split("position") and {s.dims[op] for op in ("up", "gelu", "down")} == {"ffn"}:
        print(talk(s))

# The forward pass alone is enough to price a training step.
step = TrainingStep(model=forward, batch=512)
cluster = Catalogue().cluster("dgx-a100/64")
print("\non 64 A100, tensor by data:")
for tensor in (1, 2, 4, 8):
    answer = ClosedForm().estimate(step, cluster, ParallelMapping(tensor=tensor, data=64 // tensor))
    print(f"  {tensor} × {64 // tensor:2}: {1e3 * answer.time:5.1f} ms, {answer.memory_bytes / 1e9:.2f} GB")
