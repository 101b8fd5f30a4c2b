# SPDX-License-Identifier: Apache-2.0
"""
Lookup of a model's config. A name is looked for in this order:

1. a local folder with a `config.json`;
2. the Hugging Face cache, which holds earlier downloads;
3. the Hugging Face hub, if it answers in time;
4. the configs that come with Tilewright, which are facts about two models, without weights.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError
from tilewright.models.config_file import FILE, read_config

BUNDLED: Mapping[str, str] = {
    "Qwen/Qwen2.5-7B": "qwen2.5-7b.json",
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": "tinyllama-1.1b-chat.json",
}
"""Files of the built-in configs in `configs/`, by model name."""

_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)

_PATIENCE = 3.0
"""Seconds within which the hub must answer."""


@dataclass(frozen=True)
class FoundModel:
    """Model that was found, described by its config."""

    name: str
    """Name by which the model was requested."""
    config: Any
    """Config of `transformers`, of one of the supported families."""
    folder: Path | None
    """
    Folder of the config, and of weights and tokenizer if there are any; None for a built-in config.
    """


def find_model(name: str) -> FoundModel:
    """
    Return the model called `name`: a local folder, or `ORGANISATION/MODEL` of the hub.

    Raises `UsageError` if there is none, or if its config cannot be read. Raises `UnsupportedError`
    if the model cannot be compiled. The model's own code is never run.
    """
    if find_spec("transformers") is None:
        raise UsageError(
            f"'{name}' is a model, which needs the package transformers",
            remedy="pip install tilewright[models]",
        )
    check_name(name)
    if Path(name).is_dir():
        return FoundModel(name, read_config(Path(name) / FILE), Path(name))
    path = _cached(name)
    problem = "" if path else _download(name)
    if path := path or _cached(name):
        return FoundModel(name, read_config(path), path.parent)
    if file := BUNDLED.get(name):
        bundled = Path(str(files("tilewright.models"))) / "configs" / file
        return FoundModel(name, read_config(bundled), None)
    raise UsageError(
        f"'{name}' is neither a folder nor in the Hugging Face cache, and {problem}",
        remedy=f"give a local folder, or one of {', '.join(BUNDLED)}, whose configs are built in",
    )


def is_repository(name: str) -> bool:
    """True if a name has the form of models on the hub: `ORGANISATION/MODEL`."""
    return _REPOSITORY.fullmatch(name) is not None


def check_name(name: str) -> None:
    """
    Raise `UsageError` unless `name` is a folder with a config, or has the form of a model on the
    hub.
    """
    if Path(name).is_dir():
        if not (Path(name) / FILE).is_file():
            remedy = "a model's folder is what save_pretrained writes"
            raise UsageError(f"the folder '{name}' has no {FILE}", remedy=remedy)
    elif not is_repository(name):
        remedy = "a model is a folder with a config.json, or ORGANISATION/MODEL of Hugging Face"
        raise UsageError(f"there is no folder '{name}'", remedy=remedy)


def _cached(name: str) -> Path | None:
    """
    Return the path of the config of the hub's model `name` in the Hugging Face cache; None if it
    was not downloaded.
    """
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(name, FILE)
    return Path(path) if isinstance(path, str) else None


def _download(name: str) -> str:
    """
    Download the config of the hub's model `name` into the cache. Return the reason why that failed;
    an empty text if it did not.
    """
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    hub: Any = import_module("huggingface_hub")
    if hub.is_offline_mode():
        return "HF_HUB_OFFLINE forbids requests to the hub"
    try:
        # A download retries for half a minute if there is no network; this request is sent once.
        hub.get_hf_file_metadata(hub.hf_hub_url(name, FILE), timeout=_PATIENCE)
        hub.hf_hub_download(name, FILE)
    except GatedRepoError:
        return "the hub requires a login and consent to its terms: hf auth login"
    except RepositoryNotFoundError:
        return "the hub has no model of that name"
    except HfHubHTTPError as error:
        return f"the hub answers {error.response.status_code} to a request for its {FILE}"
    except Exception as error:  # from any HTTP library that the hub's client uses
        return f"the hub cannot be reached: {error}"
    return ""
