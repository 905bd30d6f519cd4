# SPDX-License-Identifier: GPL-2.0
"""Network namespaces: the one of this process, and what the kernel reports about it."""

import ctypes
import os
import sys

from wale_lab.guest.shared import COPY_POINT, AgentError, read

_CLONE_NEWNET = 0x40000000
_SO_NETNS_COOKIE = 71
#: With more namespaces, their files may be too many.
_MANY = 512

_libc = ctypes.CDLL(None, use_errno=True)


def is_copied_here() -> bool:
    """Let the guest be copied; True in a copy."""
    return int(_libc.syscall(COPY_POINT)) > 0


class Namespaces:
    """The namespaces, by name; enter() changes that of this process."""

    def __init__(self) -> None:
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.files: dict[str, int] = {}
        self.here: str | None = None

    def enter(self, name: str | None) -> None:
        """Enter a namespace, or return home."""
        if name == self.here:
            return
        if name is not None and name not in self.files:
            if len(self.files) == _MANY:
                _allow_files()
            flags = os.O_RDONLY | os.O_CLOEXEC
            self.files[name] = os.open("/run/netns/" + name, flags)
        if _libc.setns(self.home if name is None else self.files[name], _CLONE_NEWNET):
            raise AgentError(f"namespace {name}: {os.strerror(ctypes.get_errno())}")
        self.here = name


def _allow_files() -> None:
    """Let this process have as many open files as guest_init.c allows."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def netns_cookie() -> int:
    """The kernel's cookie of the present namespace."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        value = sock.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8)
    return int.from_bytes(value, sys.byteorder)


def tcp_counter(name: str) -> int:
    """A counter of TcpExt in the present namespace; 0 if this kernel has none."""
    names, values = read("/proc/net/netstat").splitlines()[:2]
    return int(dict(zip(names.split(), values.split(), strict=True)).get(name, 0))
