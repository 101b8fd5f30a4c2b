# SPDX-License-Identifier: Apache-2.0
"""
What the logits of a prompt should be: by the model of `transformers` itself, which reads its
checkpoint itself. So mistakes of ours in either show, and not in the kernels alone.

The float64 results are those of the model with all its tensors in float64, after they were rounded
to the dtype that it computes in. Models cast to float32 inside, where they are made for half types:
that leaves an error, which is a third of that of the model in float32.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.arrays import array_of
from tilewright.errors import UsageError, one_line


class ExpectedLogits:
    """The logits of one prompt, each of shape `(1, tokens, vocabulary)`."""

    def __init__(self, folder: Path, model: Any, tokens: Sequence[int]):
        """`model` is the structure of the model that is in `folder`: its config and dtype count."""
        self._folder, self._structure, self._tokens = folder, model, tokens

    def rounded(self) -> Any:
        """In the model's own dtype."""
        return self._logits(self._model())

    def exact(self) -> Any:
        """In float64."""
        return self._logits(self._model().double())

    def _model(self) -> Any:
        auto: Any = import_module("transformers").AutoModelForCausalLM
        config = self._structure.config
        try:
            with _quiet():
                model = auto.from_pretrained(
                    self._folder,
                    config=config,
                    dtype=self._structure.dtype,
                    attn_implementation=config._attn_implementation,
                    local_files_only=True,
                    use_safetensors=True,
                )
        except Exception as error:  # each family has exceptions of its own
            raise UsageError(
                f"transformers cannot load '{self._folder}': {one_line(error)}"
            ) from error
        return model.eval()

    def _logits(self, model: Any) -> Any:
        import torch

        with torch.no_grad():
            output = model(input_ids=torch.tensor([self._tokens]), use_cache=False)
        return array_of(output.logits)


@contextmanager
def _quiet() -> Generator[None]:
    """Keep off stderr the bar of `transformers`, and its table of what it does not use."""
    logging = import_module("transformers.utils.logging")
    was_shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if was_shown:
            logging.enable_progress_bar()
