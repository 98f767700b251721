#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wire between two network namespaces that loses, delays, reorders and doubles packets; as root.

One TUN interface in each namespace, and this program between them. It runs until TERM or INT, then prints its
counts. `--a` and `--b` are NAMESPACE,INTERFACE,ADDRESS/BITS. Loss and doubling in percent, times in ms and one way.
"""
import argparse
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import struct
import subprocess
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(path):
    """Moves this process into the network namespace at a path."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if LIBC.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns", path)
    finally:
        os.close(descriptor)


def open_interface(end, mtu):
    """The descriptor of a new TUN interface in the namespace of one end."""
    namespace, name, address = end.split(",")
    enter(f"/run/netns/{namespace}")
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH14x", name.encode(), IFF_TUN | IFF_NO_PI))
    subprocess.run(["ip", "address", "add", address, "dev", name], check=True)
    subprocess.run(["ip", "link", "set", name, "mtu", str(mtu), "up"], check=True)
    return descriptor


class Wire:
    """Packets on their way, ordered by when they arrive."""

    def __init__(self, ends, options):
        self.ends = ends
        self.options = options
        self.chance = random.Random(options.seed)
        self.under_way = []
        self.sequence = 0
        self.counts = dict.fromkeys(("in", "lost", "dup", "full", "out"), 0)

    def wait(self):
        """Seconds until the next packet arrives, 0.2 at most."""
        return min(0.2, max(0.0, self.under_way[0][0] - time.monotonic())) if self.under_way else 0.2

    def deliver(self):
        """Writes the packets whose time has come."""
        while self.under_way and self.under_way[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(self.under_way)
            try:
                os.write(end, packet)
                self.counts["out"] += 1
            except OSError:
                self.counts["full"] += 1

    def take(self, end):
        """Reads the waiting packets of one end, 64 at most."""
        other = self.ends[1] if end == self.ends[0] else self.ends[0]
        for _ in range(64):
            try:
                packet = os.read(end, 65536)
            except BlockingIOError:
                return
            self.counts["in"] += 1
            self.accept(packet, other)

    def accept(self, packet, towards):
        if self.happens(self.options.loss):
            self.counts["lost"] += 1
            return
        self.send(packet, towards)
        if self.happens(self.options.dup):
            self.counts["dup"] += 1
            self.send(packet, towards)

    def happens(self, percent):
        return self.chance.uniform(0, 100) < percent

    def send(self, packet, towards):
        if len(self.under_way) >= self.options.queue:
            self.counts["full"] += 1
            return
        self.sequence += 1
        delay = self.options.delay + self.chance.uniform(-self.options.jitter, self.options.jitter)
        heapq.heappush(self.under_way, (time.monotonic() + max(0.0, delay) / 1000, self.sequence, towards, packet))


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--a", required=True)
    parser.add_argument("--b", required=True)
    for name in ("loss", "delay", "jitter", "dup"):
        parser.add_argument("--" + name, type=float, default=0)
    parser.add_argument("--queue", type=int, default=1000)
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    chosen = options()
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    ends = [open_interface(end, chosen.mtu) for end in (chosen.a, chosen.b)]
    LIBC.setns(here, CLONE_NEWNET)
    wire = Wire(ends, chosen)
    ended = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.append(True))
    print("wire up", flush=True)
    while not ended:
        wire.deliver()
        for end in select.select(ends, [], [], wire.wait())[0]:
            wire.take(end)
    print("wire down " + " ".join(f"{name}={count}" for name, count in wire.counts.items()), flush=True)


main()
