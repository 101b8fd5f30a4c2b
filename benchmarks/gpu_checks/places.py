# SPDX-License-Identifier: Apache-2.0
"""Paths in the repository."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "gpu_check.py"
"""Path of `gpu_check.py`, which also starts workers."""
SUITE = ROOT / "benchmarks" / "suite84.json"
HALF = ROOT / "benchmarks" / "suite-half.json"
RESULTS = ROOT / "benchmarks" / "results"
