# SPDX-License-Identifier: Apache-2.0
"""The tensors of a model, and the arguments of its programs, equal those that were saved."""

from pathlib import Path
from typing import Any

import pytest
import torch
from saved_models import change, load, save
from tiny_models import MODEL_TYPES
from torch._subclasses.fake_tensor import FakeTensorMode

from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.signature import Input
from tilewright.models.checkpoint import Checkpoint
from tilewright.models.config import find_model
from tilewright.models.structure import build, fake_mode
from tilewright.models.weights import arguments_of, model_tensors, weight_bytes, weights_of

FAMILIES = ("llama", "gpt2")


def structure(folder: Path, dtype: str | None = None) -> Any:
    return build(find_model(str(folder)).config, dtype=dtype)


def tensors(folder: Path, dtype: str | None = None) -> dict[str, torch.Tensor]:
    return model_tensors(structure(folder, dtype), Checkpoint.open(folder), dtype)


def assert_same(found: dict[str, torch.Tensor], model: Any) -> None:
    """Check that `found` holds all parameters and buffers of the model, and nothing else."""
    expected = dict(model.named_parameters(remove_duplicate=False)) | dict(model.named_buffers())
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype, name
        assert torch.equal(found[name], tensor), name


@pytest.mark.parametrize(
    ("dtype", "tied", "shards"),
    [("float32", False, "20KB"), ("bfloat16", True, "20KB"), ("float32", True, "1GB")],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_all_tensors_are_those_of_the_model(
    tmp_path: Path, family: str, dtype: str, tied: bool, shards: str
):
    save(tmp_path, family, dtype=dtype, tie_word_embeddings=tied, shards=shards)
    assert (tmp_path / "model.safetensors").exists() == (shards == "1GB")
    model, found = load(tmp_path), tensors(tmp_path)
    assert_same(found, model)
    embeddings = model.get_input_embeddings().weight
    [inner] = [n for n, p in model.named_parameters() if p is embeddings]
    is_one = found["lm_head.weight"].data_ptr() == found[inner].data_ptr()
    assert is_one == tied


@pytest.mark.parametrize("family", MODEL_TYPES)
def test_all_families(tmp_path: Path, family: str):
    save(tmp_path, family, dtype="bfloat16")
    assert_same(tensors(tmp_path), load(tmp_path))


def mapped(path: Path) -> list[range]:
    """Return the address ranges at which a file is mapped into memory."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    ends = [line.split()[0].split("-") for line in lines if line.endswith(str(path))]
    return [range(*(int(end, 16) for end in pair)) for pair in ends]


def test_what_is_not_converted_is_the_files_memory(tmp_path: Path):
    save(tmp_path, "llama")
    checkpoint = Checkpoint.open(tmp_path)
    found = model_tensors(structure(tmp_path), checkpoint)
    memory = mapped(tmp_path / "model.safetensors")
    for name in checkpoint.tensors:
        assert any(found[name].data_ptr() in addresses for addresses in memory), name
    found["model.norm.weight"][0] = 7.0
    assert tensors(tmp_path)["model.norm.weight"][0] == 1.0


def test_tied_weights_are_one_tensor_on_a_device(tmp_path: Path):
    save(tmp_path, "gpt2", dtype="bfloat16")
    model = structure(tmp_path, "float32")
    found = model_tensors(model, Checkpoint.open(tmp_path), "float32", device="meta")
    assert {str(tensor.device) for tensor in found.values()} == {"meta"}
    assert found["lm_head.weight"] is found["transformer.wte.weight"]
    once = {id(tensor): tensor.nbytes for tensor in found.values()}
    assert weight_bytes(model) == sum(once.values())


@pytest.mark.parametrize(
    ("stored", "requested"),
    [("float32", "bfloat16"), ("bfloat16", "float32"), ("bfloat16", "float16")],
)
def test_another_dtype_on_request(tmp_path: Path, stored: str, requested: str):
    save(tmp_path, "llama", dtype=stored)
    assert_same(tensors(tmp_path, requested), load(tmp_path, requested))


def test_another_dtype_without_a_request(tmp_path: Path):
    save(tmp_path, "llama", dtype="bfloat16")
    model = structure(tmp_path, "float32")
    with pytest.raises(UsageError) as err:
        model_tensors(model, Checkpoint.open(tmp_path))
    assert err.value.message.splitlines() == [
        f"the checkpoint in '{tmp_path}' does not fit the model:",
        "  with another dtype:",
        "    lm_head.weight: bfloat16, should be float32",
        "    model.embed_tokens.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.input_layernorm.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.mlp.down_proj.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.mlp.gate_proj.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.mlp.up_proj.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.post_attention_layernorm.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.self_attn.k_proj.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.self_attn.o_proj.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.self_attn.q_proj.weight: bfloat16, should be float32",
        "    model.layers.{0-1}.self_attn.v_proj.weight: bfloat16, should be float32",
        "    model.norm.weight: bfloat16, should be float32",
    ]
    assert err.value.remedy == "--dtype DTYPE converts all weights to that dtype"


@pytest.mark.parametrize("dtype", [None, "float32"])
def test_numbers_that_are_no_floats_are_not_converted(tmp_path: Path, dtype: str | None):
    save(tmp_path, "llama")
    change(
        tmp_path, lambda stored: stored.update({"lm_head.weight": stored["lm_head.weight"].int()})
    )
    with pytest.raises(UsageError, match=r"lm_head\.weight: int32, should be float32$") as err:
        model_tensors(structure(tmp_path), Checkpoint.open(tmp_path), dtype)
    assert err.value.remedy == ""


def test_all_problems_are_reported_at_once(tmp_path: Path):
    save(tmp_path, "llama")

    def spoil(stored: dict[str, torch.Tensor]) -> None:
        del stored["lm_head.weight"]
        for layer in range(2):
            del stored[f"model.layers.{layer}.self_attn.q_proj.weight"]
        stored["other"] = torch.zeros(1)
        stored["model.norm.weight"] = torch.zeros(63)
        stored["model.embed_tokens.weight"] = torch.zeros(100, 64, dtype=torch.int32)

    change(tmp_path, spoil)
    with pytest.raises(UsageError) as err:
        tensors(tmp_path, "float32")
    assert err.value.message.splitlines()[1:] == [
        "  missing:",
        "    lm_head.weight",
        "    model.layers.{0-1}.self_attn.q_proj.weight",
        "  not in the model:",
        "    other",
        "  with another shape:",
        "    model.norm.weight: 63, should be 64",
        "  with another dtype:",
        "    model.embed_tokens.weight: int32, should be float32",
    ]


def test_what_transformers_ignores_is_no_mistake(tmp_path: Path):
    for family in FAMILIES:
        save(tmp_path / family, family)

    def old_llama(stored: dict[str, torch.Tensor]) -> None:
        stored["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.zeros(8)

    def old_gpt2(stored: dict[str, torch.Tensor]) -> None:
        stored["transformer.h.0.attn.bias"] = torch.zeros(1, 1, 64, 64)
        stored["transformer.h.0.attn.masked_bias"] = torch.zeros(())

    change(tmp_path / "llama", old_llama)
    change(tmp_path / "gpt2", old_gpt2)
    for family in FAMILIES:
        assert_same(tensors(tmp_path / family), load(tmp_path / family))


def test_a_checkpoint_of_the_base_model(tmp_path: Path):
    save(tmp_path, "gpt2", tie_word_embeddings=True)

    def strip(stored: dict[str, torch.Tensor]) -> None:
        for name in [*stored]:
            stored[name.removeprefix("transformer.")] = stored.pop(name)

    change(tmp_path, strip)
    assert "wte.weight" in Checkpoint.open(tmp_path).tensors
    assert_same(tensors(tmp_path), load(tmp_path))


def test_tied_weights_under_the_other_name(tmp_path: Path):
    save(tmp_path, "llama", tie_word_embeddings=True)

    def rename(stored: dict[str, torch.Tensor]) -> None:
        stored["lm_head.weight"] = stored.pop("model.embed_tokens.weight")

    change(tmp_path, rename)
    assert_same(tensors(tmp_path), load(tmp_path))


def test_tied_weights_that_are_stored_twice(tmp_path: Path):
    save(tmp_path, "llama", tie_word_embeddings=True)

    def store_twice(stored: dict[str, torch.Tensor]) -> None:
        stored["lm_head.weight"] = stored["model.embed_tokens.weight"].clone()

    change(tmp_path, store_twice)
    assert_same(tensors(tmp_path), load(tmp_path))
    change(tmp_path, lambda stored: stored["lm_head.weight"].add_(1.0))
    with pytest.raises(UsageError, match=r"lm_head\.weight .*one tensor of the model.*tie_word_"):
        tensors(tmp_path)


def test_a_model_that_is_cut(tmp_path: Path):
    save(tmp_path, "llama")
    config, checkpoint = find_model(str(tmp_path)).config, Checkpoint.open(tmp_path)
    cut = build(config, layers=1)
    found = model_tensors(cut, checkpoint, whole=build(config))
    assert found.keys() == {*cut.state_dict(), *dict(cut.named_buffers())}
    with pytest.raises(
        UsageError, match=r"not in the model:\n    model\.layers\.1\.input_layernorm"
    ):
        model_tensors(cut, checkpoint)


class Logits(torch.nn.Module):
    """Module that contains the model, and a table that is no buffer."""

    def __init__(self, model: Any):
        super().__init__()
        self.inner = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        logits = self.inner(ids, use_cache=False).logits
        return logits * torch.arange(1, logits.shape[-1] + 1).rsqrt()


def captured(model: Any) -> Captured:
    with fake_mode(model):
        ids = torch.zeros((1, 5), dtype=torch.long)
    return capture(Logits(model), (ids,))


def test_arguments_of_a_program_are_in_its_order(tmp_path: Path):
    save(tmp_path, "llama", tie_word_embeddings=True)
    model = structure(tmp_path)
    program = captured(model)
    stored = [input for input in program.inputs if input.kind != "input"]
    found = weights_of(program, model, Checkpoint.open(tmp_path))
    assert len(found) == len(stored)
    assert {input.kind for input in stored} == {"parameter", "buffer", "constant"}
    saved = load(tmp_path)
    expected = dict(saved.named_parameters(remove_duplicate=False)) | dict(saved.named_buffers())
    for input, tensor in zip(stored, found, strict=True):
        assert tensor.shape == input.tensor.shape
        if input.kind != "constant":
            assert torch.equal(tensor, expected[input.name.removeprefix("inner.")])


def test_a_constant_without_values_is_named():
    program = capture(torch.nn.ReLU(), (torch.ones(2),))
    with FakeTensorMode():
        program.inputs.append(Input("c", "lifted", "constant", torch.zeros(2)))
    with pytest.raises(UnsupportedError, match="constant 'lifted' of the program has no values"):
        arguments_of(program, {})
