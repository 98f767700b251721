# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs, each run from its page."""
