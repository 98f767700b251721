# SPDX-License-Identifier: Apache-2.0
"""The kernel's figures of a process: CPU time, memory, bytes to disk, open files, threads."""
import os
import time


class Process:
    """The figures of one process with all its threads; an OSError once it has ended."""

    def __init__(self, pid):
        self.pid = pid

    def cpu_seconds(self):
        """The scheduler's run time of all its threads, ended ones too.

        A process's CPU clock in the kernel's numbering of clocks (posix-timers.h): the id's complement, CPUCLOCK_SCHED.
        """
        return time.clock_gettime((~self.pid << 3) | 2)

    def resident(self):
        """Bytes in memory now."""
        return self.number("status", "VmRSS") * 1024

    def anonymous(self):
        """Resident bytes that are mapped to no file."""
        return self.number("status", "RssAnon") * 1024

    def highest(self):
        """The most bytes that were ever in memory, or since `forget_highest`."""
        return self.number("status", "VmHWM") * 1024

    def forget_highest(self):
        with open(f"/proc/{self.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def share(self):
        """Bytes in memory; of a shared page only this process's part."""
        return self.number("smaps_rollup", "Pss") * 1024

    def written(self):
        """Bytes it wrote to the disk."""
        return self.number("io", "write_bytes")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def thread_names(self):
        """{thread id: name}"""
        names = {}
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
                    names[int(thread)] = file.read().strip()
            except OSError:
                pass
        return names

    def thread_seconds(self):
        """{thread id: the scheduler's run time}, of the threads that live"""
        seconds = {}
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{thread}/schedstat", encoding="ascii") as file:
                    seconds[int(thread)] = int(file.read().split()[0]) / 1e9
            except OSError:
                pass
        return seconds

    def ended_children_seconds(self):
        """CPU seconds of its children that have ended, and of theirs."""
        with open(f"/proc/{self.pid}/stat", encoding="utf-8", errors="replace") as file:
            # Behind the name in parentheses, from the process's state on.
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def number(self, file, name):
        """The number behind a name in one of its files in /proc."""
        with open(f"/proc/{self.pid}/{file}", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith(name + ":"):
                    return int(line.split()[1])
        raise ProcessLookupError(f"process {self.pid} has no {name}; it has ended")


def session_of(leader):
    """All processes of the session that the process `leader` began, itself too."""
    return [Process(pid) for pid, _, session in living() if session == leader]


def children_of(parent):
    """The processes that the process `parent` started."""
    return [Process(pid) for pid, its_parent, _ in living() if its_parent == parent]


def living():
    """(process, parent, session) of each process"""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                # Behind the name in parentheses: state, parent, group, session.
                state, parent, _, session = file.read().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue
        if state != "Z":
            yield int(name), int(parent), int(session)


def total(figure, processes):
    """The sum of a figure over several processes; ended ones add nothing."""
    value = 0
    for process in processes:
        try:
            value += figure(process)
        except OSError:
            pass
    return value
