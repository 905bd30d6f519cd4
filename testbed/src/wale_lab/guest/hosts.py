# SPDX-License-Identifier: GPL-2.0
"""The hosts of a scenario: namespaces, wires, addresses, sysctls, offloads, congestion controls."""

import ctypes
import fcntl
import os
import struct

from wale_lab.guest.namespaces import tcp_counter
from wale_lab.guest.shared import AgentError, joined, now, read, sleep_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wale_lab.guest.processes import Processes
    from wale_lab.guest.shared import Plan

_SIOCETHTOOL = 0x8946

#: ethtool's own numbers: ETHTOOL_STSO and so on.
_OFFLOADS = {"tso": 0x1F, "gso": 0x24, "gro": 0x2C}


#: That one ip makes: it leaves the two namespaces of each open, of 1024 files that it may have.
_MOST_WIRES = 400

#: In real time: so long after the network is there the flows may begin, for late commands.
_READY_NS = 3 * 10**9

#: With more namespaces than this, a process for each takes too long.
_MANY = 450


class Hosts:
    """The hosts of a plan."""

    def __init__(self, plan: "Plan", processes: "Processes") -> None:
        self.plan = plan
        self.processes = processes

    def build(self) -> None:
        """Make namespaces and wires, and configure them."""
        run, namespaces = self.processes.run, self.plan["namespaces"]
        names = [ns["name"] for ns in namespaces]
        wires: list[str] = self.plan["wires"]
        lines = ["netns add " + name for name in names] + wires[:_MOST_WIRES]
        run(["ip", "-batch", "-"], text=joined(lines))
        for first in range(_MOST_WIRES, len(wires), _MOST_WIRES):
            run(["ip", "-batch", "-"], text=joined(wires[first : first + _MOST_WIRES]))
        if plan_ports := self.plan.get("ports"):
            run(["ip", "-batch", "-"], text=joined(map(_port_line, plan_ports)))
        many = len(namespaces) > _MANY
        for ns in namespaces:
            self.processes.netns.enter(ns["name"])
            for key, value in ns["sysctls"].items():
                _set_sysctl(ns["name"], key, value)
            for device, offloads in ns["offloads"].items():
                for feature, on in offloads.items():
                    _set_offload(device, feature, on)
            if ns["ip"] and not (many and self._configure(ns)):
                of_lines = [{"host": ns["name"], "line": line} for line in ns["ip"]]
                run(["ip", "-batch", "-"], ns["name"], joined(ns["ip"]), of_lines)
            if ns["bridge"]:
                run(["bridge", "-batch", "-"], ns["name"], text=joined(ns["bridge"]))
        cpus = min(os.cpu_count() or 1, 32)
        if cpus > 1:
            for number, name in enumerate(names):
                self._receive_on(name, number % cpus)
        for ns in namespaces:
            self._run(ns, ns["commands"])
            for key, value in ns["late_sysctls"].items():
                self.processes.netns.enter(ns["name"])
                _set_sysctl(ns["name"], key, value)
        begin = self.plan["flows_ns"] if self.plan["virtual"] else now() + _READY_NS
        late = [(ns, command) for ns in namespaces for command in ns["late_commands"]]
        for ns, command in sorted(late, key=lambda one: -one[1]["before_ns"]):
            sleep_until(begin - command["before_ns"])
            self._run(ns, [command])

    def _run(self, ns: "Plan", commands: "list[dict[str, Any]]") -> None:
        """Run commands in a namespace; the network exists."""
        for command in commands:
            of = {"host": ns["name"], "command": command["argv"][0], "setup": command["setup"]}
            self.processes.run(command["argv"], ns["name"], command["text"] or None, [of])

    def load_modules(self) -> None:
        """Load the modules that the user asks for, by the kernel's own helper."""
        for name in self.plan["modules"]:
            program = read("/proc/sys/kernel/modprobe").strip()
            self.processes.run([program, name], of_lines=[{"module": name}])

    @staticmethod
    def _configure(ns: "Plan") -> bool:
        """Do what ip would do, without a process; False if it takes ip."""
        from wale_lab.guest import rtnetlink

        try:
            return rtnetlink.configure(ns["ip"])
        except OSError as error:
            raise AgentError(f"the network of {ns['name']}: {error}") from None

    def _receive_on(self, name: str, cpu: int) -> None:
        """Make one CPU process everything that a host receives.

        A veth leaves a packet to the CPU that sent it, which may process it after another CPU has
        processed a later one: TCP would see reordering that no link has caused.
        """
        mask = f"{1 << cpu:x}"
        files = "/sys/class/net/*/queues/rx-*/rps_cpus"
        script = f"for file in {files}; do [ ! -e $file ] || echo {mask} >$file; done"
        # it has a sysfs of its own
        self.processes.run(["ip", "netns", "exec", name, "sh", "-c", script])

    def register_controls(self) -> None:
        """Those that are BPF programs; a flow may name the file of one."""
        for path in self.plan["bpf"]:
            from wale_lab.guest import bpf_control

            names = bpf_control.register(path)
            for flow in self.plan["flows"]:
                flow["cc"] = names[0] if flow["cc"] == path else flow["cc"]

    def _controls(self) -> "Iterator[tuple[str, dict[str, str]]]":
        """The congestion controls of the plan, and whose they are."""
        for flow in self.plan["flows"]:
            if not flow["constant"]:
                yield flow["cc"], {"flow": flow["name"]}
        for ns in self.plan["namespaces"]:
            for words in map(str.split, ns["ip"]):
                if "congctl" in words:
                    yield words[words.index("congctl") + 1], {"host": ns["name"]}

    def check_controls(self) -> set[str] | None:
        """Report a congestion control that the kernel lacks, before anything starts.

        Return those that it has; None if one had to be loaded.
        """
        found, none_loaded = set[str](), True
        for name, of in self._controls():
            has = read("/proc/sys/net/ipv4/tcp_available_congestion_control").split()
            found.update(has)
            if name not in has:
                none_loaded = False
                if not _load_control(name):
                    raise AgentError(
                        f"there is no congestion control {name!r}", cc=name, has=has, **of
                    )
        return found if none_loaded else None

    def has_controls(self, known: set[str]) -> bool:
        """Are all congestion controls of the plan known?"""
        return all(name in known for name, _ in self._controls())

    def warn_of_memory_pressure(self) -> None:
        """Warn if TCP kept windows small because it ran out of memory."""
        times = 0
        for ns in self.plan["namespaces"]:
            self.processes.netns.enter(ns["name"])
            times += tcp_counter("TCPMemoryPressures")
        if times:
            self.processes.warnings.append(
                "TCP was under memory pressure (net.ipv4.tcp_mem), in which it keeps windows"
                " small: it needs more memory (memory_mb) or smaller socket buffers"
            )


def _port_line(port: "Plan") -> str:
    """Of a wire to another guest, the device that is there becomes one of a host."""
    words = "link set wire{wire} netns {netns} name {dev} address {mac} mtu {mtu}"
    return words.format_map(port)


def _set_sysctl(where: str, key: str, value: object) -> None:
    path = "/proc/sys/" + key.replace(".", "/")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(value))
    except FileNotFoundError:
        raise AgentError("this kernel has no such sysctl", host=where, sysctl=key) from None
    except OSError as error:
        why = f"the kernel does not take {value!r}: {error.strerror}"
        raise AgentError(why, host=where, sysctl=key) from None


def _set_offload(device: str, feature: str, on: bool) -> None:
    import socket

    value = ctypes.create_string_buffer(struct.pack("II", _OFFLOADS[feature], int(on)))
    request = struct.pack("16sP8x", device.encode(), ctypes.addressof(value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            fcntl.ioctl(sock, _SIOCETHTOOL, request)
        except OSError as error:
            raise AgentError(f"{device}: {feature}: {error.strerror}") from None


def _load_control(name: str) -> bool:
    """Make the kernel load a congestion control, as the first socket asking for it would."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError:
            return False
    return True
