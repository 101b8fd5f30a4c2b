# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright blame`: find the pass, the rule and the match that make a result wrong, and
write the smallest program that shows it.
"""

import argparse
import sys

from tilewright.codegen.gpu import target_for
from tilewright.errors import UsageError
from tilewright.passes.driver.pipelines import passes_of
from tilewright.tools.blame.first_pass import Lowering
from tilewright.tools.blame.sources import blame_source
from tilewright.tools.input.source import source_of
from tilewright.tools.options.database import database_of
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.progress import progress
from tilewright.tools.output.terminal import console
from tilewright.tools.toolkit import use_cuda_home


def run(args: argparse.Namespace) -> int:
    """
    Print the cause and write the smallest program. Return 1 if a result is wrong, 2 if nothing
    could be checked, else 0.
    """
    use_cuda_home()
    check_path(args.output)
    if args.passes is not None:
        if args.schedule:
            raise UsageError("-p excludes --schedule", remedy="write the steps into -p")
        passes_of(args.passes)
    schedules = tuple(args.schedule)
    lowering = Lowering(target_for(args.target), schedules, database_of(args), args.passes)
    with progress() as report_stage:
        found = blame_source(source_of(args), lowering, args.attempts, report_stage)
    for remark in found.remarks:
        print(f"remark: {remark}", file=sys.stderr)
    out = console(args.color, sys.stderr if args.output == "-" else sys.stdout)
    for line in found.report:
        out.print(line, markup=False, soft_wrap=True)
    if found.mlir:
        write_text(args.output, found.mlir)
        if args.output != "-":
            out.print(f"shown by: {found.command.replace('%s', args.output)}", markup=False)
    if found.is_unknown:
        return 2
    return 1 if found.stage else 0
