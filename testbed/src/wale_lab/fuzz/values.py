# SPDX-License-Identifier: GPL-2.0
"""Trees of attributes: good ones from the grammar, and what can be wrong with them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from random import Random

from wale_lab.fuzz.grammar import Attribute
from wale_lab.netlink import NLA_F_NESTED

NLA_F_NET_BYTEORDER = 0x4000
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64, 255, 1000, 4096)
#: What fits into one message beside others.
LONGEST_PAYLOAD = 60_000

#: Values of the moment, by the name of an attribute: indices of devices, addresses, files.
Pools = Mapping[str, Sequence[int | bytes]]


class Node:
    """An attribute as it will be sent."""

    __slots__ = ("length", "number", "payload")

    def __init__(self, number: int, payload: bytes | list[Node]) -> None:
        self.number = number  # with flags
        self.payload = payload
        self.length: int | None = None  # what the header says, if it is to be wrong


def encode(nodes: Sequence[Node]) -> bytes:
    """Return the bytes of a tree."""
    result = b""
    for node in nodes:
        payload = node.payload if isinstance(node.payload, bytes) else encode(node.payload)
        length = len(payload) + 4 if node.length is None else node.length
        result += struct.pack("HH", length & 0xFFFF, node.number & 0xFFFF)
        result += payload + b"\0" * (-len(payload) % 4)
    return result


def _good_number(rng: Random, attribute: Attribute, pool: Sequence[int | bytes]) -> int:
    chance = rng.random()
    if chance < 0.7:
        some = rng.choice(pool or attribute.usual or (attribute.least,))
        if (pool or attribute.usual) and isinstance(some, int):
            return some
    if chance < 0.85:
        return rng.choice((attribute.least, attribute.greatest, *attribute.also))
    span = attribute.greatest - attribute.least
    bits = rng.randint(0, span.bit_length())
    return attribute.least + rng.getrandbits(bits) % (span + 1)


def _good_array(rng: Random, attribute: Attribute, pools: Pools) -> bytes:
    count = rng.choice((1, 1, 2, 3, 10, rng.randint(1, 101)))
    if rng.random() < 0.02:
        count = rng.choice((100, 101, attribute.most - 1, attribute.most))
    one = b"".join(good(rng, member, pools) for member in attribute.inner)
    count = min(count, LONGEST_PAYLOAD // len(one))
    if count > 10:  # the same again: what matters is how many
        return one * count
    more = (good(rng, member, pools) for _ in range(count - 1) for member in attribute.inner)
    return one + b"".join(more)


def good(rng: Random, attribute: Attribute, pools: Pools) -> bytes:
    """Return a payload that fits the attribute by itself; not of a nest."""
    pool = pools.get(attribute.name, ())
    if attribute.size:
        return attribute.pack(_good_number(rng, attribute, pool))
    if attribute.kind == "struct":
        return _good_array(rng, attribute.with_columns(None), pools)
    some = rng.choice(pool) if pool else b""
    return some if isinstance(some, bytes) and some else rng.randbytes(rng.choice((4, 16)))


def fit_columns(rng: Random, nodes: list[Node], known: Sequence[Attribute], pools: Pools) -> None:
    """Give arrays the members that another attribute says."""
    numbers = {attribute.name: attribute.number for attribute in known}
    for attribute in known:
        saying = [node for node in nodes if node.number == numbers.get(attribute.columns)]
        for one in nodes:
            if saying and one.number == attribute.number:
                assert isinstance(saying[0].payload, bytes)
                bits = int.from_bytes(saying[0].payload, "little")
                one.payload = _good_array(rng, attribute.with_columns(bits), pools)


def node(rng: Random, attribute: Attribute, pools: Pools) -> Node:
    """Return a good attribute."""
    if attribute.kind != "nest":
        return Node(attribute.number, good(rng, attribute, pools))
    chance = rng.random()
    inner = [a for a in attribute.inner if a.kind != "pad"]
    if chance < 0.3:
        inner = rng.sample(inner, rng.randint(0, len(inner)))
    return Node(attribute.number | NLA_F_NESTED, [node(rng, a, pools) for a in inner])


def wrong_number(rng: Random, attribute: Attribute) -> bytes:
    """Return a number at or beyond the edge of the range."""
    top = (1 << 8 * attribute.size) - 1
    edges = (
        attribute.least - 1,
        attribute.greatest + 1,
        0,
        1,
        top,
        top - 1,
        top >> 1,
        top // 2 + 1,
    )
    value = rng.choice(edges) if rng.random() < 0.8 else rng.getrandbits(8 * attribute.size)
    return attribute.pack(value)


def _flat(rng: Random, nodes: list[Node]) -> tuple[list[Node], int] | None:
    """Where an attribute of the tree is: its list and its place in there."""
    if not nodes:
        return None
    place = rng.randrange(len(nodes))
    inner = nodes[place].payload
    if isinstance(inner, list) and inner and rng.random() < 0.6:
        return _flat(rng, inner)
    return nodes, place


Known = Sequence[Attribute]


def _no_value(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    """Another value: at the edge, or beyond."""
    one = nodes[place]
    for attribute in known:
        if attribute.number != one.number & 0x3FFF:
            continue
        if attribute.size:
            one.payload = wrong_number(rng, attribute)
        elif attribute.kind == "struct":
            members = attribute.with_columns(None).inner
            one.payload = b"".join(wrong_number(rng, member) for member in members)
            one.payload *= rng.choice((1, 2, attribute.most, min(attribute.most + 1, 3700)))
        return
    one.payload = rng.randbytes(8)


def _no_length(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    one = nodes[place]
    data = one.payload if isinstance(one.payload, bytes) else encode(one.payload)
    length = rng.choice(LENGTHS)
    one.payload = (data * (length // len(data) + 1))[:length] if data else rng.randbytes(length)


def _false_length(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    nodes[place].length = rng.choice((0, 1, 3, 4, 5, 8, 12, 20, 0x7FFF, 0xFFFF))


def _flag(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    nodes[place].number ^= rng.choice((NLA_F_NESTED, NLA_F_NET_BYTEORDER))


def _drop(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    del nodes[place]


def _repeat(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    nodes += [nodes[place]] * rng.choice((1, 1, 1, 2, 50))


def _renumber(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    top = len(known) + 2
    nodes[place].number = rng.choice((0, top - 1, top, 0x3FFF, rng.randrange(top)))


def _stranger(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    """One more, which the operation may not know."""
    number = rng.choice((0, len(known) + 1, 0x3FFF, rng.randint(1, max(len(known), 1))))
    nodes.insert(place, Node(number, rng.randbytes(rng.choice((0, 4, 4, 8, 16)))))


def _nest(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    """In itself, and so on."""
    one = nodes[place]
    for _ in range(rng.choice((1, 2, 10, 100))):
        one = Node(one.number | NLA_F_NESTED, [one])
    nodes[place] = one


def _huge(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    size = rng.choice((10_000, 30_000, LONGEST_PAYLOAD))
    nodes[place].payload = rng.randbytes(16) * (size // 16)


def _shuffle(rng: Random, nodes: list[Node], place: int, known: Known) -> None:
    rng.shuffle(nodes)


Damage = Callable[[Random, list[Node], int, Known], None]
_OFTEN: tuple[Damage, ...] = (_no_value, _no_value, _no_value, _no_length, _drop, _stranger)
_DAMAGES: tuple[Damage, ...] = (
    *_OFTEN,
    *_OFTEN,
    _false_length,
    _flag,
    _repeat,
    _renumber,
    _nest,
    _shuffle,
)


def damage(rng: Random, nodes: list[Node], known: Known) -> None:
    """Do something to a tree that may make it wrong."""
    found = _flat(rng, nodes)
    if found is None:
        _stranger(rng, nodes, 0, known)
        return
    some, place = found
    if some is not nodes:  # in a nest, whose attributes are others
        for attribute in known:
            for outer in nodes:
                if outer.payload is some and attribute.number == outer.number & 0x3FFF:
                    known = attribute.inner
    if rng.random() < 0.01:
        _huge(rng, some, place, known)
    else:
        rng.choice(_DAMAGES)(rng, some, place, known)
