# SPDX-License-Identifier: Apache-2.0
"""Inverts rules of the source, one at a time, and lists those that no test misses."""
