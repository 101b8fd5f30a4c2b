# SPDX-License-Identifier: Apache-2.0
"""Models with random weights continue prompts as `transformers` does, token for token."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from needs import needs_nvrtc
from tiny_models import MODEL_TYPES, SMALL, tiny_config, tiny_model
from xdsl.dialects import memref
from xdsl.dialects.builtin import f32
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import BlockArgument

from tilewright.codegen.execution import backend_for
from tilewright.codegen.simulator import SimulationTooLarge
from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.models.bound_program import Run
from tilewright.models.decode_step import capture_decode_step
from tilewright.models.generation import Generator
from tilewright.models.key_values import Rows
from tilewright.models.prefill import capture_prefill
from tilewright.models.sampling import greedy, penalised
from tilewright.models.structure import build
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools.model_runs import Compiler, interpreted

SPREAD = {"initializer_range": 0.3}
"""Config in which weights are large enough for texts of different tokens."""


def prompt_of(length: int) -> list[int]:
    tokens = torch.randint(0, 100, (length,), generator=torch.Generator().manual_seed(1))
    return [int(token) for token in tokens]


def continued_by_transformers(
    model: Any, prompt: Sequence[int], new: int, ends: list[int] | None = None, **options: Any
) -> list[int]:
    ids = torch.tensor([prompt])
    tokens = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=new,
        do_sample=False,
        eos_token_id=ends,
        pad_token_id=0,
        **options,
    )
    return tokens[0, len(prompt) :].tolist()


def check_texts(model: Any, generator: Generator, *cases: tuple[int, int]) -> None:
    """
    Check that the generated tokens equal those of `transformers`, for cases of (prompt length, new
    tokens). Not all tokens may be equal.
    """
    seen = {token for case in cases for token in _check_text(model, generator, *case)}
    assert len(seen) > 1


def _check_text(model: Any, generator: Generator, length: int, new: int) -> list[int]:
    prompt = prompt_of(length)
    expected = continued_by_transformers(model, prompt, new)
    assert [*generator.tokens(prompt, new)] == expected
    return expected


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model(tiny_config("llama", **SPREAD))


@pytest.fixture(scope="module")
def generator(model: Any) -> Generator:
    return Generator(model, interpreted)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("length", "new"),
    [
        pytest.param(5, 13, id="the text grows out of the prompt's bucket"),
        pytest.param(16, 4, id="the prompt fills its bucket"),
        pytest.param(17, 3, id="the prompt is just too long for a bucket"),
    ],
)
def test_the_likeliest_tokens(model: Any, generator: Generator, length: int, new: int):
    check_texts(model, generator, (length, new))


@pytest.mark.usefixtures("every_case")
def test_of_another_family():
    model = tiny_model(tiny_config("gpt2", n_layer=1, **SPREAD))
    check_texts(model, Generator(model, interpreted), (5, 20))


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("family", MODEL_TYPES)
def test_of_any_family(family: str, attention: str):
    model = tiny_model(tiny_config(family, **SPREAD), attention)
    check_texts(model, Generator(model, interpreted), (5, 20), (16, 4), (17, 3))


def test_programs_are_compiled_once_for_each_bucket(generator: Generator):
    for length, new in ((3, 16), (15, 10), (16, 4), (17, 3), (20, 1)):
        assert len([*generator.tokens(prompt_of(length), new)]) == new
    assert [*generator.programs] == [
        "prefill of 16, cache of 32",
        "decode step, cache of 32",
        "prefill of 32, cache of 32",
    ]


def test_one_token_takes_no_step():
    def run_nothing(captured: Captured) -> Run:
        logits = torch.zeros(100)
        logits[7] = 1
        return lambda values: [*values[-4:], logits]

    generator = Generator(tiny_model(tiny_config("llama")), run_nothing)
    assert [*generator.tokens(prompt_of(3), 1)] == [7]
    assert [*generator.programs] == ["prefill of 16, cache of 16"]


def test_a_text_ends_with_any_of_the_tokens_that_end_it(model: Any, generator: Generator):
    prompt = prompt_of(5)
    whole = continued_by_transformers(model, prompt, 20)
    ends = [whole[9], whole[4]]
    expected = continued_by_transformers(model, prompt, 20, ends)
    assert [*generator.tokens(prompt, 20, ends=ends)] == expected
    assert len(expected) < 20
    assert [*generator.tokens(prompt, 20, ends=[whole[0]])] == whole[:1]


def test_tokens_that_the_text_has_are_penalised(model: Any, generator: Generator):
    prompt = prompt_of(5)
    expected = continued_by_transformers(model, prompt, 20, repetition_penalty=1.8)
    assert [*generator.tokens(prompt, 20, penalised(greedy, 1.8))] == expected
    assert expected != continued_by_transformers(model, prompt, 20)


def test_what_fills_up_a_bucket_is_never_read(model: Any, generator: Generator):
    prompt = prompt_of(5)
    tokens = generator.tokens(prompt, 20)
    chosen = [next(tokens)]
    for rows in (tensor[:, :, len(prompt) :] for layer in generator.rows for tensor in layer):
        rows.fill_(1000.0)
    assert [*chosen, *tokens] == continued_by_transformers(model, prompt, 20)


def contents(rows: Sequence[Rows]) -> list[torch.Tensor]:
    return [tensor.clone() for layer in rows for tensor in layer]


def test_a_step_writes_its_row_and_no_other(generator: Generator):
    prompt = prompt_of(5)
    tokens = generator.tokens(prompt, 20)
    next(tokens)
    addresses = [tensor.data_ptr() for layer in generator.rows for tensor in layer]
    for place in range(len(prompt), len(prompt) + 3):
        before = contents(generator.rows)
        next(tokens)
        for old, new in zip(before, contents(generator.rows), strict=True):
            changed = (old != new).any(3).any(1).flatten()
            assert [n for n, is_changed in enumerate(changed) if is_changed] == [place]
    assert [tensor.data_ptr() for layer in generator.rows for tensor in layer] == addresses


def check_what_layers_store(family: str) -> None:
    """
    Check that all layers are one function, which writes to rows of the cache, but to no other
    input.
    """
    layers = {"n_layer": 2} if family == "gpt2" else {"num_hidden_layers": 2}
    model = build(tiny_config(family, **layers))
    for captured in (capture_prefill(model, 16, 32), capture_decode_step(model, 32)):
        module = lower(captured.module, Level.LOOP)
        main, layer = (op for op in module.ops if isinstance(op, FuncOp))
        assert sum(isinstance(op, CallOp) for op in main.walk()) == 2
        launches = [op for op in layer.walk() if isinstance(op, loop.LaunchOp)]
        updated = {v for op in launches for v in op.outputs if isinstance(v, BlockArgument)}
        assert {value.name_hint for value in updated} == {"keys", "values"}


def test_layers_are_one_function_that_stores_only_new_rows():
    check_what_layers_store("llama")


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("family", MODEL_TYPES)
def test_layers_of_any_family_are_one_function(family: str):
    check_what_layers_store(family)


def check_what_a_step_stores(family: str, attention: str, *numbers: int):
    """
    Check that no value for all rows of the cache is stored: masks and scores are made where they
    are used. The number of kernels must not depend on the number of layers.
    """
    kernels: list[int] = []
    for layers in numbers:
        changed = {"n_layer" if family == "gpt2" else "num_hidden_layers": layers}
        model = build(tiny_config(family, **changed), attention=attention)
        module = lower(capture_decode_step(model, 48).module, Level.LOOP)
        stored = [memref_type(o.memref) for o in module.walk() if isinstance(o, memref.AllocOp)]
        assert {type.element_type for type in stored} == {f32}
        assert not [type for type in stored if 48 in type.get_shape()]
        kernels.append(sum(isinstance(op, loop.KernelOp) for op in module.walk()))
    assert len({*kernels}) == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("attention", "numbers"), [("sdpa", (2, 3)), ("eager", (2,))])
def test_no_mask_is_stored(attention: str, numbers: tuple[int, ...]):
    check_what_a_step_stores("mistral", attention, *numbers)


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("family", MODEL_TYPES)
def test_no_mask_of_any_family_is_stored(family: str, attention: str):
    check_what_a_step_stores(family, attention, 2, 3)


@pytest.mark.every_case
@needs_nvrtc
def test_on_the_simulator():
    model = tiny_model(tiny_config("llama", num_hidden_layers=1, **SMALL, **SPREAD))
    generator = Generator(model, Compiler(backend_for("sim", "sm_90a"), "sm_90a", False))
    check_texts(model, generator, (5, 2))


def test_what_is_too_large_for_the_simulator_is_not_compiled():
    model = build(tiny_config("llama", hidden_size=4096, intermediate_size=32768))
    compile = Compiler(backend_for("sim", "sm_90a"), "sm_90a", False)
    with pytest.raises(SimulationTooLarge, match="the model"):
        compile(capture_prefill(model, 16, 16))
    assert compile.programs == []


@pytest.mark.parametrize(
    ("length", "new", "message"),
    [
        (60, 5, "the model takes at most 64 tokens, but a prompt of 60 and 5 new tokens are 65"),
        (3, 0, "the number of new tokens must be at least 1, not 0"),
    ],
)
def test_refusals(generator: Generator, length: int, new: int, message: str):
    with pytest.raises(UsageError) as err:
        generator.tokens(prompt_of(length), new)
    assert str(err.value) == message
