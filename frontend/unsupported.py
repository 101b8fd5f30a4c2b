# SPDX-License-Identifier: Apache-2.0
"""
Operators that are refused by name, each with the reason and a remedy.

The operators are looked up in the program as exported, before decomposition, so that the error
names the operator that the user called.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

Arguments = Mapping[str, Any]
"""Arguments of a call, by their names in the schema; tensors are FX nodes."""


def _always(arguments: Arguments) -> bool:
    return True


@dataclass(frozen=True)
class Refusal:
    """
    Reason and remedy for a refused operator. With `when`, only some arguments are refused, which
    `only` describes.
    """

    reason: str
    remedy: str
    when: Callable[[Arguments], bool] = _always
    only: str = ""


# --- When an operator is refused for some arguments only


def _is_training(arguments: Arguments) -> bool:
    return bool(arguments.get("train", arguments.get("training")))


def _updates_statistics(arguments: Arguments) -> bool:
    return bool(arguments.get("training")) and arguments.get("running_mean") is not None


def _has_dropout(arguments: Arguments) -> bool:
    return bool(arguments.get("dropout_p"))


def _has_masks(arguments: Arguments) -> bool:
    """True if a boolean or byte tensor is used as an index."""
    indices = arguments.get("indices") or ()
    kinds = [str(index.meta["val"].dtype) for index in indices if index is not None]
    return any(kind in ("torch.bool", "torch.uint8") for kind in kinds)


STEPS = 128
"""Longest sequence, in steps, that a recurrent layer is unrolled for."""


def _is_long(arguments: Arguments) -> bool:
    sizes = arguments["input"].meta["val"].shape
    return sizes[1 if arguments.get("batch_first") else 0] > STEPS


def _needs_singular_values(arguments: Arguments) -> bool:
    return arguments.get("ord") in ("nuc", 2, -2)


def _is_spectral(arguments: Arguments) -> bool:
    """
    True if `linalg.norm` computes a matrix norm from singular values; the norm of a vector needs
    none.
    """
    dims = arguments.get("dim") or arguments["self"].meta["val"].shape
    return len(dims) == 2 and _needs_singular_values(arguments)


# --- The table

_DRAWN = "draw them outside and pass them in as an input"
_INFERENCE = "call eval() on the module, or pass training=False"
_SHAPES = "shapes and branches must follow from the inputs' shapes alone"
_OUTSIDE = "compute it outside and pass the result in as an input"

_GROUPS: tuple[tuple[str, Refusal], ...] = (
    (
        "sort argsort msort topk kthvalue median nanmedian quantile nanquantile mode",
        Refusal("there is no sorting", f"{_OUTSIDE}; amax and argmax give the largest"),
    ),
    ("searchsorted bucketize", Refusal("there is no binary search", _OUTSIDE)),
    (
        "unique _unique _unique2 unique_dim unique_consecutive unique_dim_consecutive nonzero "
        "nonzero_numpy argwhere where.default combinations",
        Refusal("the number of elements is only known when the program runs", _SHAPES),
    ),
    (
        "masked_select masked_scatter",
        Refusal("the place of an element depends on the values before it", "use torch.where"),
    ),
    (
        "index index_put _unsafe_index _index_put_impl",
        Refusal(
            "the size of a boolean mask's selection is only known when the program runs",
            "use torch.where or masked_fill",
            _has_masks,
            "with a boolean mask",
        ),
    ),
    ("bincount histc histogram histogramdd", Refusal("there are no histograms", _OUTSIDE)),
    (
        "repeat_interleave.Tensor repeat_interleave.self_Tensor "
        "tensor_split.tensor_indices_or_sections",
        Refusal("the shape depends on the values of a tensor", "pass a number or a list"),
    ),
    (
        "item _local_scalar_dense equal allclose is_nonzero",
        Refusal(
            "a number is read from a tensor while the program runs",
            "keep it as a tensor; where it is a subscript, write x[i[None]][0] for x[i]",
        ),
    ),
    (
        "fft_* stft istft complex polar view_as_complex view_as_real _conj _conj_physical imag",
        Refusal("there are no complex numbers", "compute with real and imaginary parts apart"),
    ),
    (
        "linalg_inv linalg_inv_ex inverse linalg_det _linalg_det det logdet linalg_slogdet slogdet "
        "linalg_solve linalg_solve_ex linalg_lstsq linalg_svd linalg_svdvals svd linalg_eig* "
        "_linalg_eigh linalg_qr qr geqrf orgqr ormqr linalg_cholesky* cholesky* linalg_lu* "
        "lu_solve lu_unpack _lu_with_info linalg_ldl* linalg_pinv pinverse linalg_matrix_rank "
        "linalg_matrix_exp matrix_exp linalg_solve_triangular triangular_solve linalg_cond "
        "linalg_householder_product linalg_tensorinv linalg_tensorsolve",
        Refusal("there are no solvers and factorisations", _OUTSIDE),
    ),
    (
        "linalg_matrix_norm",
        Refusal(
            "the norm needs singular values", "use ord='fro'", _needs_singular_values,
            "with ord='nuc', 2 or -2",
        ),
    ),
    (
        "linalg_norm",
        Refusal(
            "the norm needs singular values", "use ord='fro'", _is_spectral,
            "of a matrix with ord='nuc', 2 or -2",
        ),
    ),
    (
        "rand rand_like randn randn_like randint randint_like randperm bernoulli multinomial "
        "normal normal_functional uniform exponential poisson binomial cauchy geometric log_normal "
        "random _standard_gamma _sample_dirichlet native_dropout fractional_max_pool2d "
        "fractional_max_pool3d",
        Refusal("random numbers are drawn inside the program", _DRAWN),
    ),
    (
        "dropout feature_dropout alpha_dropout feature_alpha_dropout rrelu rrelu_with_noise",
        Refusal(
            "it draws random numbers in training mode", _INFERENCE, _is_training,
            "in training mode",
        ),
    ),
    (
        "scaled_dot_product_attention",
        Refusal("dropout draws random numbers", "pass dropout_p=0", _has_dropout, "with dropout_p"),
    ),
    (
        "batch_norm instance_norm _batch_norm_impl_index native_batch_norm cudnn_batch_norm",
        Refusal(
            "it updates its statistics in training mode", _INFERENCE, _updates_statistics,
            "in training mode",
        ),
    ),
    ("as_strided", Refusal("it depends on how a tensor lies in memory", "index or reshape")),
    ("view.dtype", Refusal("it reads the bits of one dtype as another", "convert with to()")),
    (
        "grid_sampler grid_sampler_2d grid_sampler_3d cudnn_grid_sampler",
        Refusal(
            "sampling at computed positions is not supported",
            "use F.interpolate for a regular grid",
        ),
    ),
    (
        "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
        Refusal("antialias=True is not supported", "pass antialias=False, or average before it"),
    ),
    (
        "_transformer_encoder_layer_fwd _native_multi_head_attention",
        Refusal(
            "it is a whole layer in one operator, PyTorch's fast path",
            "call torch.backends.mha.set_fastpath_enabled(False) before",
        ),
    ),
    ("embedding_renorm", Refusal("max_norm changes the weight", "normalise the weight before")),
    (
        "embedding_bag _embedding_bag _embedding_bag_forward_only",
        Refusal(
            "the lengths of bags are only known as values",
            "for bags of one length write F.embedding(input, weight).sum(1), mean(1) or amax(1)",
        ),
    ),
    (
        "lstm.input gru.input rnn_tanh.input rnn_relu.input",
        Refusal(
            f"it is unrolled, for at most {STEPS} steps", "call it on shorter sequences",
            _is_long, f"over more than {STEPS} steps",
        ),
    ),
    (
        "lstm.data gru.data rnn_tanh.data rnn_relu.data _pack_padded_sequence",
        Refusal("the lengths of packed sequences are only known as values", "pad the sequences"),
    ),
    ("ctc_loss _ctc_loss", Refusal("the loss is for training", _OUTSIDE)),
    (
        "multilabel_margin_loss multilabel_margin_loss_forward",
        Refusal(
            "PyTorch breaks it down wrongly: targets after the first -1 count there",
            _OUTSIDE,
        ),
    ),
    (
        "to_sparse* _to_sparse* sparse_* _sparse_* to_dense _to_dense",
        Refusal("only dense tensors are supported", "keep the tensor dense"),
    ),
    (
        "quantize_* dequantize fake_quantize_* _fake_quantize_* int_repr",
        Refusal("there are no quantised tensors", "use the original weights"),
    ),
    ("_nested_*", Refusal("there are no nested tensors", "pad them to one shape")),
)  # fmt: skip

_HIGHER_ORDER = (
    ("cond", Refusal("which branch runs depends on values", "use torch.where")),
    ("while_loop", Refusal("how often it runs depends on values", "write a Python loop")),
    (
        "scan associative_scan map map_impl",
        Refusal("loops over functions are not supported", "write a Python loop, or use cumsum"),
    ),
    ("*", Refusal("it takes functions", "call the functions directly")),
)

UNSUPPORTED: Mapping[str, Refusal] = {
    **{f"aten.{name}": refusal for names, refusal in _GROUPS for name in names.split()},
    **{f"higher_order.{n}": refusal for names, refusal in _HIGHER_ORDER for n in names.split()},
    "quantized.*": Refusal("there are no quantised tensors", "use the original weights"),
    "custom.*": Refusal("a custom operator is a black box", "write it in PyTorch's own operators"),
}
"""
Refused operators by name: `aten.topk` covers all overloads, `aten.view.dtype` one; `*` stands for
any characters. `custom` stands for all namespaces that are not PyTorch's.
"""

_TRANSPARENT = ("wrap_with_set_grad_enabled", "wrap_with_autocast")
"""Higher-order operators that PyTorch removes when it breaks a program down."""


def refusal_of(node: Any) -> Refusal | None:
    """Return the refusal of the operator that an FX node calls; None if it is not refused."""
    found = refusal_named(*_names_of(node))
    return found if found is not None and found.when(_arguments(node)) else None


def refusal_named(*names: str) -> Refusal | None:
    """
    Return the entry of `UNSUPPORTED` for an operator with these `names`, or None. The first name
    with an exact entry counts, else the first pattern that fits.
    """
    if (exact := next((name for name in names if name in UNSUPPORTED), None)) is not None:
        return UNSUPPORTED[exact]
    patterns = (p for p in UNSUPPORTED if "*" in p and any(fnmatchcase(n, p) for n in names))
    return next((UNSUPPORTED[pattern] for pattern in patterns), None)


def _names_of(node: Any) -> tuple[str, ...]:
    """
    Return the names under which `UNSUPPORTED` may list the operator of a node, the most exact
    first.
    """
    from torch._ops import HigherOrderOperator, OpOverload

    target: Any = node.target
    if isinstance(target, HigherOrderOperator):
        name = target.name()
        return () if name in _TRANSPARENT else (f"higher_order.{name}",)
    if not isinstance(target, OpOverload):
        return ()
    namespace, operator, overload = str(node.target).split(".")
    if namespace in ("aten", "prims", "quantized"):
        plain = operator if operator.startswith("__") else operator.rstrip("_")
        return f"{namespace}.{plain}.{overload}", f"{namespace}.{plain}"
    return () if _is_composite(target) else (f"custom.{namespace}.{operator}",)


def _is_composite(target: Any) -> bool:
    """True if PyTorch defines an operator by other operators, and breaks it down into them."""
    from torch._C import DispatchKey

    return target.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd)


def _arguments(node: Any) -> Arguments:
    schema = getattr(node.target, "_schema", None)
    names = [argument.name for argument in schema.arguments] if schema is not None else []
    return {**dict(zip(names, node.args, strict=False)), **node.kwargs}
