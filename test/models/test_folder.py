# SPDX-License-Identifier: Apache-2.0
"""
The folder that `tilewright compile MODEL -o DIR` writes is complete, and suffices to run the model.
"""

import json
import re
import subprocess
import sys
from contextlib import redirect_stderr
from importlib import import_module
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from needs import needs_nvrtc
from tiny_models import SMALL, tiny_config, tiny_model

from tilewright.codegen import nvrtc
from tilewright.codegen.host_function import plan_of
from tilewright.errors import TilewrightError, UsageError
from tilewright.models.folder import check_output_folder, write_folder
from tilewright.tools import cli
from tilewright.tools.input.mlir_source import read_module

LENGTH = 8


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the config of a tiny model."""
    folder = tmp_path_factory.mktemp("model")
    tiny_config("gemma", dtype="bfloat16", **SMALL).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def compiled(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the compiled model."""
    folder = tmp_path_factory.mktemp("compiled") / "gemma"
    options = ["--seq-len", str(LENGTH), "-o", str(folder), "--plan", str(model / "plan.md")]
    with redirect_stderr(StringIO()) as found:
        assert cli.main(["compile", str(model), *options]) == 0
    (model / "stderr").write_text(found.getvalue())
    return folder


@pytest.fixture(scope="module")
def manifest(compiled: Path) -> dict[str, Any]:
    """Manifest of the compiled model."""
    return json.loads((compiled / "manifest.json").read_text())


def test_what_was_written_is_printed(model: Path, compiled: Path, manifest: dict[str, Any]):
    kernels, launches = len(manifest["kernels"]), len(manifest["launches"])
    folder = f"wrote {compiled}: {kernels} kernels, {launches} launches"
    printed = (model / "stderr").read_text().splitlines()
    assert printed[-2:] == [folder, f"wrote {model / 'plan.md'}"]


def test_nothing_else_is_written(compiled: Path, manifest: dict[str, Any]):
    written = {str(p.relative_to(compiled)) for p in compiled.rglob("*") if p.is_file()}
    expected = {"manifest.json", "plan.mlir", "kernels.cu", "constants.safetensors", "report.txt"}
    assert written == expected | {kernel["file"] for kernel in manifest["kernels"]}
    assert [path.name for path in compiled.parent.iterdir()] == ["gemma"]


def test_the_manifest_names_the_compiled_model(model: Path, manifest: dict[str, Any]):
    assert manifest["model"] == str(model)
    facts = ["family", "layers", "dtype", "attention", "seq_len", "target"]
    values = ["gemma", 2, "bfloat16", "sdpa", LENGTH, "sm_90a"]
    assert [manifest[fact] for fact in facts] == values
    assert manifest["torch"] == version("torch")


def test_the_plan_parses_back(compiled: Path, manifest: dict[str, Any]):
    plan = plan_of(read_module(str(compiled / "plan.mlir")))
    assert plan.source == (compiled / "kernels.cu").read_text()
    assert plan.slab.peak_bytes == manifest["slab_bytes"]
    assert [launch.kernel for launch in plan.launches] == [
        launch["kernel"] for launch in manifest["launches"]
    ]
    assert [plan.names[number] for number in plan.results] == manifest["results"]


def test_the_plan_is_also_written_beside(model: Path, manifest: dict[str, Any]):
    plan = (model / "plan.md").read_text()
    assert plan.startswith("```mermaid")
    assert all(kernel["name"] in plan for kernel in manifest["kernels"])


def test_launches_are_of_kernels_and_buffers_that_are_there(manifest: dict[str, Any]):
    inputs = [each["name"] for each in manifest["inputs"]]
    written = {each["name"] for each in manifest["buffers"]}
    assert not written & {*inputs}
    known = {*inputs}
    for launch in manifest["launches"]:
        assert known.issuperset(launch["inputs"])
        assert written.issuperset(launch["outputs"])
        known |= {*launch["outputs"]}
    assert known.issuperset(manifest["results"])
    launched = [launch["kernel"] for launch in manifest["launches"]]
    assert {k["name"]: k["launches"] for k in manifest["kernels"]} == {
        name: launched.count(name) for name in launched
    }


def test_parameters_are_those_of_the_checkpoint(manifest: dict[str, Any]):
    state = tiny_model(tiny_config("gemma", dtype="bfloat16", **SMALL)).state_dict()
    found: dict[str, tuple[list[int], str]] = {}
    for each in manifest["inputs"]:
        if each["kind"] == "parameter":
            names = [each["source"], *each.get("tied_to", [])]
            found |= dict.fromkeys(names, (each["shape"], each["dtype"]))
    assert found == {name: ([*value.shape], "bfloat16") for name, value in state.items()}


def test_what_is_in_no_checkpoint_is_beside(compiled: Path, manifest: dict[str, Any]):
    stored = import_module("safetensors.torch").load_file(compiled / "constants.safetensors")
    found = {each["source"]: each["file"] for each in manifest["inputs"] if "file" in each}
    assert found == dict.fromkeys(stored, "constants.safetensors")
    kinds = {each["source"]: each["kind"] for each in manifest["inputs"]}
    assert {*stored} == {name for name, kind in kinds.items() if kind in ("constant", "buffer")}
    buffers = dict(tiny_model(tiny_config("gemma", dtype="bfloat16", **SMALL)).named_buffers())
    for name in stored.keys() & buffers.keys():
        assert torch.equal(stored[name], buffers[name])
    assert "model.rotary_emb.inv_freq" in stored


@needs_nvrtc
def test_each_file_compiles_by_itself(compiled: Path, manifest: dict[str, Any]):
    for kernel in manifest["kernels"]:
        ptx = nvrtc.compile((compiled / kernel["file"]).read_text(), "sm_90a").ptx
        assert re.findall(r"\.entry (\w+)", ptx) == [kernel["name"]]


@needs_nvrtc
def test_the_report_is_of_all_kernels(compiled: Path, manifest: dict[str, Any]):
    report = (compiled / "report.txt").read_text()
    for kernel in manifest["kernels"]:
        assert f"\n{kernel['name']}<<<{kernel['grid']}, {kernel['block']}>>>" in report


def test_an_older_folder_is_replaced(tmp_path: Path):
    folder = tmp_path / "out"
    write_folder(folder, {"manifest.json": '{"tilewright": "0"}', "kernels/old.cu": ""})
    write_folder(folder, {"manifest.json": '{"tilewright": "1"}', "report.txt": b"\0"})
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "report.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("added", ["notes.txt", "kernels/exp.cubin", "build/report.txt"])
def test_what_was_added_to_an_older_folder_is_not_lost(added: str, tmp_path: Path):
    write_folder(tmp_path, {"manifest.json": '{"tilewright": "0"}', "kernels/exp.cu": ""})
    (tmp_path / added).parent.mkdir(exist_ok=True)
    (tmp_path / added).write_text("mine")
    with pytest.raises(UsageError, match=rf"did not write: .*{added} \(name another folder, or"):
        check_output_folder(tmp_path)
    assert (tmp_path / added).read_text() == "mine"


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write '.*/file/a/b': '.*/file' is a file"):
        check_output_folder(tmp_path / "file" / "a" / "b")
    monkeypatch.setattr("os.access", Mock(return_value=False))
    with pytest.raises(UsageError, match=r"cannot write '.*/a/b': the folder '.*' is read-only"):
        check_output_folder(tmp_path / "a" / "b")


@pytest.mark.parametrize("held", ["notes.txt", "manifest.json"])
def test_a_folder_of_something_else_is_refused(held: str, tmp_path: Path):
    (tmp_path / held).write_text('{"name": "extension"}')
    with pytest.raises(UsageError, match=r"the folder '.*' holds no compiled model"):
        write_folder(tmp_path, {"manifest.json": '{"tilewright": "1"}'})
    assert [path.name for path in tmp_path.iterdir()] == [held]


def test_an_empty_folder_is_filled(tmp_path: Path):
    write_folder(tmp_path, {"manifest.json": "{}"})
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_a_file_is_refused(tmp_path: Path):
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match=r"'.*out' is a file: the output is a folder"):
        write_folder(tmp_path / "out", {})


def test_what_fails_leaves_the_older_folder(tmp_path: Path):
    folder = tmp_path / "out"
    write_folder(folder, {"manifest.json": '{"tilewright": "0"}'})
    with pytest.raises(TilewrightError, match=r"cannot write '.*/out': "):
        write_folder(folder, {"manifest.json": "{}", "manifest.json/inside": ""})
    assert (folder / "manifest.json").read_text() == '{"tilewright": "0"}'
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from tilewright.models import folder

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

out = Path(sys.argv[1])
for place, name in [(folder, "copymode"), (folder, "exchange"), (folder, "rmtree")]:
    if (child := os.fork()) == 0:
        setattr(place, name, die)
        folder.write_folder(out, {"manifest.json": '{"tilewright": "1"}', "report.txt": ""})
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    print(*sorted(path.name for path in out.iterdir()))
"""


def test_a_kill_leaves_the_older_folder_or_the_new_one(tmp_path: Path):
    folder = tmp_path / "out"
    write_folder(folder, {"manifest.json": '{"tilewright": "0"}', "kernels/old.cu": ""})
    command = [sys.executable, "-c", _KILLED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    older, newer = "kernels manifest.json", "manifest.json report.txt"
    assert done.stdout.splitlines() == [older, older, newer]


def test_a_link_to_a_folder_stays_and_so_does_its_mode(tmp_path: Path):
    folder, link = tmp_path / "out", tmp_path / "link"
    write_folder(folder, {"manifest.json": '{"tilewright": "0"}'})
    folder.chmod(0o700)
    link.symlink_to("out")
    write_folder(link, {"manifest.json": '{"tilewright": "1"}'})
    assert link.is_symlink()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "manifest.json").read_text() == '{"tilewright": "1"}'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out"]
