# SPDX-License-Identifier: Apache-2.0
"""The measuring machine: description, busy cores, lost datagrams."""
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def lost_datagrams():
    """Datagrams that this network namespace dropped because a receive buffer was full."""
    with open("/proc/net/snmp", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith("Udp:")]
    return int(values[names.index("RcvbufErrors")])


def busy_core_seconds():
    """Core-seconds since boot in which no core was idle; exact, unlike the user and system columns."""
    with open("/proc/stat", encoding="ascii") as file:
        idle = sum(int(field) for field in file.readline().split()[4:6])
    return time.monotonic() * os.cpu_count() - idle / TICK


def description():
    """One line about the machine."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    model = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "CPU")
    with open("/proc/meminfo", encoding="ascii") as file:
        gigabytes = int(file.readline().split()[1]) / 1024 ** 2
    virtual = " (virtual)" if " hypervisor" in text else ""
    return f"{os.cpu_count()} cores of {model}{virtual}, {gigabytes:.0f} GB, Linux {os.uname().release}"
