# SPDX-License-Identifier: Apache-2.0
"""Places where a model's config is looked for, and errors for configs that cannot be used."""

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tiny_models import tiny_config

from tilewright.errors import UnsupportedError, UsageError
from tilewright.models import config as lookup
from tilewright.models.config import BUNDLED, find_model
from tilewright.models.structure import build, fake_mode
from tilewright.models.whole import whole_sequence


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of a model, with its config only."""
    tiny_config("llama", architectures=["LlamaForCausalLM"]).save_pretrained(tmp_path)
    return tmp_path


def changed(folder: Path, **facts: Any) -> str:
    """Add `facts` to the folder's config; return the folder."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))
    return str(folder)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty Hugging Face cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def put_into(cache: Path, repository: str) -> Path:
    """Put a model into the cache, laid out as the hub's client does; return its folder."""
    model = cache / f"models--{repository.replace('/', '--')}"
    snapshot = model / "snapshots" / "0123abc"
    tiny_config("qwen2").save_pretrained(snapshot)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0123abc")
    return snapshot


def test_a_folder_is_read(folder: Path):
    found = find_model(str(folder))
    assert (found.config.model_type, found.folder) == ("llama", folder)


def test_a_folder_named_like_a_repository_comes_first(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    put_into(cache, "Qwen/Qwen2.5-7B")
    monkeypatch.chdir(folder)
    tiny_config("gpt2").save_pretrained("Qwen/Qwen2.5-7B")
    assert find_model("Qwen/Qwen2.5-7B").config.model_type == "gpt2"


def test_the_cache_comes_before_the_bundled_configs(cache: Path):
    snapshot = put_into(cache, "Qwen/Qwen2.5-7B")
    found = find_model("Qwen/Qwen2.5-7B")
    assert found.config.hidden_size == 64
    assert found.folder == snapshot


def test_the_hub_comes_before_the_bundled_configs(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", Mock())

    def download(name: str, file: str) -> None:
        assert file == "config.json"
        put_into(cache, name)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    assert find_model("Qwen/Qwen2.5-7B").config.hidden_size == 64


def test_a_silent_hub_gets_one_request(cache: Path, monkeypatch: pytest.MonkeyPatch):
    requests: list[str] = []

    def fail(url: str, timeout: float) -> None:
        assert timeout <= 5
        requests.append(url)
        raise OSError("Name or service not known")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", fail)
    assert find_model("Qwen/Qwen2.5-7B").folder is None
    with pytest.raises(UsageError, match="cannot be reached: Name or service not known"):
        find_model("nobody/nothing")
    assert [url.split("/")[4] for url in requests] == ["Qwen2.5-7B", "nothing"]


@pytest.mark.parametrize(
    ("name", "family", "layers", "parameters"),
    [
        ("Qwen/Qwen2.5-7B", "qwen2", 28, 7_615_616_512),
        ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "llama", 22, 1_100_048_384),
    ],
)
def test_bundled_configs_are_of_the_models_they_name(
    name: str, family: str, layers: int, parameters: int, cache: Path
):
    found = find_model(name)
    assert (found.config.model_type, found.config.num_hidden_layers) == (family, layers)
    assert found.folder is None
    assert sum(p.numel() for p in build(found.config).parameters()) == parameters


def test_an_unknown_name_lists_the_places_searched(cache: Path):
    with pytest.raises(UsageError) as caught:
        find_model("nobody/nothing")
    assert str(caught.value) == (
        "'nobody/nothing' is neither a folder nor in the Hugging Face cache, and HF_HUB_OFFLINE "
        f"forbids requests to the hub (give a local folder, or one of {', '.join(BUNDLED)}, whose "
        "configs are built in)"
    )


def test_a_missing_folder():
    with pytest.raises(UsageError, match=r"there is no folder '\./no/such/model' "):
        find_model("./no/such/model")


def test_a_folder_without_config(tmp_path: Path):
    with pytest.raises(UsageError, match=r"the folder '.*' has no config.json"):
        find_model(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: Expecting property name"),
        ("[]", "holds no JSON object"),
        ('{"model_type": "llama", "rms_norm_eps": NaN}', "is not JSON: NaN is no number"),
        ('{"rope_parameters": {"factor": -Infinity}}', "is not JSON: -Infinity is no number"),
        ("[" * 100_000, "is nested too deeply"),
        ("{}", "is not a model's config: it has no model_type"),
        ('{"model_type": ["llama"]}', "is not a model's config: it has no model_type"),
        ('{"model_type": "llama", "hidden_size": "wide"}', "is not a model's config: "),
    ],
)
def test_a_config_that_cannot_be_read(text: str, message: str, tmp_path: Path):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        find_model(str(tmp_path))


def test_a_family_that_is_not_supported(folder: Path):
    with pytest.raises(UnsupportedError) as caught:
        find_model(changed(folder, model_type="mamba"))
    assert str(caught.value) == (
        f"'{folder}/config.json' describes a model of the family 'mamba' (supported are Llama, "
        "Qwen2, Qwen3, Mistral, GPT-2, Gemma)"
    )


def test_a_family_is_recognised_by_more_than_its_name(folder: Path):
    kinds = ["full_attention", "sliding_attention"]
    with pytest.raises(UnsupportedError, match="of the family 'ministral'"):
        find_model(changed(folder, model_type="mistral", layer_types=kinds))


def test_a_model_that_predicts_no_tokens(folder: Path):
    message = "describes a LlamaForSequenceClassification, which is not a causal language model"
    with pytest.raises(UnsupportedError, match=message):
        find_model(changed(folder, architectures=["LlamaForSequenceClassification"]))


@pytest.mark.parametrize("architectures", [-1, {"a": "b"}, "Llama"], ids=str)
def test_architectures_that_are_no_list(architectures: Any, folder: Path):
    message = re.escape(f"its architectures are {architectures!r} (supported are ...ForCausalLM")
    with pytest.raises(UsageError, match=message):
        find_model(changed(folder, architectures=architectures))


def test_quantised_weights(folder: Path):
    with pytest.raises(UnsupportedError, match="describes a model with quantised weights"):
        find_model(changed(folder, quantization_config={"quant_method": "gptq", "bits": 4}))


@pytest.mark.parametrize(
    ("family", "facts", "message"),
    [
        ("mistral", {"sliding_window": 0}, "sliding_window is 0, but must be 1 to 1073741824$"),
        ("mistral", {"sliding_window": -3}, "sliding_window is -3, but"),
        (
            "llama",
            {"num_hidden_layers": -1, "vocab_size": 0},
            r"layers is -1, .*, vocab_size is 0, but",
        ),
        ("llama", {"num_attention_heads": 0}, "num_attention_heads is 0, but must be 1 to 4096$"),
        ("gpt2", {"n_layer": 0}, "n_layer is 0, but must be 1 to 1000$"),
        ("llama", {"rope_theta": 0}, "rope_theta is 0, but must be a number above 0$"),
        ("qwen2", {"rope_scaling": {"type": "linear", "factor": -2.0}}, "factor is -2.0, but"),
        ("llama", {"num_hidden_layers": 1e9}, "num_hidden_layers is 1000000000.0, but must be 1"),
        ("qwen2", {"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000, but must be 1"),
        (
            "qwen3",
            {"num_hidden_layers": 10**4000},
            r"layers is 10{15}\.\.\. \(4001 characters\), but",
        ),
        ("gpt2", {"n_layer": 2.0}, "n_layer is 2.0, but must be 1 to 1000$"),
        ("llama", {"num_hidden_layers": "2"}, "num_hidden_layers is '2', but must be 1 to 1000$"),
        ("llama", {"num_hidden_layers": True}, "num_hidden_layers is True, but"),
        ("llama", {"num_hidden_layers": None}, "num_hidden_layers is null, but"),
        (
            "mistral",
            {"hidden_size": 1 << 40},
            "hidden_size is 1099511627776, but must be 1 to 131072$",
        ),
        ("gemma", {"vocab_size": [100]}, "vocab_size is .100., but must be 1 to 8388608$"),
        ("llama", {"rms_norm_eps": "1e-6"}, "rms_norm_eps is '1e-6', but must be a number above"),
        ("llama", {"head_dim": 1e300}, r"head_dim is 1e\+300, but must be 1 to 4096$"),
    ],
)
def test_numbers_that_no_model_has(
    family: str, facts: dict[str, Any], message: str, tmp_path: Path
):
    tiny_config(family).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match="is not a model's config: .*" + message):
        find_model(changed(tmp_path, **facts))


@pytest.mark.parametrize(
    ("family", "facts", "message"),
    [
        ("llama", {"num_key_value_heads": 3}, "4 query heads cannot share 3 key heads$"),
        ("qwen3", {"num_key_value_heads": 8}, "4 query heads cannot share 8 key heads$"),
        ("llama", {"head_dim": 3}, "heads of odd size 3 cannot be rotated$"),
        ("qwen2", {"hidden_size": 12, "head_dim": None}, "heads of odd size 3 cannot"),
    ],
)
def test_heads_that_do_not_go_together(
    family: str, facts: dict[str, Any], message: str, tmp_path: Path
):
    tiny_config(family).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match="is not a model's config: " + message):
        find_model(changed(tmp_path, **facts))


@pytest.mark.parametrize(
    "facts",
    [
        {"rope_type": "dynamic", "factor": 2.0},
        {
            "rope_type": "longrope",
            "original_max_position_embeddings": 16,
            "short_factor": [1.0] * 8,
            "long_factor": [2.0] * 8,
        },
    ],
)
def test_rotary_embeddings_that_depend_on_the_length(facts: dict[str, Any], folder: Path):
    rope = {"rope_theta": 10000.0} | facts
    with pytest.raises(UnsupportedError, match=f"of the type '{facts['rope_type']}', which depend"):
        find_model(changed(folder, rope_parameters=rope))


@pytest.mark.parametrize("place", ["rope_parameters", "rope_scaling"])
@pytest.mark.parametrize("fact", [{"rope_type": "spiral"}, {"type": "spiral"}])
def test_rotary_embeddings_of_an_unknown_type(place: str, fact: dict[str, str], folder: Path):
    message = (
        f"config.json' is not a model's config: {place} is of the unknown type 'spiral' (known "
    )
    with pytest.raises(UsageError, match=re.escape(message) + r"are default, linear, .*, llama3\b"):
        find_model(changed(folder, **{"rope_parameters": None, place: fact}))


@pytest.mark.parametrize(
    ("family", "fact"),
    [("llama", {"is_causal": False}), ("gemma", {"use_bidirectional_attention": True})],
)
def test_tokens_that_attend_to_later_ones(family: str, fact: dict[str, bool], tmp_path: Path):
    tiny_config(family).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match="whose tokens attend to later tokens"):
        find_model(changed(tmp_path, **fact))


@pytest.mark.parametrize(
    "fact", ["output_attentions", "output_hidden_states", "return_dict", "use_cache"]
)
def test_a_model_returns_only_its_logits(fact: str, folder: Path):
    was = find_model(str(folder)).config
    model = build(find_model(changed(folder, **{fact: not getattr(was, fact)})).config)
    program = whole_sequence(model, 4)
    with fake_mode(model):
        assert [*program.module(**program.kwargs)] == ["logits"]


def test_code_of_the_models_own_is_not_run(folder: Path):
    (folder / "own.py").write_text("raise SystemExit('was run')")
    own = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    assert type(find_model(changed(folder, auto_map=own)).config).__name__ == "LlamaConfig"


def test_without_transformers_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lookup, "find_spec", Mock(return_value=None))
    with pytest.raises(UsageError, match=r"needs the package transformers \(pip install tilewri"):
        find_model(str(folder))
