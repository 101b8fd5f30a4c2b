# SPDX-License-Identifier: Apache-2.0
"""`tilewright sim`: findings at lines of CUDA and PTX, changed arrays, and errors of one line."""

import json
from pathlib import Path

import numpy as np
import pytest
from example_package import ROOT
from needs import needs_nvrtc

from tilewright.tools.input.launch_arguments import DTYPES

from ..conftest import Tilewright

pytestmark = needs_nvrtc

EXAMPLE = (ROOT / "examples/sim/transpose.cu").read_text()
LAUNCH = ("--grid", "2,2", "--block", "32,32")
ITEMS = ("f32[33,40]=arange", "f32[40,33]", "i32=33", "i32=40")

SCALE = """\
__global__ void scale(float* x, const float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
"""

PTX = """\
.version 8.0
.target sm_90
.address_size 64
/* one store,
   and no check of its index */
.visible .entry store(.param .u64 to, .param .f32 value)
{
  .reg .b64 %rd<4>;  .reg .b32 %r<3>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [to];
  ld.param.f32 %f1, [value];
  mov.u32 %r1,
    %tid.x;   // of the only block
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;

  st.global.v2.f32
    [%rd3], {%f1, %f1};
  ret;
}
"""


def test_a_race_is_named_with_its_line(tilewright: Tilewright):
    file = str(ROOT / "examples/sim/transpose.cu")
    code, out, err = tilewright("sim", file, *LAUNCH, "--args", *ITEMS)
    assert code == 1
    assert out.endswith("\n1 finding\n")
    message, line = err.splitlines()
    store = EXAMPLE.splitlines().index(line) + 1
    assert message.startswith(f"{file}:{store}: error: kernel 'transpose': race: in shared memory")
    assert line == "    out[row * rows + column] = tile[threadIdx.x][threadIdx.y];"


def test_with_its_barrier_the_example_is_right(tilewright: Tilewright, tmp_path: Path):
    before = "  int row ="
    assert EXAMPLE.count(before) == 1
    (tmp_path / "fixed.cu").write_text(EXAMPLE.replace(before, f"  __syncthreads();\n{before}"))
    options = ("--kernel", "transpose", "--out", "results", "--json", "-")
    code, out, err = tilewright("sim", "fixed.cu", *LAUNCH, "--args", *ITEMS, *options)
    assert code == 0
    assert "no findings" in err
    rows = np.load(tmp_path / "results/arg1.npy")
    assert np.array_equal(rows, np.arange(33 * 40, dtype=np.float32).reshape(33, 40).T)
    content = json.loads(out)
    assert (content["ok"], content["findings"], content["smem_bytes"]) == (True, [], 32 * 33 * 4)
    assert content["arguments"] == [
        {"type": "f32[33,40]", "changed": 0},
        {"type": "f32[40,33]", "changed": 33 * 40},
        {"type": "i32", "changed": 0},
        {"type": "i32", "changed": 0},
    ]


def test_ptx_has_lines_of_its_own(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "store.ptx").write_text(PTX)
    launch = ("--grid", "1", "--block", "32", "--args", "f32[32]=zeros", "f32=0.5")
    code, out, err = tilewright("sim", "store.ptx", *launch)
    assert code == 1
    assert "32 of 32  0.5 0.5 0.5 0.5 ..." in out
    place, text = err.splitlines()[:2]
    store = PTX.splitlines().index("  st.global.v2.f32") + 1
    assert place.startswith(f"store.ptx:{store}: error: kernel 'store': misaligned: thread 1")
    assert text == "  st.global.v2.f32"


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("mul.wide.u32", "mul.narrow.u32", "the simulator does not know 'mul.narrow.u32'"),
        ("mul.wide.u32 %rd2, %r1, 4", "] %rd2", "cannot read the PTX statement '] %rd2'"),
        ("  ret;", "  bra a, b;", "the simulator does not know 'bra'"),
        ("%rd2, %r1, 4", "%rd2, %r1", "the simulator does not know 'mul.wide.u32'"),
    ],
)
def test_ptx_outside_the_isa(
    tilewright: Tilewright, tmp_path: Path, old: str, new: str, error: str
):
    line = next(n for n, text in enumerate(PTX.splitlines(), 1) if old in text)
    (tmp_path / "bad.ptx").write_text(PTX.replace(old, new))
    launch = ("--grid", "1", "--block", "32", "--args", "f32[32]", "f32=0.5")
    assert tilewright("sim", "bad.ptx", *launch) == (1, "", f"bad.ptx:{line}: error: {error}\n")


CALL = """\
__global__ void call(float* x) {
  x[0] = 1;
  printf("%f", x[0]);
}
"""


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        (
            SCALE,
            "2048",
            "a.cu: error: scale is launched with 2048 threads per block, at most 1024 ",
        ),
        (
            CALL,
            "1",
            "a.cu:3: error: the simulator cannot follow the PTX call 'call.uni (retval0), ",
        ),
        (
            f"#include <none.h>\n{SCALE}",
            "1",
            "a.cu:1: error: CUDA does not compile: could not open ",
        ),
    ],
)
def test_kernels_that_cannot_run(
    tilewright: Tilewright, tmp_path: Path, text: str, options: str, error: str
):
    (tmp_path / "a.cu").write_text(text)
    items = ["f32[1]", "f32=1", "i32=1"][: 1 if text is CALL else 3]
    code, out, err = tilewright("sim", "a.cu", "--grid", "1", "--block", options, "--args", *items)
    assert (code, out) == (1, "")
    assert err.startswith(error)
    assert err.count("\n") == 1


ONE = ("--grid", "1", "--block", "32")
TYPES = ", ".join(DTYPES)
FORMS = "an item is TYPE[SIZES]=VALUES, TYPE[SIZES], TYPE=NUMBER or FILE.npy"


@pytest.mark.parametrize(
    ("items", "error"),
    [
        (
            "f32[4]",
            "kernel 'scale' has 3 parameters, and --args has 1 (its parameters: a pointer or "
            "64-bit integer, .f32, .u32)",
        ),
        ("f32[4] i32=2 i32=4", "--args item 1, 'i32=2': parameter 1 of 'scale' is .f32"),
        ("f32[4] f64=2 i32=4", "--args item 1, 'f64=2': parameter 1 of 'scale' is .f32"),
        ("f32[4] f32=2 f32[4]", "--args item 2, 'f32[4]': parameter 2 of 'scale' is .u32"),
        ("f33[4]", "--args item 0, 'f33[4]': unknown type 'f33' (did you mean f32?)"),
        ("complex[4]", f"--args item 0, 'complex[4]': unknown type 'complex' (known: {TYPES})"),
        ("f32[4", f"--args item 0, 'f32[4': {FORMS}"),
        ("f32", f"--args item 0, 'f32': {FORMS}"),
        ("f32[]", "--args item 0, 'f32[]': there is no size"),
        (
            "f32[4]=zeroes",
            "--args item 0, 'f32[4]=zeroes': 'zeroes' is not a number (did you mean zeros?)",
        ),
        ("i32[4]=1,2", "--args item 0, 'i32[4]=1,2': there are 2 numbers for 4 elements"),
        ("i8=200", "--args item 0, 'i8=200': 200 is not from -128 to 127"),
        ("i32=2.5", "--args item 0, 'i32=2.5': '2.5' is not an integer"),
        (
            "i32[4]=randn:1",
            "--args item 0, 'i32[4]=randn:1': randn makes floats, use arange or numbers",
        ),
        ("f16[2]=1,1e5", "--args item 0, 'f16[2]=1,1e5': 1,1e5 is too large for f16"),
        ("bf16=1e39", "--args item 0, 'bf16=1e39': 1e39 is too large for bf16"),
        ("none.npy", "cannot read 'none.npy': No such file or directory"),
        (
            "complex.npy",
            f"'complex.npy' holds complex128 (known types: {', '.join(DTYPES.values())})",
        ),
        ("scale.npy", "'scale.npy' is no .npy file of numbers: EOFError: No data left in file"),
    ],
)
def test_wrong_arguments(tilewright: Tilewright, tmp_path: Path, items: str, error: str):
    (tmp_path / "scale.cu").write_text(SCALE)
    (tmp_path / "scale.npy").touch()
    np.save(tmp_path / "complex.npy", np.zeros(3, complex))
    arguments = ("sim", "scale.cu", *ONE, "--args", *items.split())
    assert tilewright(*arguments) == (2, "", f"error: {error}\n")


def test_values_of_all_kinds(tilewright: Tilewright, tmp_path: Path):
    source = """\
__global__ void sum(const double* x, const short* y, const float* z, const int* w, float* out) {
  int t = threadIdx.x;
  out[t] = x[t] + y[t] + z[t] + w[t];
}
"""
    (tmp_path / "sum.cu").write_text(source)
    np.save(tmp_path / "z.npy", np.full(3, 0.5, np.float32))
    items = ("f64[3]=1", "i16[3]=-1,2,0x10", "z.npy", "i32[3]=z.npy", "f32[3]")
    launch = ("--grid", "1", "--block", "3", "--args", *items, "--out", "out")
    assert tilewright("sim", "sum.cu", *launch).code == 0
    assert np.load(tmp_path / "out/arg4.npy").tolist() == [0.5, 3.5, 17.5]


def test_kernels_are_chosen_by_their_names(tilewright: Tilewright, tmp_path: Path):
    source = f"{SCALE}namespace my {{ {SCALE.replace('scale', 'scale2')} }}"
    (tmp_path / "two.cu").write_text(source)
    items = ("--args", "f32[64]=1", "f32=2", "i32=64", "--grid", "2", "--block", "32")
    assert tilewright("sim", "two.cu", *items) == (
        2,
        "",
        "two.cu: error: there are 2 kernels (choose one by --kernel: scale, my::scale2)\n",
    )
    assert tilewright("sim", "two.cu", *items, "--kernel", "skale") == (
        2,
        "",
        "two.cu: error: there is no kernel 'skale' (did you mean scale?)\n",
    )
    code, out, _ = tilewright("sim", "two.cu", *items, "--kernel", "scale2")
    assert code == 0
    assert "my::scale2" in out
    assert "64 of 64  2 2 2 2 ..." in out


@pytest.mark.parametrize(
    ("name", "text", "options", "error"),
    [
        (
            "a.cu",
            "template <int n> __global__ void k() {}",
            (),
            "a.cu: error: there is no kernel (NVRTC leaves out templates that "
            "nothing instantiates)",
        ),
        (
            "a.cu",
            "__global__ void k() { x; }",
            (),
            'a.cu:1: error: CUDA does not compile: identifier "x" is undefined',
        ),
        ("a.cu", SCALE, ("--target", "sm_1"), "error: unknown target 'sm_1'"),
        ("a.ptx", "", (), "a.ptx: error: there is no kernel"),
        (
            "a.ptx",
            "",
            ("--target", "sm_90a"),
            "error: --target, -I and -D go with a file of CUDA, and 'a.ptx' is PTX",
        ),
        ("a.txt", "", (), "error: 'a.txt' is neither CUDA (.cu) nor PTX (.ptx)"),
        ("a.cu", SCALE, ("--out", "a.cu"), "error: cannot write 'a.cu': it is a file"),
        ("b.cu", None, (), "error: cannot read 'b.cu': No such file or directory"),
    ],
)
def test_wrong_files(
    tilewright: Tilewright,
    tmp_path: Path,
    name: str,
    text: str | None,
    options: tuple[str, ...],
    error: str,
):
    if text is not None:
        (tmp_path / name).write_text(text)
    code, out, err = tilewright("sim", name, *ONE, *options)
    assert (code, out) == (1 if "compile" in error else 2, "")
    assert err.startswith(error)
    assert err.count("\n") == 1
