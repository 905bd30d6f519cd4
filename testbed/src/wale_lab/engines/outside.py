# SPDX-License-Identifier: GPL-2.0
"""The outside network for a guest of the uml engine, without root: passt does what it asks for.

passt has ordinary sockets towards the world, and Ethernet frames towards the guest:

    vec0 of the guest <-> outside_frames <-> passt <-> sockets of this machine
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from wale_lab.engines.base import EngineError
from wale_lab.engines.processes import end_group, end_with_parent, ended_within

#: The guest's network device, and the kernel's word that makes it.
DEVICE = "vec0"

#: Addresses on that device: the guest's, passt's own, and that of its server of names; of the
#: block for benchmarks (RFC 2544), which neither the guest's subnets nor the world use.
GUEST, GATEWAY, NAMES, BITS = "198.18.0.15", "198.18.0.2", "198.18.0.3", 24

#: This machine's own services, which listen on 127.0.0.1, in the guest.
OWN_NAME = "host.outside"

#: How much may be on its way, in each direction.
_BUFFER = 1 << 20

#: passt fails in less, if it does; and ends in less when it is told to.
_FAILS_S, _GRACE_S = 0.2, 2.0


def kernel_word(descriptor: int) -> str:
    """What makes the device on the guest kernel's command line."""
    return f"{DEVICE}:transport=fd,fd={descriptor}"


def _passt(stream: int) -> list[str]:
    words = ["passt", "--foreground", "--quiet", "--ipv4-only", "--no-dhcp"]
    words += ["--address", GUEST, "--netmask", str(BITS), "--gateway", GATEWAY]
    return [*words, "--dns-forward", NAMES, "--fd", str(stream)]


def _pair(stack: ExitStack, kind: socket.SocketKind) -> tuple[socket.socket, socket.socket]:
    ends = socket.socketpair(socket.AF_UNIX, kind)
    for end in ends:
        stack.enter_context(end)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
    return ends


def _start(
    command: list[str], inherited: list[socket.socket], said: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        pass_fds=[end.fileno() for end in inherited],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        start_new_session=True,
        preexec_fn=end_with_parent,
    )


@contextmanager
def leads_outside(frames: Path) -> Iterator[int]:
    """The socket of the guest's end of the way to the outside network; `frames` is the program of
    outside_frames.c."""
    if shutil.which("passt") is None:
        raise EngineError("the outside network needs passt: sudo apt-get install passt")
    with ExitStack() as stack:
        said = stack.enter_context(tempfile.TemporaryFile())
        ours, theirs = _pair(stack, socket.SOCK_STREAM)
        inside, guest = _pair(stack, socket.SOCK_SEQPACKET)
        passt = _start(_passt(theirs.fileno()), [theirs], said)
        stack.callback(end_group, passt, _GRACE_S)
        carries = [str(frames), str(ours.fileno()), str(inside.fileno())]
        stack.callback(end_group, _start(carries, [ours, inside], said), _GRACE_S)
        for end in (ours, theirs, inside):
            end.close()
        _check(lambda: ended_within(passt, _FAILS_S), said)
        yield guest.fileno()
        _check(lambda: passt.poll() is not None, said)


def _check(ended: Callable[[], bool], said: IO[bytes]) -> None:
    """EngineError if passt is not there any more."""
    if ended():
        said.seek(0)
        lines = said.read().decode(errors="replace").split("\n")
        why = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        raise EngineError(f"passt, which leads to the outside network, ended: {why.strip()}")
