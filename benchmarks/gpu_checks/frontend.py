# SPDX-License-Identifier: Apache-2.0
"""Stage `frontend`: some programs from the export of the installed PyTorch to machine code."""

from importlib.util import find_spec
from typing import Any

from gpu_checks.device import Device
from gpu_checks.outcome import Outcome, missing, right
from gpu_checks.places import ROOT

_EXAMPLES = ROOT / "examples"
_EXPRESSIONS = {
    "expression.norm": "torch.nn.RMSNorm(2048)(torch.randn(1, 32, 2048))",
    "expression.attention": "F.scaled_dot_product_attention(*[torch.randn(1, 4, 64, 64)] * 3)",
    "expression.statements": "x = torch.randn(4, 8); y = x @ x.T; F.softmax(y, -1)[:, ::2]",
}
_FILES = {"file.mlp": "mlp.py:Mlp", "file.gate": "gate.py:Gate"}
_LAYERS = {
    "layer.tinyllama": "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
    "layer.qwen": "Qwen/Qwen2.5-7B",
}


def items(device: Device) -> list[str]:
    """Return the names of expressions, files, and layers of models."""
    return [*_EXPRESSIONS, *_FILES, *_LAYERS]


def check(device: Device, item: str) -> Outcome:
    """Capture, lower and compile a program; return the outcome. Errors are raised."""
    if item in _LAYERS and find_spec("transformers") is None:
        return missing("transformers is not installed")
    from tilewright import api
    from tilewright.codegen import nvrtc
    from tilewright.codegen.host_function import plan_of
    from tilewright.codegen.launch_plan import SOURCE_NAME

    plan = plan_of(api.lower(_captured(item), "cuda", device.target))
    cubin = nvrtc.compile_cubin(plan.source, device.target, name=SOURCE_NAME).cubin
    return right(f"{len(plan.dynamic_shared_bytes)} kernels, {len(cubin)} bytes of machine code")


def _captured(item: str) -> Any:
    from tilewright.frontend.capture import capture

    if item in _LAYERS:
        from tilewright.models.block import decoder_block
        from tilewright.models.config import find_model

        model = decoder_block(find_model(_LAYERS[item]).config, 128, dtype="float32")
        return capture(model.module, model.args, model.kwargs)
    model = _file(_FILES[item]) if item in _FILES else _expression(_EXPRESSIONS[item])
    return capture(model.module, model.args, model.kwargs)


def _expression(text: str) -> Any:
    from tilewright.frontend.expression import parse_expression

    return parse_expression(text, fake=True)


def _file(name: str) -> Any:
    from tilewright.frontend.model_file import load_model

    return load_model(str(_EXAMPLES / name))
