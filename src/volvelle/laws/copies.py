"""Copies in memory of what is there already: narrower or wider, unpacked, laid out one after the other, added up."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Seconds


@cites("micikevicius2022fp8", place="section 3, operands scaled and cast from a 16-bit type")
def cast_traffic(wide: Bytes, *, wide_each: Bytes, narrow_each: Bytes) -> Bytes:
    r"""Bytes moved to write a narrow copy of operands of `wide` bytes.

    $$ Q = n\left(1 + \frac{e_n}{e_w}\right) $$

    Read once in the wide type, written once in the narrow one. Assumes scaling factors are known beforehand (delayed
    scaling), so that one pass is enough, and that casts are kernels of their own.
    """
    return wide * (1.0 + narrow_each / wide_each)


@cites("dettmers2023qlora", place="section 3, equations 5 and 6: doubleDequant before each product")
def dequantisation_traffic(kept: Bytes, copy: Bytes) -> Bytes:
    r"""Bytes moved to unpack a weight before a product: it is read as it is kept, and a 16-bit copy is written.

    $$ Q = \Psi\,(e_4 + e_{16}) $$

    Once for the forward product, once for that of the input's gradient, and once more where the forward pass is run
    again. 4-bit NormalFloat takes 4.127 bits a parameter: a scale for every 64 parameters, itself in 8 bits with
    another for every 256 of them. Assumes a kernel of its own that is bound by memory.
    """
    return kept + copy


@cites("zhao2023fsdp", place="section 4.2.3, FlatParameter: tensors of a unit are gathered and reduced as one")
def unit_copies_time(
    weights: Bytes,
    parameters: Count,
    *,
    gathers: Count,
    gathered: Bytes,
    reductions: Count,
    reduced: Bytes,
    memory_rate: BytesPerSecond,
) -> Seconds:
    r"""Time to copy weights out of what was gathered, and gradients into what is reduced.

    $$ t = \frac{n_g\,c_g\,W + n_r\,c_r\,\Psi}{B} $$

    Where the tensors of a unit lie one after the other in a flat one, weights W are copied out of it after each of n_g
    gathers, c_g bytes moved for a byte, and gradients of all parameters Ψ, however many replicas share them out, are
    copied into it, made wider and divided before each of n_r reductions, c_r bytes moved for a parameter. Assumes that
    copies are bound by memory, and that they take from products beside them what they take.
    """
    return (gathers * gathered * weights + reductions * reduced * parameters) / memory_rate


@cites("deepspeed-bf16", place="BF16_Optimizer.update_hp_grads, which runs after every backward pass")
def added_gradients_time(parameters: Count, *, passes: Count, moved: Bytes, memory_rate: BytesPerSecond) -> Seconds:
    r"""Time to add gradients that a backward pass leaves in 16 bits to those in 32, where no product does.

    $$ t = \frac{n\,c\,\Psi}{B} $$

    c bytes a parameter are moved after each of n backward passes: gradients are read and written wider (2 + 4), then
    read again, and read and written where they add up (4 + 4 + 4). Assumes kernels that are bound by memory.
    """
    return passes * moved * parameters / memory_rate


@cites(
    "deepspeed-zero3", place="_allgather_param, _reduce_scatter_gradient and _allgather_params: lists of a part a rank"
)
def listed_parts_time(layers: Count, ranks: Count, *, times: Count, each: Seconds) -> Seconds:
    r"""Time the host takes for the parts of ranks, where tensors are exchanged one by one through lists of parts.

    $$ t = k\,L\,n\,\tau $$

    For all tensors of a layer together τ is spent on the part of each of n ranks: a view of it in Python, and a copy of
    it that is started on the chip; k times in each of L layers. Parts get smaller with more ranks, τ does not. Assumes
    that nothing else hides it, as the device is halted before every exchange.
    """
    return times * layers * ranks * each
