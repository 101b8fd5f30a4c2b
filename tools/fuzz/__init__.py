# SPDX-License-Identifier: Apache-2.0
"""Random programs: how they are drawn, checked, shrunk and saved."""
