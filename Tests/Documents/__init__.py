# SPDX-License-Identifier: Apache-2.0
"""Checks of the code blocks and commands on README.md and the pages of docs."""
