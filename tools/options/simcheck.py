# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright simcheck`."""

from tilewright.tools.options.command import AddParser, command

_EPILOG = """\
Each kernel is run as it is, when nothing may be found and its result is right, and then with each
bug. The table has the bugs planted in it, how many were found, and as what: a kind of finding,
`wrong` results, outputs left `unwritten`, an `endless` run, or `reported` by the interpreter of
Kernel IR alone. What was missed, or said without cause, is listed on stderr.

exit code: 0 if all was found and nothing else; 1 if not; 2 for folders that cannot be understood

  tilewright {} --quick           some bugs of each kernel
  tilewright {} my/kernels        your own; docs/simulator.md says how they are written
"""


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "plant bugs in kernels, and see that the simulator finds them"
    parser = command(add_parser, "simcheck", "simcheck", help, _EPILOG)
    parser.add_argument(
        "folders",
        metavar="FOLDER",
        nargs="*",
        default=["test/codegen/simulator/kernels", "test/codegen/simulator/tile"],
        help="of NAME.cu with NAME.toml, and NAME.mlir; default: the kernels of a checkout",
    )
    parser.set_defaults(reads={"folders": "kernels"})
    parser.add_argument("--quick", action="store_true", help="some bugs of each kernel only")
