# SPDX-License-Identifier: Apache-2.0
"""`tilewright generate`: its output, and the requests it refuses."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from saved_models import load, save, save_tokenizer

from tilewright.tools.output.token_stream import print_tokens

from ..conftest import Tilewright
from .entered_stages import entered_stages

WORDS = ["<s>", "<unk>", "</s>", *(f"w{number}" for number in range(3, 100))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save(folder, "gpt2", initializer_range=0.3, n_layer=1)
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[int]:
    """The tokens that `transformers` adds to the tokens 5, 6, 7."""
    ids = torch.tensor([[5, 6, 7]])
    mask = torch.ones_like(ids)
    tokens = load(folder).generate(ids, attention_mask=mask, max_new_tokens=8, do_sample=False)
    return tokens[0, 3:].tolist()


def test_tokens_then_text(folder: Path, expected: list[int], tilewright: Tilewright):
    """The output is numbers without a tokenizer and text with one, up to the end token."""
    asked = ("generate", str(folder), "--device", "interpreter", "--prompt-ids", "5,6,7")
    plain = tilewright(*asked, "--max-new-tokens", "1")
    assert (plain.code, plain.out, plain.err) == (0, f"{expected[0]} \n", "")

    save_tokenizer(folder, WORDS)
    end = expected[3]
    until_end = expected[: expected.index(end) + 1]
    ends = json.dumps({"eos_token_id": [1, end]})
    (folder / "generation_config.json").write_text(ends)
    result = tilewright(*asked, "--max-new-tokens", "8", "-v")
    assert (result.code, result.out) == (0, " ".join(f"w{token}" for token in until_end) + "\n")
    assert result.err.startswith(f"{len(until_end)} tokens in ")
    assert "keys and values: 8192 B" in result.err
    assert "decode step, cache of 16" in result.err


def test_stages_are_reported(folder: Path, tilewright: Tilewright):
    asked = ("--device", "interpreter", "--prompt-ids", "5,6,7", "--max-new-tokens", "1")
    with entered_stages() as stages:
        assert tilewright("generate", str(folder), *asked).code == 0
    assert stages[:2] == ["build the model", "read weights"]
    assert {"capture the program", "interpret @main"} <= {*stages}


def test_numbers_are_printed_in_a_line(capsys: pytest.CaptureFixture[str]):
    print_tokens([5, 0, 17], None)
    assert capsys.readouterr().out == "5 0 17 \n"


@pytest.mark.every_case
def test_settings_of_the_generation_config(
    folder: Path, expected: list[int], tilewright: Tilewright
):
    """
    The config's penalty applies unless another is given; a warning names its ignored settings.
    """
    ignored = {"no_repeat_ngram_size": 2, "bad_words_ids": [[3]]}
    asked = {"repetition_penalty": 1e9, "do_sample": True, **ignored}
    (folder / "generation_config.json").write_text(json.dumps(asked))
    warning = (
        "warning: settings in generation_config.json are ignored: "
        "bad_words_ids, no_repeat_ngram_size\n"
    )
    repeated = expected[0]
    assert expected[1] == repeated
    prompt = ("--prompt-ids", f"5,6,7,{repeated}")
    given = (*prompt, "--max-new-tokens", "1", "--device", "interpreter")
    penalised = tilewright("generate", str(folder), *given)
    assert (penalised.code, penalised.err) == (0, warning)
    plain = tilewright("generate", str(folder), *given, "--repetition-penalty", "1")
    assert (plain.code, plain.err) == (0, warning)
    assert plain.out != penalised.out
    (folder / "generation_config.json").unlink()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ("--seed", "1"),
            "error: --seed needs sampling, but the likeliest token is taken "
            "(--temperature, --top-k or --top-p requests sampling)\n",
        ),
        (
            ("--temperature", "0"),
            "error: the temperature must be at least 1e-06 and finite, not 0 "
            "(leave it out: then the likeliest token is taken)\n",
        ),
        (
            ("--max-new-tokens", "80"),
            "error: the model takes at most 64 tokens, but a prompt of 2 and 80 new tokens are "
            "82\n",
        ),
        (
            ("--repetition-penalty", "0"),
            "error: a repetition penalty must be above 0 and finite, not 0 (1 has no effect)\n",
        ),
    ],
    ids=["seed", "temperature", "length", "penalty"],
)
def test_refusals(folder: Path, tilewright: Tilewright, argv: tuple[str, ...], message: str):
    asked = ("--prompt-ids", "5,6", "--max-new-tokens", "3", "--device", "interpreter", *argv)
    result = tilewright("generate", str(folder), *asked)
    assert (result.code, result.out, result.err) == (2, "", message)


@pytest.mark.parametrize("tokens", ["", "5,x", "5,,6", "-1"])
def test_a_prompt_of_no_tokens(folder: Path, tilewright: Tilewright, tokens: str):
    asked = (f"--prompt-ids={tokens}", "--max-new-tokens", "3")
    result = tilewright("generate", str(folder), *asked)
    assert result.code == 2
    assert f"'{tokens}' is not a list of tokens such as 1,2,3" in result.err


@pytest.mark.parametrize("command", [("generate", "--max-new-tokens", "3"), ("run",)])
def test_a_gpu_without_room(
    folder: Path,
    command: tuple[str, ...],
    tilewright: Tilewright,
    monkeypatch: pytest.MonkeyPatch,
):
    """The command fails before it reads weights that do not fit into the GPU's memory."""
    name, *options = command
    gpu = SimpleNamespace(name="gpu", device="cuda:0", run=print, load=print)
    monkeypatch.setattr(f"tilewright.tools.commands.{name}.backend_for", Mock(return_value=gpu))
    monkeypatch.setattr("tilewright.models.checkpoint.Checkpoint.tensor", None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", {"cuda:0": (100 << 10, 80 << 30)}.get)
    result = tilewright(name, str(folder), "--prompt-ids", "5", "--dtype", "float32", *options)
    assert (result.code, result.out) == (1, "")
    says = r"error: the weights take \d+\.\d KiB, and cuda:0 has 100 KiB free "
    assert re.fullmatch(says + r"\(--dtype bfloat16 takes half\)\n", result.err)


def test_a_config_without_weights(tilewright: Tilewright):
    name = "Qwen/Qwen2.5-7B"
    result = tilewright("generate", name, "--prompt", "a", "--max-new-tokens", "3")
    assert result.code == 2
    assert result.err == (
        f"error: only the config of '{name}' is available, and running needs its weights "
        "(name the folder that it was downloaded to)\n"
    )
