# SPDX-License-Identifier: Apache-2.0
"""How lit runs the `.mlir` files: `lit test`. pytest runs the same files, inside its process."""

import os
import sys
from typing import Any

import lit.formats  # pyright: ignore[reportMissingTypeStubs]

# lit runs this file with these two defined.
config: Any = globals()["config"]
lit_config: Any = globals()["lit_config"]

config.name = "tilewright"
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "Output")
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "Output"]

# The tools of the environment that lit itself runs in.
tools = os.path.dirname(sys.executable)
config.environment["XDG_DATA_HOME"] = os.path.join(config.test_exec_root, "data")
config.environment["PATH"] = os.pathsep.join([tools, config.environment["PATH"]])

config.maxIndividualTestTime = 60  # seconds
