# SPDX-License-Identifier: Apache-2.0
"""`tilewright run MODEL --prompt TEXT`: the next tokens, and their check."""

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from needs import needs_nvrtc
from saved_models import change, load, save, save_tokenizer
from tiny_models import SMALL, SMALL_GPT2

from tilewright.codegen import simulator_backend
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.matrix_sums import MatrixSums
from tilewright.models import weights
from tilewright.tools import prompted_program
from tilewright.tools.commands import run

from .conftest import Tilewright

WORDS = ("<s>", "<unk>", *(f"word{number}" for number in range(2, 100)))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of one layer: a Llama with a tokenizer, a GPT-2 in bfloat16 without one."""
    folder = tmp_path_factory.mktemp("saved")
    save(folder / "llama", "llama", num_hidden_layers=1, tie_word_embeddings=True, **SMALL)
    save_tokenizer(folder / "llama", WORDS)
    save(folder / "gpt2", "gpt2", n_layer=1, dtype="bfloat16", **SMALL_GPT2)
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for this file's compiled programs: all prompts of one token share a program."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(autouse=True)
def compiled_once(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep compiled programs for the other tests of this file."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(programs))


def expected(folder: Path, tokens: list[int]) -> np.ndarray[Any, Any]:
    with torch.no_grad():
        return load(folder)(torch.tensor([tokens])).logits.float().numpy()


def stored_logits(path: str) -> torch.Tensor:
    tensors = import_module("safetensors.torch").load_file(path)
    assert tensors.keys() == {"logits"}
    return tensors["logits"]


@needs_nvrtc
def test_a_text_is_continued_and_checked(saved: Path, tilewright: Tilewright):
    given = ["--prompt", "word7 unknown", "--check", "-o", "out.safetensors", "--json", "out.json"]
    result = tilewright("run", str(saved / "llama"), "--device", "sim", *given)
    assert (result.code, result.err) == (0, "wrote out.safetensors\nwrote out.json\n")
    tokens = [0, 7, 1]
    logits = expected(saved / "llama", tokens)
    np.testing.assert_allclose(stored_logits("out.safetensors"), logits, atol=1e-6)

    report = json.loads(Path("out.json").read_text())
    best = np.argsort(-logits[0, -1])[:5]
    assert [row["token"] for row in report["next_tokens"]] == best.tolist()
    assert [row["text"] for row in report["next_tokens"]] == [WORDS[token] for token in best]
    [output] = report["outputs"]
    assert (output["shape"], output["dtype"], output["ok"]) == ([1, 3, 100], "float32", True)
    assert output["max_abs_err"] <= output["allowed_abs_err"] < 1e-5
    assert output["transformers_max_abs_err"] > 0

    lines = result.out.splitlines()
    assert lines[0].startswith("device sim, target sm_90a, ")
    assert lines[1] == "prompt 0 7 1"
    assert lines[3].split() == ["token", "logit", "text"]
    first = f"{best[0]} {logits[0, -1, best[0]]:.4f} '{WORDS[best[0]]}'"
    assert lines[4].split() == first.split()
    assert lines[-1] == "right"


@pytest.mark.every_case
@needs_nvrtc
def test_tokens_in_half_precision_are_continued_unchecked(saved: Path, tilewright: Tilewright):
    given = ["--prompt-ids", "42", "-o", "out.safetensors"]
    result = tilewright("run", str(saved / "gpt2"), "--device", "sim", *given)
    assert (result.code, result.err) == (0, "wrote out.safetensors\n")
    logits = stored_logits("out.safetensors")
    assert logits.dtype == torch.bfloat16
    np.testing.assert_allclose(logits.float(), expected(saved / "gpt2", [42]), atol=0.02)
    lines = result.out.splitlines()
    assert lines[3].split() == ["token", "logit"]
    assert lines[-1] == "not compared: --check compares with transformers"


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
def test_the_first_layers_alone(saved: Path, tilewright: Tilewright):
    shutil.copytree(saved / "gpt2", "more")
    change(Path("more"), _with_another_layer)
    config = json.loads(Path("more/config.json").read_text())
    Path("more/config.json").write_text(json.dumps(config | {"n_layer": 2}))
    given = ["--prompt-ids", "8", "--device", "sim", "--layers", "1", "--check"]
    result = tilewright("run", "more", *given)
    assert (result.code, result.out.splitlines()[-1]) == (0, "right")


def _with_another_layer(stored: dict[str, torch.Tensor]) -> None:
    """Add a layer 1 that equals layer 0."""
    layer = {name: tensor for name, tensor in stored.items() if ".h.0." in name}
    stored |= {name.replace(".h.0.", ".h.1."): tensor.clone() for name, tensor in layer.items()}


@needs_nvrtc
def test_wrong_weights_are_found_by_a_check(
    saved: Path, tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    def wrong(*given: Any) -> list[Any]:
        first, *rest = weights.weights_of(*given)
        return [first * 2, *rest]

    monkeypatch.setattr(prompted_program, "weights_of", wrong)
    given = ["--prompt-ids", "3", "--device", "sim", "--check"]
    result = tilewright("run", str(saved / "gpt2"), *given)
    assert result.code == 1
    assert result.out.splitlines()[-1] == "wrong"
    assert result.err.startswith("error: output 0 is wrong: the error is ")


@needs_nvrtc
def test_a_gpu_gets_the_tensors_of_the_files(
    saved: Path, tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    def simulated(
        device: str, target: str, blocks: int | None, matrix_sums: MatrixSums | None
    ) -> GpuBackend:
        return GpuBackend(target, SimulatedDriver())

    monkeypatch.setattr(run, "backend_for", simulated)
    given = ["--prompt-ids", "4", "--device", "gpu", "--target", "sm_90a"]
    result = tilewright("run", str(saved / "gpt2"), *given, "-o", "out.safetensors")
    assert (result.code, result.err) == (0, "wrote out.safetensors\n")
    logits = stored_logits("out.safetensors").float()
    np.testing.assert_allclose(logits, expected(saved / "gpt2", [4]), atol=0.02)


def test_a_program_beyond_the_simulators_budget(
    saved: Path, tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(simulator_backend, "DEFAULT_BUDGET", 100)
    folder = str(saved / "gpt2")
    result = tilewright("run", folder, "--prompt-ids", "1", "--device", "sim")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"error: simulating {folder} takes about ")
    assert result.err.endswith(" (use smaller sizes or a GPU)\n")


MISTAKES = {
    "run MODEL --prompt-ids 8 -o none/out.safetensors": (
        "cannot write 'none/out.safetensors': there is no folder 'none'"
    ),
    "run MODEL --prompt-ids 8 --json none/out.json": (
        "cannot write 'none/out.json': there is no folder 'none'"
    ),
    "run MODEL": "is a model, which needs a prompt (--prompt TEXT or --prompt-ids 1,2,3)",
    "run MODEL --prompt-ids 5,100,123": "no tokens: 100, 123 (the model's tokens are 0 to 99)",
    "run MODEL --prompt-ids 1,x": "'1,x' is not a list of tokens such as 1,2,3",
    "run MODEL --prompt-ids=": "'' is not a list of tokens such as 1,2,3",
    "run MODEL --prompt=": "the prompt is empty",
    "run MODEL --prompt x --prompt-ids 1": "not allowed with argument --prompt",
    "run MODEL --prompt-ids 1 --bench": "--bench cannot be combined with a MODEL's prompt",
    "run MODEL --prompt-ids 1 --seq-len 3": "--seq-len cannot be combined with a MODEL's prompt",
    "run MODEL --prompt-ids 1 --inputs x": "--inputs cannot be combined with a MODEL's prompt",
    "run MODEL --prompt-ids 1 --layers 9": "the model has 1 layers",
    "run -c torch.ones(1) --prompt x": "--prompt goes with a MODEL only",
    "run -c torch.ones(1) -o x": "-o goes with a MODEL only",
    "run x.mlir --prompt-ids 1": "--prompt-ids goes with a MODEL only",
}


@pytest.mark.parametrize("command", MISTAKES)
def test_mistakes(saved: Path, tilewright: Tilewright, command: str):
    for name in ("x", "x.mlir"):
        Path(name).touch()
    words = command.replace("MODEL", str(saved / "llama")).split()
    result = tilewright(*words)
    assert (result.code, result.out) == (2, "")
    assert MISTAKES[command] in result.err.splitlines()[-1]


def test_a_prompt_that_is_too_long(saved: Path, tilewright: Tilewright):
    tokens = ",".join(["1"] * 65)
    result = tilewright("run", str(saved / "llama"), "--prompt-ids", tokens)
    assert (result.code, result.err) == (2, "error: the model takes 1 to 64 tokens, not 65\n")


def test_a_text_without_a_tokenizer(saved: Path, tilewright: Tilewright):
    result = tilewright("run", str(saved / "gpt2"), "--prompt", "x")
    assert result.code == 2
    assert "has no tokenizer for --prompt" in result.err


def test_a_checkpoint_that_does_not_fit(saved: Path, tilewright: Tilewright):
    shutil.copytree(saved / "llama", "spoiled")
    change(Path("spoiled"), lambda stored: stored.pop("model.norm.weight"))
    result = tilewright("run", "spoiled", "--prompt-ids", "1", "--json", "out.json")
    message = "error: the checkpoint in 'spoiled' does not fit the model:\n  missing:\n"
    message += "    model.norm.weight"
    assert (result.code, result.err) == (2, f"wrote out.json\n{message}\n")
    assert json.loads(Path("out.json").read_text())["errors"] == [message]


def test_another_dtype_must_be_requested(saved: Path, tilewright: Tilewright):
    shutil.copytree(saved / "gpt2", "mixed")
    change(
        Path("mixed"),
        lambda stored: stored.update({name: tensor.float() for name, tensor in stored.items()}),
    )
    result = tilewright("run", "mixed", "--prompt-ids", "1")
    assert result.code == 2
    assert "transformer.wte.weight: float32, should be bfloat16" in result.err
    assert result.err.endswith("(--dtype DTYPE converts all weights to that dtype)\n")


def test_a_config_without_weights(
    tilewright: Tilewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    name = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"
    result = tilewright("run", name, "--prompt-ids", "1")
    assert result.code == 2
    assert result.err.startswith(f"error: only the config of '{name}' is available")
