# SPDX-License-Identifier: Apache-2.0
"""What processes have used: CPU time, memory, bytes to disk; and what the machine lost."""
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def stat_fields(process):
    """The fields of /proc/PID/stat behind the name, state first; None when there is no such process."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None


def session_of(leader):
    """All processes of the session that `leader` began, itself too."""
    found = []
    for name in os.listdir("/proc"):
        fields = stat_fields(name) if name.isdigit() else None
        if fields and fields[0] != "Z" and int(fields[3]) == leader:
            found.append(int(name))
    return found


def cpu_seconds(processes):
    """The scheduler's run time of all their threads, those that have ended too.

    A process's CPU clock in the kernel's numbering of clocks (posix-timers.h): the id's complement, CPUCLOCK_SCHED.
    """
    total = 0.0
    for process in processes:
        try:
            total += time.clock_gettime((~process << 3) | 2)
        except OSError:
            pass
    return total


def thread_names(process):
    """{thread id: name}"""
    names = {}
    for thread in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
                names[int(thread)] = file.read().strip()
        except OSError:
            pass
    return names


def memory(processes):
    """Bytes in memory; a page that several of them share counts once."""
    total = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
                total += next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
        except OSError:
            pass
    return total


def written_bytes(processes):
    """Bytes the processes had sent to the disk."""
    total = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/io", encoding="ascii") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("write_bytes:"))
        except OSError:
            pass
    return total


def lost_datagrams():
    """Datagrams this network namespace dropped since full sockets took no more."""
    with open("/proc/net/snmp", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith("Udp:")]
    return int(values[names.index("RcvbufErrors")])


def busy_core_seconds():
    """Core-seconds since boot in which no core was idle; exact, unlike the user and system columns."""
    with open("/proc/stat", encoding="ascii") as file:
        idle = sum(int(field) for field in file.readline().split()[4:6])
    return time.monotonic() * os.cpu_count() - idle / TICK


def machine():
    """A line on what this was measured on."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    model = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "CPU")
    with open("/proc/meminfo", encoding="ascii") as file:
        gigabytes = int(file.readline().split()[1]) / 1024 ** 2
    virtual = " (virtual)" if " hypervisor" in text else ""
    return f"{os.cpu_count()} cores of {model}{virtual}, {gigabytes:.0f} GB, Linux {os.uname().release}"
