# SPDX-License-Identifier: Apache-2.0
"""
Expected logits of a prompt, from the model of `transformers` itself, which reads its checkpoint
itself.

A comparison with them shows mistakes of this package in model and checkpoint, and not only in
kernels. The float64 results are those of the model with all its tensors in float64, after rounding
to the dtype that it computes in. Models for half types cast to float32 inside. The error that this
leaves is a third of that of the model in float32.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.arrays import array_of
from tilewright.errors import UsageError, one_line


class ExpectedLogits:
    """Expected logits of one prompt, each of shape `(1, tokens, vocabulary)`."""

    def __init__(self, folder: Path, model: Any, tokens: Sequence[int]):
        """
        Take the model's folder, and `model`, a structure of the model with the config and dtype to
        use.
        """
        self._folder, self._structure, self._tokens = folder, model, tokens

    def rounded(self) -> Any:
        """Return the logits computed in the model's own dtype."""
        return self._logits(self._model())

    def exact(self) -> Any:
        """Return the logits computed in float64."""
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
    """
    Hide the progress bar of `transformers`, and its table of unused weights, within the `with`
    block.
    """
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
