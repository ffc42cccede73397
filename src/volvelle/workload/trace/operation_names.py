"""What operations of PyTorch and ONNX are called, by what they do to memory and arithmetic.

Names are those of ATen without `aten::`, without overloads and without the underscore of operations in place, and those
of ONNX in small letters. Sources: native_functions.yaml of PyTorch 2.13 and Operators.md of ONNX 1.23.
"""

from typing import Final

_PREFIXES: Final = (
    "torch.ops.",
    "aten::",
    "aten.",
    "prims::",
    "prims.",
    "torch::distributed::reducer::",
    "com.microsoft::",
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VIEWS: Final = _names("""
    as_strided select view t transpose expand expand_as slice detach alias unsqueeze squeeze permute narrow split
    split_with_sizes unbind chunk reshape _reshape_alias _unsafe_view flatten unflatten view_as numpy_T movedim
    swapaxes diagonal unfold lift_fresh resolve_conj resolve_neg conj real imag view_as_real view_as_complex
    broadcast_tensors broadcast_to empty empty_strided empty_like empty_permuted new_empty new_empty_strided resize
    resize_as set result_type is_same_size _has_compatible_shallow_copy_type record_stream item _local_scalar_dense
    is_nonzero is_pinned scalar_tensor sym_size sym_stride sym_numel size requires_grad retain_grad version data
    values indices _values _indices crow_indices col_indices is_complex is_floating_point broadcast_in_dim identity
    shape constant constantofshape transpose_view getitem _assert_tensor_metadata _assert_scalar
    sym_constrain_range_for_size assert_async _assert_async profiler
""")
"""No element is read or written: sizes, strides and room in memory."""

ELEMENTWISE: Final = _names("""
    add sub mul div neg abs exp log log2 log10 log1p sqrt rsqrt pow square reciprocal sin cos tan tanh sigmoid relu
    relu6 gelu silu hardtanh hardswish hardsigmoid leaky_relu elu selu celu softplus mish erf erfc erfinv expm1
    floor ceil round trunc sign sgn clamp clamp_min clamp_max minimum maximum fmod remainder where eq ne lt le gt ge
    logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor isnan isinf
    isfinite nan_to_num lerp addcmul addcdiv rsub threshold threshold_backward sigmoid_backward tanh_backward
    gelu_backward silu_backward hardtanh_backward leaky_relu_backward elu_backward softplus_backward logit
    logit_backward dropout native_dropout native_dropout_backward _fused_dropout masked_fill masked_fill_backward
    bernoulli floor_divide true_divide divide multiply subtract atan2 hypot xlogy mse_loss mse_loss_backward l1_loss
    smooth_l1_loss smooth_l1_loss_backward binary_cross_entropy binary_cross_entropy_with_logits
    binary_cross_entropy_backward _foreach_add _foreach_sub _foreach_mul _foreach_div _foreach_sqrt _foreach_addcmul
    _foreach_addcdiv _foreach_lerp _foreach_neg _foreach_pow _foreach_maximum _foreach_reciprocal _foreach_copy
    _foreach_zero _foreach_exp _foreach_abs _fused_adam _fused_adamw _fused_sgd _fused_adagrad
    _amp_foreach_non_finite_check_and_unscale mul_out convert_element_type not and or xor equal greater less
    greaterorequal lessorequal cast clip prelu bitshift mod min_elementwise max_elementwise sum_elementwise fastgelu
    biasgelu quickgelu rotary rotary_embedding thresholdedrelu softsign shrink acos acosh asin asinh atan atanh cosh
    sinh bitwiseand bitwiseor bitwisexor bitwisenot hardmax swish affine quantizelinear dequantizelinear
    dynamicquantizelinear castlike fake_quantize quantize_per_tensor dequantize glu glu_backward rot90 flip fliplr
    polar
""")
"""Every element is read once and written once."""

REDUCTIONS: Final = _names("""
    sum mean prod max min amax amin argmax argmin any all norm linalg_vector_norm linalg_norm var std var_mean
    std_mean logsumexp cumsum cumprod topk sort argsort median kthvalue equal_all nll_loss_forward nll_loss_backward
    nll_loss nll_loss2d_forward nll_loss2d_backward cross_entropy_loss cross_entropy _foreach_norm count_nonzero
    bincount unique unique2 _unique2 histc searchsorted bucketize diff max_pool2d max_pool2d_with_indices
    max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward adaptive_avg_pool2d _adaptive_avg_pool2d
    adaptive_avg_pool2d_backward _adaptive_avg_pool2d_backward max_pool3d_with_indices avg_pool3d
    adaptive_max_pool2d upsample_bilinear2d upsample_nearest2d upsample_bilinear2d_backward
    upsample_nearest2d_backward value_selecting_reduction_backward reducesum reducemean reducemax reducemin
    reduceprod reducel1 reducel2 reducelogsum reducelogsumexp reducesumsquare maxpool averagepool globalaveragepool
    globalmaxpool lppool globallppool nonzero resize_image tril_reduce softmaxcrossentropyloss
    negativeloglikelihoodloss nonmaxsuppression
""")
"""Every element is read once; what is written is smaller, or as large."""

NORMALISATIONS: Final = _names("""
    native_layer_norm native_layer_norm_backward layer_norm native_group_norm native_group_norm_backward group_norm
    native_batch_norm native_batch_norm_backward batch_norm cudnn_batch_norm cudnn_batch_norm_backward
    miopen_batch_norm miopen_batch_norm_backward _native_batch_norm_legit _native_batch_norm_legit_no_training
    _batch_norm_impl_index _batch_norm_with_update batch_norm_backward instance_norm rms_norm _fused_rms_norm
    _fused_rms_norm_backward _softmax softmax _softmax_backward_data _log_softmax log_softmax
    _log_softmax_backward_data _safe_softmax _masked_softmax layernormalization batchnormalization
    groupnormalization instancenormalization rmsnormalization skiplayernormalization simplifiedlayernormalization
    logsoftmax lrn lpnormalization meanvariancenormalization local_response_norm cosine_similarity normalize
""")
"""Statistics over elements, then every element again."""

COPIES: Final = _names("""
    copy clone contiguous to _to_copy _to_cpu _copy_from _copy_from_and_resize cat concat concatenate stack fill
    zero zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full arange linspace eye tril triu
    roll repeat repeat_interleave tile constant_pad_nd pad uniform normal random randn rand randint randn_like
    rand_like randperm exponential multinomial select_backward slice_backward slice_scatter select_scatter
    index_copy diagonal_backward embedding_renorm one_hot meshgrid pin_memory _pin_memory flatten_dense_tensors
    unflatten_dense_tensors type_as copy_bucket_to_grad float half bfloat16 double long int lift lift_fresh_copy
    view_copy expand_copy permute_copy transpose_copy as_strided_copy t_copy unsqueeze_copy split_copy iota range
    expandcopy spacetodepth depthtospace reversesequence trilu onehot eyelike randomnormal randomuniform
    randomnormallike randomuniformlike compress centercroppad col2im im2col
""")
"""Elements are written as they are, or made."""

HANDING_ON: Final = _names("""
    to contiguous type_as float half bfloat16 double long int reshape flatten_dense_tensors cpu cuda
""")
"""Of operations as they ran: they copy by an operation inside them, and by none where there is nothing to copy."""

GATHERS: Final = _names("""
    index index_select gather take embedding index_put _index_put_impl index_add scatter scatter_add scatter_reduce
    gather_backward embedding_bag _embedding_bag _unsafe_index _unsafe_index_put masked_select masked_scatter
    take_along_dim gathernd gatherelements scatternd scatterelements tensorscatter
""")
"""Elements at places that another tensor names."""

EMBEDDING_GRADIENTS: Final = _names("embedding_dense_backward embedding_backward _embedding_bag_dense_backward")
PRODUCTS: Final = _names("""
    mm addmm _addmm_activation bmm baddbmm linear matmul mv addmv dot vdot linear_backward _int_mm _scaled_mm gemm
    matmulinteger qlinearmatmul fusedmatmul mkldnn_linear mkl_linear mkldnn_rnn_layer_product tensordot
""")
CONVOLUTIONS: Final = _names("""
    conv1d conv2d conv3d convolution _convolution convolution_overrideable cudnn_convolution mkldnn_convolution
    miopen_convolution thnn_conv2d _slow_conv2d_forward slow_conv3d _conv_depthwise2d miopen_depthwise_convolution
    cudnn_convolution_relu cudnn_convolution_add_relu conv_transpose2d conv convtranspose convinteger qlinearconv
""")
CONVOLUTION_GRADIENTS: Final = _names("""
    convolution_backward convolution_backward_overrideable cudnn_convolution_backward mkldnn_convolution_backward
    miopen_convolution_backward _slow_conv2d_backward
""")
ATTENTION: Final = _names("""
    scaled_dot_product_attention _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention _scaled_dot_product_attention_math
    _scaled_dot_product_fused_attention_overrideable _efficient_attention_forward _flash_attention_forward
    _cudnn_attention_forward attention multiheadattention groupqueryattention
""")
"""Queries, keys and values are the first three arguments."""
ATTENTION_GRADIENTS: Final = _names("""
    _scaled_dot_product_flash_attention_backward _scaled_dot_product_flash_attention_for_cpu_backward
    _scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention_backward
    _scaled_dot_product_fused_attention_overrideable_backward _efficient_attention_backward
    _flash_attention_backward _cudnn_attention_backward
""")
"""The gradient of the output comes before queries, keys and values."""
SEQUENCE_BEFORE_HEADS: Final = _names("""
    _efficient_attention_forward _flash_attention_forward _efficient_attention_backward _flash_attention_backward
""")
"""Attention whose tensors are (batch, sequence, heads, width); the others have heads before the sequence."""

_BOOKKEEPING: Final = (
    "autograd::",
    "torch::autograd::",
    "Optimizer.",
    "ProfilerStep",
    "## ",
    "DistributedDataParallel.",
    "record_param_comms",
    "c10d::",
    "AOTDispatcher",
    "TorchDynamo",
    "Pregraph bytecode",
    "Torch-Compiled Region",
    "CompiledFunction",
    "Inductor ",
)


def bare(name: str) -> str:
    """The name of an operation without library, overload and the underscore of operations in place."""
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            name = name[len(prefix) :]
    name = name.removeprefix("aten.").split(".", 1)[0]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def is_bookkeeping(name: str) -> bool:
    """Whether it is a frame around operations: an autograd node, an annotation, a step of the profiler."""
    return name.startswith(_BOOKKEEPING) or name.endswith(("Backward0", "Backward1", "Backward2", "Backward"))
