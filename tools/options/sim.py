# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright sim`."""

import argparse

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.numbers import natural, positive
from tilewright.tools.options.program import add_target

_EPILOG = """\
FILE is CUDA (.cu), which NVRTC compiles with --fmad=false, or PTX (.ptx). The kernel runs on the
CPU with all checks of docs/simulator.md. --args has one ITEM for each parameter of the kernel:
  f32[64,32]=randn:0   array; values: zeros, ones, arange, randn:SEED, numbers 1,2,3, or FILE.npy
  f32[64,32]           array whose elements are not initialised
  i32=5                number
  x.npy                array of a file
Types are f16, bf16, f32, f64, i8 to i64, u8 to u64, and bool.

exit code: 0 without findings; 1 with findings; 2 if FILE, a name or an ITEM is wrong

  tilewright {} copy.cu --grid 4 --block 256 --args f32[1000]=randn:0 f32[1000] i32=1000
  tilewright {} copy.cu --kernel copy4 --grid 2,2 --block 32,8 --args x.npy f32[64,64] --out results
"""


def add(add_parser: AddParser) -> None:
    """Add the command `sim` and its options to the command line."""
    help = "run a kernel of CUDA or PTX in the simulator, with all checks"
    parser = command(add_parser, "sim", help, _EPILOG)
    parser.add_argument("cuda", metavar="FILE", help="file of CUDA (.cu) or PTX (.ptx)")
    parser.set_defaults(reads={"cuda": "file"})
    parser.add_argument(
        "--kernel",
        metavar="NAME",
        help="kernel to run, by its name in C++ or in PTX; default: the only one of FILE",
    )
    for name, count in (("--grid", "blocks"), ("--block", "threads")):
        parser.add_argument(
            name,
            type=_sizes,
            required=True,
            metavar="X[,Y[,Z]]",
            help=f"number of {count}, in one to three dimensions",
        )
    parser.add_argument(
        "--shared",
        type=natural("number of bytes"),
        default=0,
        metavar="BYTES",
        help="dynamic shared memory of a block; default: 0",
    )
    parser.add_argument(
        "--args",
        nargs="+",
        action="extend",
        default=[],
        metavar="ITEM",
        help="arguments of the kernel, one ITEM for each parameter",
    )
    add_target(parser)
    parser.add_argument(
        "-I", dest="folders", action="append", default=[], metavar="DIR", help="folder of headers"
    )
    parser.add_argument(
        "-D",
        dest="macros",
        action="append",
        default=[],
        metavar="NAME[=TEXT]",
        help="macro of CUDA",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="write each array after the run to DIR/argN.npy; bf16 as f32, which NumPy can read",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write findings, counters and arguments as JSON; - is stdout, and the text then "
        "goes to stderr",
    )


def _sizes(text: str) -> tuple[int, ...]:
    """Return one to three sizes such as `4,2`."""
    sizes = tuple(map(positive("positive number"), text.split(",")))
    if len(sizes) > 3:
        raise argparse.ArgumentTypeError(f"'{text}' has more than three sizes")
    return sizes
