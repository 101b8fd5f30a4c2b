# SPDX-License-Identifier: Apache-2.0
"""Configuration of lit for the `.mlir` files of this folder, `lit -v .`; copy it to your tests."""

import os
import sys

import lit.formats

config = globals()["config"]  # lit runs this file with `config` defined

config.name = "my-pass"
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "Output"]
config.test_format = lit.formats.ShTest()
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "Output")

# opt-tool and filecheck come from the environment in which lit itself runs.
tools = os.path.dirname(sys.executable)
config.environment["PATH"] = os.pathsep.join([tools, config.environment["PATH"]])
