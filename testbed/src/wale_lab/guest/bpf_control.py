# SPDX-License-Identifier: GPL-2.0
"""Registers congestion controls that are BPF programs (struct_ops), by libbpf: no other library.

A control stays registered until the kernel of the guest ends, or on the host until the last
process that holds it has: the objects are kept open.
"""

import ctypes
import os

from wale_lab.guest.shared import AgentError, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STRUCT_OPS = 26
_CONTROLS = "/proc/sys/net/ipv4/tcp_available_congestion_control"
_BTF = "/sys/kernel/btf/vmlinux"

#: Callbacks and objects that must not be collected.
_kept: "list[Any]" = []


def register(path: str) -> list[str]:
    """Load an object and register the controls in it; their names."""
    try:
        lib = ctypes.CDLL("libbpf.so.1", use_errno=True)
    except OSError:
        raise AgentError("libbpf is missing: sudo apt-get install libbpf1", bpf=path) from None
    for name in ("bpf_object__open_file", "bpf_object__next_map", "bpf_map__attach_struct_ops"):
        getattr(lib, name).restype = ctypes.c_void_p
    said = _Said(lib)
    before = set(read(_CONTROLS).split())
    opened = lib.bpf_object__open_file(path.encode(), None)
    if not opened:
        raise _refused(path, "libbpf cannot open it", said)
    found = ctypes.c_void_p(opened)
    if lib.bpf_object__load(found):
        raise _refused(path, "the kernel does not load it", said)
    attached, entry = 0, lib.bpf_object__next_map(found, None)
    while entry:
        one = ctypes.c_void_p(entry)
        if lib.bpf_map__type(one) == _STRUCT_OPS:
            if not lib.bpf_map__attach_struct_ops(one):
                raise _refused(path, "the kernel does not register it", said)
            attached += 1
        entry = lib.bpf_object__next_map(found, one)
    _kept.append(found)
    names = [name for name in read(_CONTROLS).split() if name not in before]
    if not names:
        why = "it has no map in the section .struct_ops" if not attached else "it has no new name"
        raise AgentError(f"expected a congestion control in BPF, {why}", bpf=path)
    return names


class _Said:
    """What libbpf warns of, with the words of the kernel's verifier."""

    def __init__(self, lib: "Any") -> None:
        self.lines: list[str] = []
        form = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        libc = ctypes.CDLL(None)

        def keep(level: int, text: bytes, arguments: int) -> int:
            buffer = ctypes.create_string_buffer(1 << 16)
            if level == 0:
                libc.vsnprintf(buffer, len(buffer), text, ctypes.c_void_p(arguments))
                self.lines += buffer.value.decode(errors="replace").splitlines()
            return 0

        callback = form(keep)
        _kept.append(callback)
        lib.libbpf_set_print(callback)


def _refused(path: str, what: str, said: _Said) -> AgentError:
    """Why, in the words of libbpf and the kernel, and what the kernel lacks."""
    number = ctypes.get_errno()
    words = [line.removeprefix("libbpf: ").strip() for line in said.lines if line.strip()]
    quoted = "; ".join(word for word in words[:3])
    text = f"{what}: {os.strerror(number)}" + (f" ({quoted})" if quoted else "")
    if not os.path.exists(_BTF):
        text += (
            f"; this kernel has no {_BTF} (CONFIG_DEBUG_INFO_BTF), and struct_ops need"
            " CONFIG_BPF_JIT, which User-Mode Linux does not have: --engine vm has both"
        )
    return AgentError(text, bpf=path)
