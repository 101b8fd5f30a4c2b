# SPDX-License-Identifier: Apache-2.0
"""Language models on the command line: `compile`, `explain`, and messages for mistakes."""

from pathlib import Path

import pytest
from tiny_models import SMALL, tiny_config

from ..conftest import Tilewright

SHORT = ("--layers", "1", "--seq-len", "4")


@pytest.fixture
def model() -> str:
    """A folder with the config of a model, in the working folder."""
    tiny_config("llama", dtype="bfloat16", **SMALL).save_pretrained("model")
    return "model"


def test_all_levels_are_printed(tilewright: Tilewright, model: str):
    torch = tilewright("compile", model, *SHORT, "--ir", "torch")
    assert torch.code == 0
    assert "%input_ids: tensor<1x4xi64>" in torch.out
    assert 'torch.name = "model.layers.0.mlp.up_proj.weight"' in torch.out
    assert "layers.1" not in torch.out
    loops = tilewright("compile", model, *SHORT, "--ir", "loop", "-o", "loops.mlir")
    assert (loops.out, loops.err) == ("", "wrote loops.mlir\n")
    assert "loop.kernel @scaled_dot_product_attention_add_mul(" in Path("loops.mlir").read_text()


def test_short_models_have_a_default_length_of_their_own(tilewright: Tilewright, model: str):
    printed = tilewright("compile", model, "--layers", "1", "--ir", "torch").out
    assert "%input_ids: tensor<1x64xi64>" in printed


def test_options_of_the_model(tilewright: Tilewright, model: str):
    asked = ("--dtype", "float32", "--attention", "eager", "--ir", "torch")
    printed = tilewright("compile", model, *SHORT, *asked).out
    assert "bf16" not in printed
    assert "torch.softmax.int" in printed
    assert "scaled_dot_product_attention" not in printed


def test_one_file_of_cuda_and_the_plan(tilewright: Tilewright, model: str):
    ended = tilewright("compile", model, *SHORT, "-o", "all.cu", "--plan", "-")
    assert ended.code == 0
    assert ended.out.startswith("launches ")
    assert "model.embed_tokens.weight" in ended.out
    assert "__global__" in Path("all.cu").read_text()


def test_kernels_are_explained(tilewright: Tilewright, model: str):
    ended = tilewright("explain", model, *SHORT)
    assert ended.code == 0
    assert "\nscaled_dot_product_attention_add_mul\n  schedule  tileify" in ended.out


def test_an_existing_folder_is_refused_before_compiling(tilewright: Tilewright, model: str):
    ended = tilewright("compile", model, "-o", model)
    assert ended.code == 2
    assert ended.err == (
        "error: the folder 'model' holds no compiled model (name another folder, or remove this "
        "one)\n"
    )


def test_weights_are_not_available(tilewright: Tilewright, model: str):
    ended = tilewright("compile", model, "--host", "-o", "all.cu")
    assert ended.code == 2
    assert "the weights of 'model' are not loaded here" in ended.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nobody/nothing",), "'nobody/nothing' is neither a folder nor in the Hugging Face cache"),
        ((".",), "the folder '.' has no config.json"),
        (("-c", "torch.randn(3) + 1", "--layers", "2"), "--layers goes with a MODEL only"),
        (("-c", "torch.randn(3)", "--dtype", "float16"), "--dtype goes with a MODEL only"),
        (("a/b.mlir",), "cannot read 'a/b.mlir': No such file or directory"),
        (("a/b.pt2",), "cannot read 'a/b.pt2': No such file or directory"),
        (("model", "--layers", "3"), "the model has 2 layers, of which 3 cannot be taken"),
        (("modle", "--ir", "torch"), "there is no folder 'modle' (a model is a folder with"),
        (("model", "--seq-len", "65"), "the model takes 1 to 64 tokens, not 65"),
        (("model", "--seq-len", "0"), "'0' is not a positive number of tokens"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], says: str, tilewright: Tilewright, model: str):
    ended = tilewright("compile", *arguments)
    assert ended.code == 2
    assert says in ended.err
    assert ended.out == ""
