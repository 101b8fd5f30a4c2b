# SPDX-License-Identifier: Apache-2.0
"""The safetensors of a folder: their contents, and errors for damaged ones."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from saved_models import load, save

from tilewright.errors import UsageError
from tilewright.models.checkpoint import INDEX, Checkpoint, TensorKind

SINGLE = "model.safetensors"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with two models, one in a single file and one in several."""
    folder = tmp_path_factory.mktemp("saved")
    save(folder / "single", "llama")
    save(folder / "sharded", "llama", shards="60KB", dtype="bfloat16")
    return folder


@pytest.fixture
def sharded(saved: Path, tmp_path: Path) -> Path:
    """Copy of the sharded model that a test may damage."""
    return Path(shutil.copytree(saved / "sharded", tmp_path / "sharded"))


def index_of(folder: Path) -> dict[str, str]:
    """Return the name of the file that each tensor is in."""
    return json.loads((folder / INDEX).read_text())["weight_map"]


def edit_index(folder: Path, **entries: str) -> None:
    """Change the files that the index names for some tensors."""
    content = {"weight_map": index_of(folder) | entries}
    (folder / INDEX).write_text(json.dumps(content))


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as err:
        Checkpoint.open(folder)
    return str(err.value)


@pytest.mark.parametrize("name", ["single", "sharded"])
def test_what_is_in_it(saved: Path, name: str):
    checkpoint, model = Checkpoint.open(saved / name), load(saved / name)
    state = model.state_dict()
    dtype = "float32" if name == "single" else "bfloat16"
    assert checkpoint.tensors == {n: TensorKind((*t.shape,), dtype) for n, t in state.items()}
    assert all(torch.equal(checkpoint.tensor(n), t) for n, t in state.items())


def test_a_single_file_is_taken_before_an_index(saved: Path, sharded: Path):
    shutil.copy(saved / "single" / SINGLE, sharded)
    kinds = Checkpoint.open(sharded).tensors.values()
    assert {kind.dtype for kind in kinds} == {"float32"}


def test_dtypes_that_no_model_is_made_of(tmp_path: Path):
    header = b'{"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}'
    content = len(header).to_bytes(8, "little") + header + b"\0" * 4
    (tmp_path / SINGLE).write_bytes(content)
    assert Checkpoint.open(tmp_path).tensors == {"a": TensorKind((4,), "F8_E4M3")}


def test_a_folder_without_weights(tmp_path: Path):
    assert refusal(tmp_path) == (
        f"'{tmp_path}' has no weights: neither model.safetensors nor model.safetensors.index.json"
    )


@pytest.mark.parametrize("file", ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin"])
def test_a_pickle_is_refused(tmp_path: Path, file: str):
    (tmp_path / file).write_bytes(b"junk")
    assert refusal(tmp_path) == (
        f"the weights in '{tmp_path}' are a pickle, {file}, which is not read, because "
        "it can run code (convert them to safetensors:"
        " AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER))"
    )


@pytest.mark.parametrize("length", [0, 5, 100, 3000, 20_000])
def test_a_truncated_file(sharded: Path, length: int):
    path = sharded / "model-00001-of-00004.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    assert refusal(sharded).startswith(f"cannot read '{path}': Error while deserializing header")


def test_what_is_no_file(tmp_path: Path):
    (tmp_path / SINGLE).mkdir()
    assert refusal(tmp_path).startswith(f"cannot read '{tmp_path / SINGLE}': ")


def test_shards_that_are_not_there(sharded: Path):
    for number in (1, 3):
        (sharded / f"model-0000{number}-of-00004.safetensors").unlink()
    assert refusal(sharded) == (
        f"'{sharded / INDEX}' names files that do not exist: "
        "model-00001-of-00004.safetensors, model-00003-of-00004.safetensors"
    )


def test_a_name_that_is_too_long_for_a_file(sharded: Path):
    edit_index(sharded, **{"model.norm.weight": "a" * 5000})
    assert refusal(sharded).startswith(f"'{sharded / INDEX}' names files that do not exist: aaa")


@pytest.mark.parametrize("file", ["../x.safetensors", "/x.safetensors", "a/../../x", "C:\\x"])
def test_an_index_does_not_lead_out_of_its_folder(sharded: Path, file: str):
    edit_index(sharded, **{"model.norm.weight": file})
    assert refusal(sharded) == f"'{sharded / INDEX}' names files outside of its folder: {file}"


def test_a_tensor_in_two_shards(sharded: Path):
    first, more = "model-00001-of-00004.safetensors", "more.safetensors"
    names = [name for name, file in index_of(sharded).items() if file == first]
    shutil.copy(sharded / first, sharded / more)
    edit_index(sharded, other=more)
    message, *lines = refusal(sharded).splitlines()
    assert message == f"the checkpoint in '{sharded}' is damaged:"
    both = [f"  {name} is in {first} and in {more}" for name in names]
    assert sorted(lines) == sorted([*both, f"  other is not in {more}, which the index names"])


def test_a_tensor_in_another_shard(sharded: Path):
    file = index_of(sharded)["model.norm.weight"]
    other = next(p.name for p in sharded.glob("*.safetensors") if p.name != file)
    edit_index(sharded, **{"model.norm.weight": other})
    message, *lines = refusal(sharded).splitlines()
    assert message == f"the checkpoint in '{sharded}' is damaged:"
    assert lines == [f"  model.norm.weight is not in {other}, which the index names"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        ("[]", "holds no JSON object"),
        ("{}", "has no weight_map"),
        ('{"weight_map": []}', "has no weight_map"),
        ('{"weight_map": {"a": 1}}', "has no weight_map"),
    ],
)
def test_what_is_no_index(tmp_path: Path, content: Any, problem: str):
    data = content.encode() if isinstance(content, str) else content
    (tmp_path / INDEX).write_bytes(data)
    assert refusal(tmp_path).startswith(f"'{tmp_path / INDEX}' {problem}")
