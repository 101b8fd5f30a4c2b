# SPDX-License-Identifier: Apache-2.0
"""
Complete check of Tilewright on a machine with a GPU, by one command:

    python benchmarks/gpu_check.py                      all stages, within ten minutes
    python benchmarks/gpu_check.py --stages environment,drivers
    python benchmarks/gpu_check.py --device simulator   the checks that need no GPU

Results go to `benchmarks/results/GPU/`, or to `--out`. Results for the same sources are not
computed again, so that the command can be repeated after its time was up. Exit code 0: everything
is right. 1: something is wrong. 2: the command line is wrong. 3: nothing is wrong so far, but
checks are left. See docs/benchmarking.md.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # import the packages of this checkout, which need not be installed
    sys.path[:0] = [str(Path(__file__).resolve().parents[1])]
    from gpu_checks.command import main

    raise SystemExit(main())
