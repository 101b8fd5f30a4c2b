# SPDX-License-Identifier: Apache-2.0
"""
Configuration with which `lit test` runs the `.mlir` files; pytest runs the same files in its own
process.
"""

import os
import sys
from typing import Any

import lit.formats  # pyright: ignore[reportMissingTypeStubs]

# lit defines these two globals before it runs this file.
config: Any = globals()["config"]
lit_config: Any = globals()["lit_config"]

config.name = "tilewright"
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "Output")
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "Output"]

# Directory of the executables of the Python environment that lit runs in.
tools = os.path.dirname(sys.executable)
config.environment["XDG_DATA_HOME"] = os.path.join(config.test_exec_root, "data")
config.environment["PATH"] = os.pathsep.join([tools, config.environment["PATH"]])

config.maxIndividualTestTime = 60  # seconds
