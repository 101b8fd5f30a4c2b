# SPDX-License-Identifier: Apache-2.0
"""
A launch plan as a stand-alone CUDA program that needs nothing of Tilewright.

It consists of the kernels and a `main`, which runs the kernels on saved inputs, compares with saved
results and prints the time. `host_program.cuh` is the part that is identical for all plans. The
kernels are in a namespace, so that their names do not clash with functions of the C library.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from tilewright.codegen.launch_plan import Fill, Launch, MapOf, Plan
from tilewright.codegen.loading import Array, loaded_array
from tilewright.codegen.runtime.fill_pattern import words_in
from tilewright.codegen.runtime.tensor_map import encoding

_C_TYPES: Mapping[str, str] = {
    "float16": "kernels::half",
    "bfloat16": "kernels::bfloat16",
    "float32": "float",
    "float64": "double",
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
}
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_ITERATIONS = 100


@dataclass(frozen=True)
class Expected:
    """Expected value of a result, and the largest error allowed for its floats."""

    array: Array
    allowed: float


def saved_data(plan: Plan, inputs: Sequence[Array], expected: Sequence[Expected]) -> bytes:
    """
    Return the bytes of the inputs, in the layout that kernels read, then of the results, without
    gaps.
    """
    plan.check_inputs(list(inputs))
    loaded = (loaded_array(array, plan.permuted.get(n), 1) for n, array in enumerate(inputs))
    results = (each.array for each in expected)
    return b"".join(np.ascontiguousarray(array).tobytes() for array in (*loaded, *results))


def host_program(plan: Plan, expected: Sequence[Expected], data_name: str, target: str) -> str:
    """
    Return the text of a CUDA program that runs a plan.

    The program reads `saved_data` from the file named in its argument. The default is `data_name`
    in the current folder.
    """
    shared = files("tilewright.codegen").joinpath("host_program.cuh").read_text(encoding="utf-8")
    kernels = plan.source.replace('extern "C" __global__', "__global__").strip()
    head = (
        "// Made by Tilewright. It needs CUDA 12.5 or later, and links with the runtime alone:\n"
        f"//   nvcc -std=c++17 -O3 --fmad=false {_code_options(target)} FILE.cu -o program\n"
        "//   ./program [DATA]\n"
        "// Exit code 0: all results are right. 1: one is wrong, or nothing could run."
    )
    main = "\n".join(_Main(plan, expected, data_name).lines())
    parts = [head, "namespace kernels {", kernels, "}  // namespace kernels", shared.strip(), main]
    return "\n\n".join(parts) + "\n"


def _code_options(target: str) -> str:
    number = target.removeprefix("sm_")
    return f"-gencode=arch=compute_{number},code=sm_{number}"


class _Main:
    """Printer of the function `main`, in which `b[N]` is buffer N of the plan."""

    def __init__(self, plan: Plan, expected: Sequence[Expected], data_name: str):
        self.plan = plan
        self.expected = expected
        self.data_name = data_name
        maps = (map for launch in plan.launches for map in launch.tensor_maps)
        self.maps = {map: f"map{n}" for n, map in enumerate(dict.fromkeys(maps))}

    def lines(self) -> Iterator[str]:
        yield "int main(int argc, char **argv) {"
        for line in self._body():
            yield f"  {line}" if line else ""
        yield "}"

    def _body(self) -> Iterator[str]:
        yield f"const char *path = argc > 1 ? argv[1] : {_quoted(self.data_name)};"
        yield 'FILE *data = std::fopen(path, "rb");'
        yield 'if (data == nullptr) host::stop(std::string("cannot read ") + path);'
        yield f"std::vector<unsigned char *> b({max(1, len(self.plan.buffers))});"
        yield from self._memory()
        yield from (self._fill(fill) for fill in self.plan.kept)
        yield from self._preparations()
        yield ""
        yield "const auto run = [&] {"
        for launch in self.plan.launches:
            yield from (f"  {self._fill(fill)}" for fill in launch.fills)
            yield from (f"  {line}" for line in self._launch(launch))
        yield "};"
        yield ""
        yield "run();"
        yield 'host::check(cudaGetLastError(), "a launch");'
        yield 'host::check(cudaDeviceSynchronize(), "the kernels");'
        yield "bool right = true;"
        for position, each in enumerate(self.expected):
            yield from self._comparison(position, self.plan.results[position], each)
        yield f"const double us = host::median_us(run, {_ITERATIONS});"
        yield (
            f'std::printf("{len(self.plan.launches)} launches: %.2f us, '
            f'median of {_ITERATIONS}\\n", us);'
        )
        yield "return right ? 0 : 1;"

    def _memory(self) -> Iterator[str]:
        plan = self.plan
        if plan.slab.slots:
            yield f"unsigned char *const slab = host::allocate({plan.slab.peak_bytes});"
        for number, type in enumerate(plan.buffers):
            slot = plan.slab.slots.get(number)
            memory = f"host::allocate({type.bytes})" if slot is None else f"slab + {slot.start}"
            yield f"b[{number}] = {memory};  // {plan.names[number]}, {type}"
        for number, type in enumerate(plan.buffers[: len(plan.inputs)]):
            name = _quoted(plan.names[number])
            yield f"host::upload(b[{number}], host::read(data, {type.bytes}, {name}), {name});"

    def _preparations(self) -> Iterator[str]:
        for kernel, size in self.plan.dynamic_shared_bytes.items():
            if size:
                pointer = f"reinterpret_cast<const void *>(&kernels::{kernel})"
                yield f'host::allow_shared({pointer}, {size}, "{kernel}");'
        for map, name in self.maps.items():
            yield from self._tensor_map(name, map)

    def _tensor_map(self, name: str, map: MapOf) -> Iterator[str]:
        dtype = self.plan.buffers[map.buffer].dtype
        e = encoding(map, dtype.name, dtype.itemsize)
        yield f"const auto {name} = host::tensor_map<kernels::TensorMap>("
        yield f"    b[{map.buffer}], CUtensorMapDataType({e.dtype}), {_braced(e.extents)},"
        yield (
            f"    {_braced(e.strides)}, {_braced(e.box)}, "
            f"CUtensorMapSwizzle({e.swizzle}));  // {dtype}"
        )

    def _fill(self, fill: Fill) -> str:
        type = self.plan.buffers[fill.buffer]
        size = type.dtype.itemsize
        (bits,) = words_in(type.dtype, fill.value, size)
        return f"host::fill<{_WORDS[size]}>(b[{fill.buffer}], {bits:#x}, {type.elements});"

    def _launch(self, launch: Launch) -> Iterator[str]:
        arguments = [self.maps[map] for map in launch.tensor_maps]
        arguments += [self._pointer(number, "const ") for number in launch.inputs]
        arguments += [self._pointer(number, "") for number in launch.outputs]
        sizes = f"{launch.grid}, {launch.block}, {launch.dynamic_shared_bytes}"
        yield f"kernels::{launch.kernel}<<<{sizes}>>>("
        yield from (f"    {argument}," for argument in arguments[:-1])
        yield f"    {arguments[-1]});"

    def _pointer(self, number: int, const: str) -> str:
        type = _C_TYPES[self.plan.buffers[number].dtype.name]
        return f"reinterpret_cast<{const}{type} *>(b[{number}])"

    def _comparison(self, position: int, number: int, expected: Expected) -> Iterator[str]:
        type = self.plan.buffers[number]
        kind = type.dtype.name if type.dtype.name in _FLOATS else "exact"
        name = f'"result {position}"'
        read = f"host::read(data, {type.bytes}, {name})"
        yield f"right &= host::is_right({name}, b[{number}], {read}, {type.dtype.itemsize},"
        yield f"                        host::{kind}, {expected.allowed!r});"


def _quoted(text: str) -> str:
    """
    Return a C++ string literal of UTF-8 bytes; bytes that are not plain ASCII are octal escapes.
    """
    return '"' + "".join(_shown(byte) for byte in text.encode()) + '"'


def _shown(byte: int) -> str:
    is_plain = 32 <= byte < 127 and byte not in b'"\\?'
    return chr(byte) if is_plain else f"\\{byte:03o}"


def _braced(sizes: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, sizes)) + "}"
