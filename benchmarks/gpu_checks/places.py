# SPDX-License-Identifier: Apache-2.0
"""Where things lie in the repository."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "gpu_check.py"
"""The command, which workers are started with too."""
SUITE = ROOT / "benchmarks" / "suite84.json"
RESULTS = ROOT / "benchmarks" / "results"
