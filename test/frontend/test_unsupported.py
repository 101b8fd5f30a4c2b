# SPDX-License-Identifier: Apache-2.0
"""
Operators that are refused by name: each one of the table, as a user calls it, with the place of the
call.
"""

# PyTorch's functions, and lambdas that call them, are typed in part.
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.capture import capture
from tilewright.frontend.refusals import check_source
from tilewright.frontend.unsupported import UNSUPPORTED, refusal_of

X = torch.randn(4, 4)
I = torch.tensor([1, 2, 1, 1])
HIGHER: Any = getattr(torch, "_higher_order_ops")

# Each key is the name in the table of the operator that the function calls.
REFUSED: dict[str, Callable[[torch.Tensor], Any]] = {
    "aten.sort": lambda x: x.sort()[0],
    "aten.argsort": lambda x: x.argsort(),
    "aten.msort": lambda x: x.msort(),
    "aten.topk": lambda x: x.topk(2)[0],
    "aten.kthvalue": lambda x: x.kthvalue(2)[0],
    "aten.median": lambda x: x.median(),
    "aten.nanmedian": lambda x: x.nanmedian(),
    "aten.quantile": lambda x: x.quantile(0.5),
    "aten.nanquantile": lambda x: x.nanquantile(0.5),
    "aten.mode": lambda x: x.mode()[0],
    "aten.searchsorted": lambda x: torch.searchsorted(x[0], x),
    "aten.bucketize": lambda x: torch.bucketize(x, x[0]),
    "aten._unique2": lambda x: x.unique(),
    "aten.unique_dim": lambda x: x.unique(dim=0),
    "aten.unique_consecutive": lambda x: x.unique_consecutive(),
    "aten.nonzero": lambda x: x.nonzero(),
    "aten.nonzero_numpy": lambda x: x.nonzero(as_tuple=True)[0],
    "aten.argwhere": lambda x: x.argwhere(),
    "aten.where.default": lambda x: torch.where(x > 0)[0],
    "aten.masked_select": lambda x: x.masked_select(x > 0),
    "aten.masked_scatter": lambda x: x.masked_scatter(x > 0, x),
    "aten.index": lambda x: x[x > 0],
    "aten.index_put": lambda x: x.clone().index_put_((x[0] > 0,), x[0]),
    "aten.bincount": lambda x: torch.bincount(I),
    "aten.histc": lambda x: x.histc(4),
    "aten.histogram": lambda x: x.histogram(4)[0],
    "aten.multilabel_margin_loss": lambda x: F.multilabel_margin_loss(x[0], I - 1),
    "aten.repeat_interleave.self_Tensor": lambda x: x.repeat_interleave(I, 0),
    "aten.repeat_interleave.Tensor": lambda x: torch.repeat_interleave(I),
    "aten.tensor_split.tensor_indices_or_sections": lambda x: x.tensor_split(torch.tensor(2))[0],
    "aten.item": lambda x: x * x.sum().item(),
    "aten.fft_*": lambda x: torch.fft.rfft(x),
    "aten.stft": lambda x: torch.stft(x.flatten(), 4, return_complex=True),
    "aten.complex": lambda x: torch.complex(x, x),
    "aten.polar": lambda x: torch.polar(x, x),
    "aten.view_as_complex": lambda x: torch.view_as_complex(x.view(8, 2)),
    "aten.linalg_inv": torch.linalg.inv,
    "aten.inverse": torch.inverse,
    "aten.linalg_det": torch.linalg.det,
    "aten.det": torch.det,
    "aten.logdet": torch.logdet,
    "aten.linalg_slogdet": lambda x: torch.linalg.slogdet(x)[1],
    "aten.slogdet": lambda x: torch.slogdet(x)[1],
    "aten.linalg_solve": lambda x: torch.linalg.solve(x, x),
    "aten.linalg_svd": lambda x: torch.linalg.svd(x)[1],
    "aten.linalg_svdvals": torch.linalg.svdvals,
    "aten.svd": lambda x: torch.svd(x)[1],
    "aten.linalg_eig*": lambda x: torch.linalg.eigh(x)[0],
    "aten.linalg_qr": lambda x: torch.linalg.qr(x)[0],
    "aten.qr": lambda x: torch.qr(x)[0],
    "aten.geqrf": lambda x: torch.geqrf(x)[0],
    "aten.linalg_cholesky*": torch.linalg.cholesky,
    "aten.cholesky*": torch.cholesky,
    "aten.linalg_lu*": lambda x: torch.linalg.lu(x)[0],
    "aten.linalg_ldl*": lambda x: torch.linalg.ldl_factor(x)[0],
    "aten.linalg_pinv": torch.linalg.pinv,
    "aten.pinverse": torch.pinverse,
    "aten.linalg_matrix_rank": torch.linalg.matrix_rank,
    "aten.linalg_matrix_exp": torch.linalg.matrix_exp,
    "aten.matrix_exp": torch.matrix_exp,
    "aten.linalg_solve_triangular": lambda x: torch.linalg.solve_triangular(x, x, upper=True),
    "aten.triangular_solve": lambda x: torch.triangular_solve(x, x)[0],
    "aten.linalg_cond": torch.linalg.cond,
    "aten.linalg_householder_product": lambda x: torch.linalg.householder_product(x, x[0]),
    "aten.linalg_matrix_norm": lambda x: torch.linalg.matrix_norm(x, "nuc"),
    "aten.linalg_norm": lambda x: torch.linalg.norm(x, "nuc"),
    "aten.rand": lambda x: x + torch.rand(4),
    "aten.rand_like": torch.rand_like,
    "aten.randn": lambda x: x + torch.randn(4),
    "aten.randn_like": torch.randn_like,
    "aten.randint": lambda x: x + torch.randint(0, 3, (4,)),
    "aten.randint_like": lambda x: torch.randint_like(x, 3),
    "aten.randperm": lambda x: x[torch.randperm(4)],
    "aten.bernoulli": torch.bernoulli,
    "aten.multinomial": lambda x: x.abs().multinomial(1),
    "aten.normal": lambda x: x.clone().normal_(),
    "aten.uniform": lambda x: x.clone().uniform_(),
    "aten.exponential": lambda x: x.clone().exponential_(),
    "aten.poisson": torch.poisson,
    "aten.dropout": F.dropout,
    "aten.feature_dropout": lambda x: F.dropout2d(x[None]),
    "aten.alpha_dropout": lambda x: F.alpha_dropout(x, training=True),
    "aten.feature_alpha_dropout": lambda x: F.feature_alpha_dropout(x[None], training=True),
    "aten.rrelu": lambda x: F.rrelu(x, training=True),
    "aten.fractional_max_pool2d": lambda x: F.fractional_max_pool2d(
        x[None], 2, 2, _random_samples=torch.ones(1, 1, 2)
    ),
    "aten.scaled_dot_product_attention": lambda x: F.scaled_dot_product_attention(
        x[None], x[None], x[None], dropout_p=0.5
    ),
    "aten.batch_norm": lambda x: F.batch_norm(x, x[0], x[0].abs(), training=True),
    "aten.as_strided": lambda x: x.as_strided((2, 2), (1, 2)),
    "aten.view.dtype": lambda x: x.view(torch.int32),
    "aten.grid_sampler": lambda x: F.grid_sample(
        x[None, None], torch.zeros(1, 2, 2, 2), align_corners=False
    ),
    "aten._upsample_bilinear2d_aa": lambda x: F.interpolate(
        x[None, None], size=2, mode="bilinear", antialias=True
    ),
    "aten._upsample_bicubic2d_aa": lambda x: F.interpolate(
        x[None, None], size=2, mode="bicubic", antialias=True
    ),
    "aten.embedding_renorm": lambda x: F.embedding(I, x, max_norm=1.0),
    "aten.embedding_bag": lambda x: F.embedding_bag(I, x, torch.tensor([0, 2])),
    "aten.lstm.input": lambda x: RECURRENT["LSTM"](x[:1].expand(129, 4))[0],
    "aten.gru.input": lambda x: RECURRENT["GRU"](x[:1].expand(129, 4))[0],
    "aten.rnn_tanh.input": lambda x: RECURRENT["RNN"](x[:1].expand(129, 4))[0],
    "aten.to_sparse*": lambda x: x.to_sparse(),
    "aten.sparse_*": lambda x: torch.sparse_coo_tensor(I[None], x[0], (4,)).to_dense(),
    "aten.to_dense": lambda x: x.to_sparse().to_dense(),
    "aten.quantize_*": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize(),
    "aten.dequantize": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize(),
    "aten.fake_quantize_*": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255),
    "higher_order.cond": lambda x: torch.cond(x.sum() > 0, torch.neg, torch.abs, (x,)),
    "higher_order.while_loop": lambda x: HIGHER.while_loop(
        lambda x: x.sum() < 9, lambda x: (x + 1,), (x,)
    )[0],
    "higher_order.scan": lambda x: HIGHER.scan(lambda c, y: (c + y, c * y), x[0], x)[0],
    "higher_order.map_impl": lambda x: HIGHER.map(lambda row: row + 1, x),
    "custom.*": lambda x: torch.ops.tilewright_test.twice(x),
}

RECURRENT = {kind: getattr(nn, kind)(4, 3) for kind in ("LSTM", "GRU", "RNN")}


@torch.library.custom_op("tilewright_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """Double the input; PyTorch knows this as an operator of another library."""
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


class Calls(nn.Module):
    """Module that calls one function."""

    def __init__(self, function: Callable[[torch.Tensor], Any]):
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def exported(function: Callable[[torch.Tensor], Any], x: torch.Tensor = X) -> Any:
    """Export `function`, called with `x`; return the program before decomposition."""
    with torch.no_grad():
        return torch.export.export(Calls(function), (x,), strict=False)


@pytest.fixture(autouse=True)
def quiet() -> Generator[None]:
    """Ignore PyTorch's warnings about deprecated functions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# An older `torch.export` refuses these operators itself.
STOPPED = ("aten.quantile", "aten.nanquantile", "aten.quantize_*", "aten.dequantize")


@pytest.mark.parametrize("name", STOPPED)
def test_refused_by_whatever_version(name: str):
    with pytest.raises(UnsupportedError) as caught:
        capture(Calls(REFUSED[name]), (X,))
    assert f"{__file__}:" in str(caught.value)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name: str):
    if name in STOPPED and torch.__version__ < "2.13":
        pytest.skip("PyTorch refuses it itself")
    program = exported(REFUSED[name])
    graphs = [
        m.graph for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule)
    ]
    calls = [n for graph in graphs for n in graph.nodes if n.op == "call_function"]
    reasons = [refusal_of(node) for node in calls]
    assert UNSUPPORTED[name] in reasons
    with pytest.raises(UnsupportedError) as caught:
        check_source(program)
    message = str(caught.value)
    node = calls[reasons.index(UNSUPPORTED[name])]
    assert f"{node.target} (node {node.name}" in message
    assert f"{__file__}:" in message
    for text in (UNSUPPORTED[name].reason, UNSUPPORTED[name].remedy):
        assert text in message


# Calls that resemble those above, and are allowed.
ALLOWED: dict[str, Callable[[torch.Tensor], Any]] = {
    "dropout": lambda x: F.dropout(x, training=False),
    "rrelu": F.rrelu,
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "batch_norm": lambda x: F.batch_norm(x, x[0], x[0].abs()),
    "own statistics": lambda x: F.batch_norm(x, None, None, training=True),
    "instance_norm": lambda x: F.instance_norm(x[None]),
    "index": lambda x: x[I, I],
    "repeat_interleave": lambda x: x.repeat_interleave(2, 0),
    "where": lambda x: torch.where(x > 0, x, 0),
    "cdist": lambda x: torch.cdist(x, x, p=1.0),
    "norm": lambda x: torch.linalg.matrix_norm(x),
    "norm of a vector": lambda x: torch.linalg.norm(x[0], 2),
    "norms of rows": lambda x: torch.linalg.norm(x, -2, dim=1),
    "lstm": lambda x: RECURRENT["LSTM"](x[:1].expand(64, 4))[0],
    "view": lambda x: x.view(8, 2),
    "unused": lambda x: (torch.histc(x), x)[1],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name: str):
    check_source(exported(ALLOWED[name]))


DTYPES: dict[str, Callable[[torch.Tensor], Any]] = {
    "complex64": lambda x: (x * 1j).abs(),
    "float8_e4m3fn": lambda x: x.to(torch.float8_e4m3fn).float(),
    "uint16": lambda x: x.to(torch.uint16).float(),
    "uint32": lambda x: x.to(torch.uint32).float(),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_that_are_not_there(name: str):
    with pytest.raises(UnsupportedError, match=rf"test_unsupported.py:\d+: .* dtype torch.{name},"):
        check_source(exported(DTYPES[name]))
    with pytest.raises(UnsupportedError, match=f"the input 'x' has the dtype torch.{name}"):
        check_source(exported(lambda x: X, torch.zeros(3).to(getattr(torch, name))))


def test_more_dims_than_arrays_have():
    where = r"test_unsupported.py:\d+: the result of node 'view.*' has 65 dims; at most 64 are"
    with pytest.raises(UnsupportedError, match=where):
        capture(lambda x: x.view((1,) * 65) * 2, (torch.ones(1),))
    with pytest.raises(UnsupportedError, match="the input 'x' has 65 dims; at most 64 are"):
        capture(lambda x: x * 2, (torch.ones((1,) * 65),))
    assert capture(lambda x: x * 2, (torch.ones((1,) * 64),)).module


def test_a_mask_that_may_be_causal():
    # PyTorch compares the mask with the causal one unless is_causal is passed.
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1, batch_first=True), 1)
    with pytest.raises(UnsupportedError, match=r"depends on the values .*pass is_causal"):
        capture(encoder, (X[None],), {"mask": torch.zeros(4, 4)})
    capture(encoder, (X[None],), {"mask": torch.zeros(4, 4), "is_causal": False})


# Exceptions of `torch.export` itself, and the errors that they become.
RAISED: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "branch": (lambda x: x if x.sum() > 0 else -x, "depends on the values of a tensor"),
    "size": (lambda x: torch.zeros(int(x.sum())), "depends on the values of a tensor"),
    "loop": (
        lambda x: sum(x for _ in range(int(x.sum()))),
        "depends on the values of a tensor",
    ),
    "one_hot": (lambda x: F.one_hot(I), "depends on the values of a tensor"),
    "lstsq": (lambda x: torch.linalg.lstsq(x, x)[0], "aten.linalg_lstsq.default is not supported"),
    "ctc": (
        lambda x: F.ctc_loss(x[:, None], I[None, :2], torch.tensor([4]), torch.tensor([2])),
        "aten._ctc_loss.Tensor is not supported",
    ),
    "quantised": (
        lambda x: torch.quantize_per_channel(x, x[0], I, 0, torch.qint8).dequantize(),
        "is not supported: PyTorch cannot trace it",
    ),
    "nested": (
        lambda x: torch.nested.nested_tensor([x[0], x[1, :2]]),
        "is not supported: PyTorch cannot trace it",
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", RAISED)
def test_raised_by_the_export(name: str):
    function, expected = RAISED[name]
    with pytest.raises(UnsupportedError, match=expected) as caught:
        capture(Calls(function), (X.clone(),))
    assert caught.value.where.startswith(__file__)


@dataclass
class Pair:
    """Class that PyTorch does not know, and that has no hash."""

    first: int
    second: int


# Results and arguments that hold no tensors, and are no constants that PyTorch knows.
FOREIGN: dict[str, Any] = {
    "set": {1},
    "Pair": Pair(1, 2),
    "bytes": b"a",
    "dtype": torch.float32,
    "complex": 1j,
}


@pytest.mark.parametrize("name", FOREIGN)
def test_values_of_types_that_programs_do_not_have(name: str):
    with pytest.raises(UsageError, match=f"returns a value of type {name} .*return tensors"):
        capture(lambda x: (x, FOREIGN[name]), (X,))  # pyright: ignore[reportUnknownLambdaType]
    with pytest.raises(UsageError, match=f"an argument has the type {name}, .*bind it"):
        capture(lambda x, n: x + 1, (X, FOREIGN[name]))  # pyright: ignore[reportUnknownLambdaType]


def test_values_without_a_hash_in_the_program_itself():
    with pytest.raises(UsageError, match="unhashable type") as caught:
        capture(lambda x: x + hash([1]), (X,))
    assert __file__ in str(caught.value)


# Ways to give an input another shape or layout, which a captured program cannot do.
OTHER_FORMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "transposed": lambda x: x.t_() + 1,
    "swapped": lambda x: x.swapaxes_(0, 1).add_(1),
    "resized": lambda x: x.resize_(2, 2),
    "resized like another": lambda x: x.resize_as_(torch.ones(2)),
    "unsqueezed": lambda x: x.unsqueeze_(0),
    "strided": lambda x: x.as_strided_((4,), (1,)),
    "set": lambda x: x.set_(torch.ones(2)),  # pyright: ignore[reportArgumentType]
    "resized by out=": lambda x: torch.arange(1.0, 13.0, out=x),
    "resized by out= of a sum": lambda x: torch.sum(x, 0, out=x),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", OTHER_FORMS)
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_an_input_that_changes_its_form(name: str):
    with pytest.raises(UnsupportedError, match=r"shape or layout of .* is changed"):
        capture(Calls(OTHER_FORMS[name]), (X.clone(),))


def test_a_buffer_that_changes_its_form():
    module = nn.BatchNorm1d(4)

    def function(x: torch.Tensor):
        assert module.running_mean is not None
        module.running_mean.unsqueeze_(0)
        return module(x)

    with pytest.raises(UnsupportedError, match=r"of buffer 'module.running_mean' is changed"):
        capture(function, (X.clone(),))
    assert module.running_mean is not None
    assert module.running_mean.shape == (4,)


def test_other_memory_for_an_input():
    """PyTorch's tracing loses the assignment, and continues with the old values."""

    def function(x: torch.Tensor):
        x.data = torch.ones(4, 2)
        return x + 1

    with pytest.raises(UnsupportedError, match=r"x.data = ... gives a tensor") as caught:
        capture(function, (X.clone(),))
    assert caught.value.where == f"{__file__}:{function.__code__.co_firstlineno + 1}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_out_of_the_right_shape_is_written(dtype: torch.dtype):
    x = torch.zeros(12, dtype=dtype)
    program = capture(lambda x: torch.arange(1, 13, out=x), (x,))
    assert [written.name for written in program.mutated] == ["x"]


@pytest.mark.parametrize("allows_real", [False, True])
def test_within_a_mode_of_fake_tensors(allows_real: bool):
    """Constants of the program have values even in a fake mode."""
    with FakeTensorMode(allow_non_fake_inputs=allows_real):
        fake = torch.randn(4)
        within = capture(lambda x: torch.min(x, torch.tensor(0.5)), (fake,))
    without = capture(lambda x: torch.min(x, torch.tensor(0.5)), (torch.randn(4),))
    assert str(within.module) == str(without.module)


def test_all_are_named_in_one_error():
    def function(x: torch.Tensor):
        y = x.sort()[0] + x.topk(4)[0]
        return y + x.sort()[0] + torch.rand(4)

    line = function.__code__.co_firstlineno
    with pytest.raises(UnsupportedError) as caught:
        capture(function, (X,))
    assert caught.value.message == (
        "PyTorch operators that are not supported: "
        f"aten.sort.default (node sort at {__file__}:{line + 1} and 1 more), "
        f"aten.topk.default (node topk at {__file__}:{line + 1}): there is no sorting, "
        f"{UNSUPPORTED['aten.sort'].remedy}; "
        f"aten.rand.default (node rand at {__file__}:{line + 2}): random numbers are drawn inside "
        "the program, draw them outside and pass them in as an input"
    )


def test_an_unknown_operator():
    with pytest.raises(
        TilewrightError, match=r"not supported: aten.igamma.default \(node igamma at"
    ):
        capture(lambda x: torch.igamma(x, x), (X,))  # pyright: ignore


def test_every_row_is_a_sentence():
    for name, refusal in UNSUPPORTED.items():
        assert refusal.reason, name
        assert refusal.remedy, name
        assert not refusal.reason.endswith("."), name
