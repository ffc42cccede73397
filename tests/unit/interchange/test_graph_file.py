from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from volvelle import DescriptionError, GraphError, Phase, with_backward
from volvelle.interchange.graph_file import GraphFile, read_graph
from volvelle.workload.graph import Role
from volvelle.workload.operations import Convolution, Fourier, Lookup, Pointwise, Routing, Scan, Unit

EXAMPLES = ROOT / "examples" / "graphs"

MLP = """
name: mlp
sizes: {batch: 4, hidden: 8, ffn: 32}
stream: batch
inputs: {x: batch hidden}
weights: {w1: hidden ffn, w2: ffn hidden}
kernels:
  up: contract x, w1 -> batch ffn
  relu: pointwise up -> batch ffn
  down: contract relu, w2 -> batch hidden
outputs: down
"""


def written(tmp_path: Path, text: str) -> GraphFile:
    file = tmp_path / "net.yaml"
    file.write_text(text, "utf-8")
    return read_graph(file)


def graph(**changes: object) -> GraphFile:
    """The MLP as fields, with some of them changed."""
    fields: dict[str, object] = {
        "sizes": {"batch": 4, "hidden": 8, "ffn": 32},
        "inputs": {"x": "batch hidden"},
        "weights": {"w1": "hidden ffn", "w2": "ffn hidden"},
        "kernels": KERNELS,
        "outputs": ["down"],
    }
    return read_graph(fields | changes, name="net.yaml")


KERNELS: Mapping[str, object] = {
    "up": "contract x, w1 -> batch ffn",
    "relu": "pointwise up -> batch ffn",
    "down": "contract relu, w2 -> batch hidden",
}


# -- what is read ------------------------------------------------------------------------------------------------


def test_a_file_reads_as_the_block_one_would_build_by_hand(tmp_path: Path) -> None:
    found = written(tmp_path, MLP)
    (block,) = found.workload.blocks
    assert [op.name for op in block.operations] == ["up", "relu", "down"]
    assert str(block.operations[0].kind.signature) == "batch hidden, hidden ffn -> batch ffn"
    assert block.inputs == ("x",)
    assert block.outputs == ("down",)
    assert [tensor.name for tensor in block.weights()] == ["w1", "w2"]
    assert found.stream == "batch"
    assert found.pins == {"mlp": {}}
    assert found.workload.flops() == 2 * 2 * 4 * 8 * 32


def test_kernels_may_stand_in_any_order() -> None:
    backwards = dict(reversed(KERNELS.items()))
    (block,) = graph(kernels=backwards).workload.blocks
    assert [op.name for op in block.operations] == ["up", "relu", "down"]


def test_training_derives_the_backward_kernels() -> None:
    whole = graph(training=True).workload
    assert whole.flops(phase=Phase.BACKWARD) == 2 * whole.flops()
    backward = [op for op in whole.blocks[0].operations if op.phase is Phase.BACKWARD and not op.fused]
    assert len(backward) == 5  # two for each product and one for the activation


def test_a_pointwise_kernel_keeps_what_it_read_for_its_gradient_unless_told_otherwise() -> None:
    told = {**KERNELS, "relu": {"pointwise": "up -> batch ffn", "saves": ["relu"]}}
    for kernels, kept in ((KERNELS, "up"), (told, "relu")):
        (block,) = graph(kernels=kernels, training=True).workload.blocks
        assert kept in block.operation_of["relu.backward"].inputs


def test_elements_are_said_for_each_tensor() -> None:
    (block,) = graph(
        element="fp16",
        inputs={"x": {"dims": "batch hidden", "element": "fp8"}},
        weights={"w1": {"dims": "hidden ffn", "element": "fp4"}, "w2": "ffn hidden"},
        kernels={**KERNELS, "relu": {"pointwise": "up -> batch ffn", "element": "fp32", "flops_per_point": 8}},
    ).workload.blocks
    elements = {tensor.name: tensor.element for tensor in block.tensors}
    assert elements == {"x": "fp8", "w1": "fp4", "w2": "fp16", "up": "fp16", "relu": "fp32", "down": "fp16"}
    assert block.flops({"batch": 4, "hidden": 8, "ffn": 32}, unit=Unit.VECTOR) == 8 * 4 * 32


def test_pins_are_told_by_block_and_kernel() -> None:
    kernels = {**KERNELS, "up": {"contract": "x, w1 -> batch ffn", "partition": 0}}
    kernels["down"] = {"contract": "relu, w2 -> batch hidden", "partition": 2}
    assert graph(kernels=kernels).pins == {"net.yaml": {"up": 0, "down": 2}}


def test_blocks_repeat_and_follow_each_other() -> None:
    sizes = {"batch": 4, "vocab": 100, "hidden": 8}
    found = read_graph(
        {
            "sizes": sizes,
            "blocks": [
                {
                    "name": "embedding",
                    "data": {"words": "batch"},
                    "weights": {"table": "vocab hidden"},
                    "kernels": {"rows": "lookup words, table -> batch hidden"},
                    "outputs": "rows",
                },
                {
                    "name": "layer",
                    "repeat": 12,
                    "inputs": {"x": "batch hidden"},
                    "kernels": {"double": {"sum": "x, x -> batch hidden", "partition": 1}},
                    "outputs": "double",
                },
                {
                    "name": "head",
                    "inputs": {"x": "batch hidden"},
                    "weights": {"table": {"dims": "vocab hidden", "tied_to": "embedding.table"}},
                    "kernels": {"logits": "contract x, table -> batch vocab"},
                    "outputs": "logits",
                },
            ],
        }
    )
    assert [(block.name, block.repeat) for block in found.workload.blocks] == [
        ("embedding", 1),
        ("layer", 12),
        ("head", 1),
    ]
    assert found.pins == {"embedding": {}, "layer": {"double": 1}, "head": {}}
    assert found.workload.parameters() == 800  # the tied table counts once
    embedding = found.workload.blocks[0]
    assert embedding.tensor_of["words"].role is Role.INPUT
    assert embedding.tensor_of["words"].element == "int64"


def test_a_tensor_can_be_taken_under_other_names() -> None:
    found = read_graph(
        {
            "sizes": {"position": 16, "other": 16, "heads": 2, "width": 4},
            "inputs": {"q": "position heads width", "k": "position heads width", "v": "position heads width"},
            "kernels": {
                "scores": "contract q, k(other heads width) -> heads position other",
                "weights": {"softmax": "scores -> heads position other", "along": "other"},
                "mixed": "contract weights, v(other heads width) -> position heads width",
            },
            "outputs": "mixed",
        }
    )
    assert found.workload.flops() == 2 * 2 * (2 * 16 * 16 * 4)


def test_every_kind_of_kernel_can_be_written() -> None:
    found = read_graph(
        {
            "sizes": {"t": 64, "c": 8, "d": 8, "taps": 3, "state": 4, "pair": 16, "experts": 4, "slots": 16},
            "inputs": {"x": "t c"},
            "weights": {"w": "taps c d", "a": "d state", "scale": "d"},
            "kernels": {
                "conv": {"convolve": "x, w -> t d", "along": "t"},
                "norm": {"normalise": "conv, scale -> t d", "along": "d"},
                "scan": {"scan": "norm, a -> t d", "along": "t", "flops_per_point": 6},
                "spectrum": {"fourier": "scan -> t d", "along": "t"},
                "both": "join spectrum, conv -> t pair",
                "sent": {"route": "both -> experts slots pair", "carries": "t slots"},
            },
            "outputs": ["sent"],
        }
    )
    kinds = [type(op.kind) for op in found.workload.blocks[0].operations]
    assert {Convolution, Scan, Fourier, Pointwise, Routing} <= set(kinds)
    assert found.workload.flops() == 2 * 64 * 8 * 8 * 3
    # norm 5 a point; scan 6 with the state; transform 5·log₂ 64; joining and sending are free
    assert found.workload.flops(unit=Unit.VECTOR) == 64 * 8 * (5 + 6 * 4 + 5 * 6)
    assert with_backward(found.workload).flops(phase=Phase.BACKWARD) == 2 * found.workload.flops()


def test_what_a_window_slides_over_and_what_a_scan_runs_along_is_kept_whole() -> None:
    found = read_graph(
        {
            "sizes": {"batch": 2, "t": 64, "c": 8, "d": 8, "taps": 3},
            "inputs": {"x": "batch t c"},
            "weights": {"w": "taps c d"},
            "kernels": {
                "conv": {"convolve": "x, w -> batch t d", "along": "t"},
                "scan": {"scan": "conv -> batch t d", "along": "t"},
                "spectrum": {"fourier": "scan -> batch t d", "along": "t"},
            },
            "outputs": "spectrum",
        }
    )
    for op in found.workload.blocks[0].operations:
        split = {choice.dim for choice in op.kind.choices()}
        assert "t" not in split
        assert {"batch", "d"} <= split


# -- the examples, by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_an_example_is_short_and_can_be_trained_and_laid_out(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) < 60
    found = read_graph(file)
    workload = found.workload
    if not workload.flops(phase=Phase.BACKWARD):
        workload = with_backward(workload)
    assert workload.flops(phase=Phase.BACKWARD) == 2 * workload.flops()
    for op in workload.blocks[0].operations:
        assert op.kind.choices()
    assert found.stream in workload.sizes


def test_the_mlp_does_two_products_forward_and_four_backward() -> None:
    product = 2 * 64 * 4096 * 16384
    workload = read_graph(EXAMPLES / "mlp.yaml").workload
    assert workload.flops() == 2 * product
    assert workload.flops(phase=Phase.BACKWARD) == 4 * product
    assert workload.flops(unit=Unit.VECTOR) == 64 * 16384


def test_the_u_net_counts_as_convolutions_of_its_pixels_and_channels() -> None:
    """Channels in × channels out × taps × pixels, as one would count any stack of convolutions."""
    workload = read_graph(EXAMPLES / "unet.yaml").workload
    products = [
        (3, 64, 9, 64 * 64),
        (64, 128, 4, 32 * 32),  # 2 × 2, moving by 2
        (128, 256, 4, 16 * 16),
        (256, 256, 9, 16 * 16),
        (256, 128, 4, 16 * 16),  # back up: four places from each
        (2 * 128, 128, 9, 32 * 32),
        (128, 64, 4, 32 * 32),
        (2 * 64, 64, 9, 64 * 64),
        (64, 3, 1, 64 * 64),
    ]
    assert workload.flops() == 32 * sum(2 * into * out * taps * pixels for into, out, taps, pixels in products)
    assert workload.parameters() == sum(into * out * taps for into, out, taps, _ in products)
    read = [name for op in workload.blocks[0].operations for name in op.inputs]
    assert [name for name in sorted(set(read)) if read.count(name) == 2] == ["relu0", "relu1"]


def test_the_state_space_layer_counts_its_products_and_its_scan() -> None:
    found = read_graph(EXAMPLES / "state_space.yaml")
    workload = found.workload
    hidden, inner, state, rank, taps, positions = 2048, 4096, 16, 128, 4, 2048
    widths = 3 * hidden * inner + 2 * inner * rank + 2 * inner * state
    assert workload.flops() == 48 * positions * 2 * widths
    vector = 4 * hidden + hidden + inner * (2 * taps + 4 + 4 + 9 * state + 2 + 5)
    assert workload.flops(unit=Unit.VECTOR) == 48 * positions * vector
    assert workload.parameters() == 48 * (widths + hidden + inner * (taps + 1 + state + 1))
    assert workload.blocks[0].tensor_of["step"].element == "fp32"


# -- what is refused ---------------------------------------------------------------------------------------------


def kernels(**changes: object) -> dict[str, object]:
    return {"kernels": {**KERNELS, **changes}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            kernels(up="contract down, w1 -> batch ffn") | {"inputs": {}},
            r"net.yaml: kernels up → relu → down → up go in a circle.*cut it",
        ),
        (
            kernels(relu={"sum": "relu, up -> batch ffn"}),
            r"kernels relu → relu go in a circle",
        ),
        (
            kernels(up="contract y, w1 -> batch ffn"),
            r"net.yaml: kernel 'up' reads 'y', which nothing makes.*Declare it under inputs",
        ),
        (
            kernels(extra="pointwise up -> batch ffn"),
            r"net.yaml: kernel 'extra' makes a tensor nobody reads; read it, add it to outputs, or remove",
        ),
        ({"weights": {"w1": "hidden ffn", "w2": "ffn hidden", "w3": "hidden"}}, r"weight 'w3' is never read"),
        ({"inputs": {"x": "batch hidden", "z": "batch"}}, r"input 'z' is never read"),
        (
            kernels(up="contract x(batch ffn), w1 -> batch ffn"),
            r"kernel 'up': 'x' taken as 'batch ffn' calls its dimension 'hidden' \(size 8\) 'ffn' \(size 32\)",
        ),
        (
            kernels(up="contract x(batch), w1 -> batch ffn"),
            r"kernel 'up': 'x' taken as 'batch' has 1 dimension, but it is 'batch hidden'",
        ),
        (
            kernels(relu="pointwise up -> batch hidden"),
            r"kernel 'relu' makes 'batch hidden', but nothing it reads has hidden \(up is 'batch ffn'\)",
        ),
        (
            kernels(up="contract x, w1 -> ffn"),
            r"kernel 'up': the contraction .* sums batch over one input alone",
        ),
        (kernels(up="contrct x, w1 -> batch ffn"), r"kernel 'up': there is no kind of kernel 'contrct'.*'contract'"),
        (kernels(up={"partition": 1}), r"kernel 'up': it names no kind of kernel; name one of contract"),
        (
            kernels(up={"contract": "x, w1 -> batch ffn", "sum": "x, w1 -> batch ffn"}),
            r"kernel 'up' is both contract and sum; make it two",
        ),
        (kernels(up="contract x, w1 -> batch fnn"), r"kernel 'up': there is no dimension 'fnn'; did you mean 'ffn'"),
        ({"weights": {"w1": "hidden fnn", "w2": "ffn hidden"}}, r"weight 'w1': there is no dimension 'fnn'"),
        ({"stream": "bach"}, r"stream names the dimension.*'bach'; did you mean 'batch'"),
        ({"sizes": {"batch": 4, "hidden": 8, "ffn": 32, "vocab": 9}}, r"sizes gives 'vocab' a size, but no tensor"),
        (kernels(w1="pointwise up -> batch ffn"), r"kernel 'w1' has the name of a weight too; rename one"),
        ({"data": {"x": "batch"}}, r"data 'x' has the name of an input too; rename one"),
        ({"outputs": ["down", "down"]}, r"outputs names 'down' twice"),
        ({"outputs": ["dwn"]}, r"outputs: there is no kernel 'dwn'; did you mean 'down'"),
        (
            kernels(
                up={"contract": "x, w1 -> batch ffn", "partition": 2},
                down={"contract": "relu, w2 -> batch hidden", "partition": 1},
            ),
            r"kernel 'down' is pinned to partition 1, but it needs 'up', .*later partition 2; pin it to 2 or later",
        ),
        (kernels(up={"contract": "x, w1 -> batch ffn", "partition": -1}), r"kernel 'up': partition is -1"),
        (kernels(up="contract x, w1"), r"kernel 'up': contract is given 'x, w1', which has not one '->'.*write it"),
        (kernels(up="contract x -> batch ffn"), r"kernel 'up': contract takes 2 tensors, not 1"),
        (kernels(up="contract x w1 -> batch ffn"), r"kernel 'up': 'x w1' is not a tensor"),
        (kernels(up="contract x, w1 -> batch batch"), r"kernel 'up': 'batch batch' names a dimension twice"),
        (kernels(up="contract x, w1 -> "), r"kernel 'up': '' are not the dimensions"),
        (kernels(up=7), r"kernel 'up' is 7; write what it does"),
        (
            kernels(up={"contract": "x, w1 -> batch ffn", "along": "ffn"}),
            r"kernel 'up': there is no option of contract 'along'",
        ),
        (kernels(relu={"normalise": "up -> batch ffn"}), r"kernel 'relu': normalise needs 'along'"),
        (
            kernels(relu={"normalise": "up -> batch ffn", "along": "batch ffn"}),
            r"kernel 'relu': along is 'batch ffn'; normalise runs along one dimension",
        ),
        (
            kernels(relu={"scan": "up -> batch ffn", "along": "hidden"}),
            r"kernel 'relu': the scan .* runs along 'hidden', which is none of its dimensions",
        ),
        (
            kernels(relu={"convolve": "up, w2 -> batch ffn", "along": "time"}),
            r"kernel 'relu': the convolution .* slides along time",
        ),
        (
            kernels(relu={"route": "up -> batch ffn", "carries": "batch"}),
            r"kernel 'relu': carries is 'batch'; name the dimension before and the one after",
        ),
        (kernels(relu={"pointwise": "up -> batch ffn", "flops_per_point": "many"}), r"flops_per_point is 'many'"),
        (kernels(relu={"pointwise": "up -> batch ffn", "saves": ["x"]}), r"saves has 'x'; it lists tensors"),
        ({"inputs": {"x": "batch batch"}}, r"input 'x' is 'batch batch', which names a dimension twice"),
        (kernels(up="contract x(batch batch), w1 -> batch ffn"), r"'x' taken as 'batch batch' names a dimension twice"),
    ],
)
def test_a_graph_that_does_not_hold_together_is_refused_by_name(changes: Mapping[str, object], words: str) -> None:
    with pytest.raises(GraphError, match=words) as caught:
        graph(**changes)
    assert str(caught.value).startswith("net.yaml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": None}, "sizes is None; give every dimension its size"),
        ({"sizes": {"batch": "4"}}, "the size of 'batch' is '4'; it must be a number from 1e-06"),
        ({"sizes": {4: 4}}, "a dimension called 4"),
        ({"element": "bf61"}, "no element type 'bf61'; did you mean 'bf16'"),
        ({"weights": {"w1": {"dims": "hidden ffn", "element": "f8"}}}, "weight 'w1': there is no element type 'f8'"),
        (kernels(relu={"pointwise": "up -> batch ffn", "element": "f8"}), "kernel 'relu': there is no element type"),
        ({"kernels": {}}, "kernels is {}; name each kernel"),
        ({"outputs": []}, "outputs is .*; name the kernels whose results leave"),
        ({"repeat": 0}, "repeat is 0"),
        ({"training": "yes"}, "training is 'yes'; it must be true or false"),
        ({"kernals": {}}, "no field 'kernals'; did you mean 'kernels'"),
        ({"inputs": ["x"]}, r"inputs is \['x'\]; name tensors with their dimensions"),
        ({"inputs": {"x": 3}}, "input 'x' is 3; write its dimensions"),
        ({"inputs": {"x": {"dims": "batch hidden", "tied_to": "y"}}}, "input 'x': there is no field 'tied_to'"),
        ({"inputs": {"x y": "batch"}}, "input 'x y': a name has letters"),
        ({"blocks": []}, "has blocks and, beside them, inputs, weights, kernels, outputs; move these"),
    ],
)
def test_a_field_that_makes_no_sense_is_refused_by_name(changes: Mapping[str, object], words: str) -> None:
    with pytest.raises(DescriptionError, match=words) as caught:
        graph(**changes)
    assert str(caught.value).startswith("net.yaml")


def test_two_kernels_of_one_name_are_refused_with_their_line(tmp_path: Path) -> None:
    twice = MLP.replace("  down:", "  up: pointwise relu -> batch ffn\n  down:")
    with pytest.raises(GraphError, match=r'net.yaml: found duplicate key "up" \(line 10\): two things have one name'):
        written(tmp_path, twice)


def test_a_file_that_is_not_yaml_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"net.yaml is not YAML"):
        written(tmp_path, "a: [b")
    with pytest.raises(DescriptionError, match="holds list, not named fields"):
        written(tmp_path, "- a")
    with pytest.raises(DescriptionError, match="does not exist"):
        read_graph(tmp_path / "none.yaml")
    with pytest.raises(DescriptionError, match="is a folder; give a file"):
        read_graph(tmp_path)


def test_blocks_are_refused_without_a_name_or_with_one_twice() -> None:
    block = {"name": "a", "inputs": {"x": "n"}, "kernels": {"y": "sum x, x -> n"}, "outputs": "y"}
    with pytest.raises(DescriptionError, match="block 2 of 2 has no name"):
        read_graph({"sizes": {"n": 1}, "blocks": [block, {}]})
    with pytest.raises(GraphError, match="two blocks named 'a'"):
        read_graph({"sizes": {"n": 1}, "blocks": [block, block]})
    with pytest.raises(DescriptionError, match="blocks is None; list the blocks"):
        read_graph({"sizes": {"n": 1}, "blocks": None})
    with pytest.raises(GraphError, match=r"net: block 'a': kernel 'y': there is no dimension 'm'"):
        read_graph({"sizes": {"n": 1}, "blocks": [{**block, "kernels": {"y": "sum x, x -> m"}}]}, name="net")


def test_blocks_that_do_not_fit_each_other_are_refused() -> None:
    first = {"name": "a", "inputs": {"x": "n"}, "kernels": {"y": "sum x, x -> n"}, "outputs": "y"}
    second = {"name": "b", "inputs": {"x": "m"}, "kernels": {"y": "sum x, x -> m"}, "outputs": "y"}
    with pytest.raises(GraphError, match=r"net: .*block 'a' hands on .* but block 'b' takes"):
        read_graph({"sizes": {"n": 1, "m": 2}, "blocks": [first, second]}, name="net")


def test_a_lookup_reads_rows_of_a_table() -> None:
    found = read_graph(
        {
            "sizes": {"batch": 4, "rows": 100, "width": 8},
            "data": {"which": {"dims": "batch", "element": "int32"}},
            "weights": {"table": "rows width"},
            "kernels": {"rows_of": "lookup which, table -> batch width"},
            "outputs": "rows_of",
        }
    )
    (op,) = found.workload.blocks[0].operations
    assert isinstance(op.kind, Lookup)
    assert found.workload.flops() == 0
