# SPDX-License-Identifier: Apache-2.0
"""Programs under test on loopback, and the calls through them: for Deploy, Scenarios, Peers and Bench."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
