# SPDX-License-Identifier: Apache-2.0
"""
All that a machine with a GPU can tell of Tilewright, by one command:

    python benchmarks/gpu_check.py                      all of it, within ten minutes
    python benchmarks/gpu_check.py --stages environment,drivers
    python benchmarks/gpu_check.py --device simulator   what can be seen without a GPU

What was found goes to `benchmarks/results/GPU/`, or to `--out`; what is there already, of the same
sources, is not done again: the same command goes on where time was up. Exit code 0: all is right.
1: something is wrong. 2: the command line cannot be understood. 3: nothing is wrong so far, and
something is left. docs/benchmarking.md says more.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # the packages of this checkout: nothing need be installed
    sys.path[:0] = [str(Path(__file__).resolve().parents[1])]
    from gpu_checks.command import main

    raise SystemExit(main())
