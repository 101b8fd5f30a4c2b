# SPDX-License-Identifier: Apache-2.0
"""
Proofs that a kernel of Tile IR accesses memory rightly, for all steps of its axes at once.

Each op has obligations: statements such as "every subscript is within its axis". An obligation is a
formula over integers, and a solver (z3) proves it, refutes it by a point, or answers that it does
not know. Reading order: `formulas`, `points`, the obligations of `table`, `claim`, `kernels`.
"""
