# SPDX-License-Identifier: GPL-2.0
"""Tunnels, bonds, tags and address translation of a graph, as lines for ip, wg and nft."""

from __future__ import annotations

import base64
import subprocess
from functools import cache

from wale_lab.engines import outside
from wale_lab.engines.base import EngineError
from wale_lab.overlays import BY_PROGRAM, Bond, Kind, Macvlan, Nat, Tunnel
from wale_lab.routing import Interface
from wale_lab.topologies.plan import Command, LateCommand, draw

#: Bytes that a tunnel adds to a packet of IP, by the version of IP below it. WireGuard has what
#: wg-quick leaves it, for both versions; tun and tap have UDP.
_ADDED: dict[Kind, dict[int, int]] = {
    "wireguard": {4: 80, 6: 80},
    "gre": {4: 24, 6: 44},
    "vxlan": {4: 50, 6: 70},
    "ipip": {4: 20, 6: 40},
    "tun": {4: 28, 6: 48},
    "tap": {4: 42, 6: 62},
}

_WIREGUARD_PORT, _VXLAN_PORT = 51820, 4789

#: So long before the flows each end of a tunnel with `keepalive` begins its handshake.
_HANDSHAKES_NS = (1_000_000_000, 500_000_000)

#: Where `wg` is from, and how a user gets it.
WG_PACKAGE, INSTALL = "wireguard-tools", "sudo apt-get install"

#: The private keys of tunnel n follow from draws of the run's seed, from here on.
_FIRST_KEY = 1 << 34


def bond_lines(device: str, members: list[str], bond: Bond, mac: str, mtu: int) -> list[str]:
    """Several devices as one."""
    words = f"mode {bond.mode} miimon {bond.monitor // 10**6}"
    if bond.mode in ("balance-xor", "802.3ad"):
        words += f" xmit_hash_policy {bond.hash}"
    if bond.mode == "802.3ad":
        words += " lacp_rate fast"
    lines = [f"link add {device} address {mac} mtu {mtu} type bond {words}"]
    return [*lines, *(f"link set {member} master {device}" for member in members)]


def macvlan_line(parent: str, netns: str, device: str, mac: str, mtu: int, own: Macvlan) -> str:
    """A device of another namespace that shares one of this."""
    return (
        f"link add link {parent} name {device} netns {netns} address {mac} mtu {mtu} "
        f"type macvlan mode {own.mode}"
    )


def vlan_line(parent: str, own: Interface) -> str:
    """A device whose packets are tagged, over another."""
    return f"link add link {parent} name {own.device} address {own.mac} type vlan id {own.vlan}"


def inner_mtu(tunnel: Tunnel, ip: int, mtu: int) -> int:
    """What fits into a tunnel over a way with this mtu."""
    return tunnel.mtu or mtu - _ADDED[tunnel.kind][ip]


def tunnel_lines(tunnel: Tunnel, ip: int, mtu: int, ends: tuple[str, str], mac: str) -> list[str]:
    """One end of a tunnel between two addresses, its own first."""
    local, remote = ends
    if tunnel.kind in BY_PROGRAM:
        address = f" address {mac}" if tunnel.kind == "tap" else ""
        return [
            f"tuntap add dev {tunnel.name} mode {tunnel.kind}",
            f"link set dev {tunnel.name} mtu {mtu}{address}",
        ]
    kind = {
        "wireguard": "wireguard",
        "gre": "gre ttl 64" if ip == 4 else "ip6gre hoplimit 64 encaplimit none",
        "ipip": "ipip ttl 64" if ip == 4 else "ip6tnl mode ip6ip6 hoplimit 64 encaplimit none",
        "vxlan": f"vxlan id {tunnel.id or 1} ttl 64 dstport {tunnel.port or _VXLAN_PORT}",
    }[tunnel.kind]
    address = f"address {mac} " if tunnel.kind == "vxlan" else ""
    place = "" if tunnel.kind == "wireguard" else f" local {local} remote {remote}"
    return [f"link add name {tunnel.name} mtu {mtu} {address}type {kind}{place}"]


def wireguard(tunnel: Tunnel, end: int, number: int, seed: int, remote: str) -> Command:
    """What wg is told at one end of a tunnel."""
    own, other = (_private_key(seed, number, k) for k in (end, 1 - end))
    port = tunnel.port or _WIREGUARD_PORT
    lines = [
        "[Interface]",
        f"PrivateKey = {own}",
        f"ListenPort = {port}",
        "[Peer]",
        f"PublicKey = {_public_key(other)}",
        "AllowedIPs = 0.0.0.0/0, ::/0",
        f"Endpoint = {f'[{remote}]' if ':' in remote else remote}:{port}",
    ]
    text = "\n".join(lines) + "\n"
    return Command(["wg", "setconf", tunnel.name, "/dev/stdin"], text)


def wireguard_keepalive(tunnel: Tunnel, end: int, number: int, seed: int) -> list[LateCommand]:
    """What has one end begin a handshake, if the other has not done so before.

    An end that knows no peer yet drops the handshake, and two that begin at once drop those of each
    other: they would try again after 5 s.
    """
    if tunnel.keepalive is None:
        return []
    peer = _public_key(_private_key(seed, number, 1 - end))
    seconds = str(tunnel.keepalive // 10**9)
    words = ["wg", "set", tunnel.name, "peer", peer, "persistent-keepalive", seconds]
    return [LateCommand(words, before_ns=_HANDSHAKES_NS[end])]


def _private_key(seed: int, number: int, end: int) -> str:
    """A key that is the same in each run with this seed."""
    first = _FIRST_KEY + 8 * number + 4 * end
    key = bytearray(b"".join(draw(seed, first + k).to_bytes(8, "little") for k in range(4)))
    key[0] &= 248
    key[31] = key[31] & 127 | 64
    return base64.b64encode(key).decode()


@cache
def _public_key(private: str) -> str:
    try:
        done = subprocess.run(
            ["wg", "pubkey"], input=private, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        raise EngineError(f"a WireGuard tunnel needs wg: {INSTALL} {WG_PACKAGE}") from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineError(f"wg pubkey failed: {error}") from None
    return done.stdout.strip()


def nat_rules(nat: Nat, ip: int, leaving: list[str], targets: list[str]) -> str:
    """The rules of a router for nft; targets are the addresses of `forward`."""
    devices = "{ " + ", ".join(f'"{device}"' for device in leaving) + " }"
    family = "ip" if ip == 4 else "ip6"
    to = f"masquerade to :{nat.ports[0]}-{nat.ports[1]}" if nat.ports else "masquerade"
    own = f"oifname {devices} meta l4proto {{ tcp, udp }} {to}" if nat.ports else ""
    lines = [
        f"table {family} wale {{",
        "chain leaving {",
        "type nat hook postrouting priority 100;",
        *([own] if own else []),
        f"oifname {devices} masquerade",
        "}",
        "chain arriving {",
        "type nat hook prerouting priority -100;",
    ]
    for forward, target in zip(nat.forward, targets, strict=True):
        port = forward.to_port or forward.port
        host = target if ip == 4 else f"[{target}]"
        lines.append(
            f"iifname {devices} {forward.protocol} dport {forward.port} dnat to {host}:{port}"
        )
    lines += [
        "}",
        "chain crossing {",
        "type filter hook forward priority 0;",
        f"iifname {devices} ct state established,related accept",
        f"iifname {devices} ct status dnat accept",
        f"iifname {devices} drop",
        "}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def outside_rules() -> str:
    """What gives all nodes the one address that passt sends to."""
    lines = [
        "table ip outside {",
        "chain leaving {",
        "type nat hook postrouting priority 100;",
        f'oifname "{outside.DEVICE}" masquerade',
        "}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def nat_sysctls(nat: Nat) -> dict[str, str]:
    """The time-outs of mappings."""
    names = {
        "udp_timeout": nat.udp,
        "udp_timeout_stream": nat.udp,
        "tcp_timeout_established": nat.tcp,
        "icmp_timeout": nat.icmp,
    }
    return {
        f"net.netfilter.nf_conntrack_{name}": str(time // 10**9)
        for name, time in names.items()
        if time is not None
    }
