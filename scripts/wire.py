#!/usr/bin/env python3
"""A cable between two network namespaces that takes some time: wire.py NAMESPACE NAMESPACE INTERFACE MILLISECONDS

Makes an interface of that name in each (a tap device, without address) and carries every frame from one to the other after so many
milliseconds. Kernels of containers and small machines often lack the module that `tc netem` needs; these devices are everywhere. Ends, and
takes the interfaces with it, when its standard input ends.
"""

import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000
CLONE_NEWNET = 0x40000000
LONGEST_FRAME = 65_536


def tap(namespace: str, interface: str) -> int:
    """The descriptor of a new tap device in a namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}") as entrance:
        if libc.setns(entrance.fileno(), CLONE_NEWNET) != 0:
            sys.exit(f"wire: {namespace} cannot be entered: {os.strerror(ctypes.get_errno())}")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", interface.encode(), IFF_TAP | IFF_NO_PI))
    return device


def main() -> None:
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    delay = float(sys.argv[4]) / 1000
    ends = [tap(namespace, sys.argv[3]) for namespace in sys.argv[1:3]]
    print("ready", flush=True)
    # Frames under way, each with its time and the end to which it goes; all take as long, so that the first in is the first out.
    under_way = collections.deque()
    while True:
        rest = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        readable, _, _ = select.select([*ends, sys.stdin], [], [], rest)
        if sys.stdin in readable and not os.read(sys.stdin.fileno(), 1):
            return
        for end in readable:
            if end is sys.stdin:
                continue
            to = ends[1] if end == ends[0] else ends[0]
            try:
                while frame := os.read(end, LONGEST_FRAME):
                    under_way.append((time.monotonic() + delay, to, frame))
            except BlockingIOError:
                pass
        while under_way and under_way[0][0] <= time.monotonic():
            _, to, frame = under_way.popleft()
            try:
                os.write(to, frame)
            except OSError:
                # Its interface is not up: the frame is lost, as on any cable.
                pass


main()
