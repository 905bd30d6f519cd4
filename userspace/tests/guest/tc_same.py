#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A tc that has wale built in ($TC_BUILT_IN) says what tc says with the plugin, word for word."""

from __future__ import annotations

import os
import re

from common import call, done
from tc import TYPED, WRONG, stage
from wale_lab.selftest import net
from wale_lab.selftest.tap import equal, main, true

BUILT_IN = os.environ["TC_BUILT_IN"]


def said(ns: net.Namespace, command: str, words: str) -> tuple[int, str, str]:
    """What a command of tc prints, and its exit code; the built-in one gets no plugin."""
    tc = ["env", "TC_LIB_DIR=/nonexistent", BUILT_IN] if command == BUILT_IN else ["tc"]
    result = call(ns, *tc, *words.split())
    return result.returncode, result.stdout, result.stderr


def test_what_is_typed() -> None:
    """Options that are set and shown with one give the text and the JSON that the other gives."""
    ns = stage()
    for words, _ in TYPED:
        seed = "" if "seed" in words else "seed 1"
        results = []
        for command in ("tc", BUILT_IN):
            add = said(ns, command, f"qdisc add dev d0 root handle 1: wale {words} {seed}")
            both = [said(ns, command, f"{how} qdisc show dev d0") for how in ("", "-j")]
            results.append([add, *both])
            said(ns, command, "qdisc del dev d0 root")
        equal(results[1], results[0], words)
        equal([code for code, _, _ in results[0]], [0, 0, 0], words)


def test_statistics() -> None:
    """And so do the statistics of a link, but for the time of the request."""
    ns = stage()
    done(ns, *"tc qdisc add dev d0 root wale rate 1mbit feedback".split())
    for how in ("-s", "-j -s", "-oneline -s"):
        texts = [said(ns, command, f"{how} qdisc show dev d0") for command in ("tc", BUILT_IN)]
        plain = [re.sub(r'"now_ns":\d+', "", text) for _, text, _ in texts]
        equal(plain[1], plain[0], how)
        true("offered" in plain[0], plain[0])


def test_what_is_refused() -> None:
    """The same sentence, and the same exit code."""
    ns = stage()
    for words, _ in WRONG:
        add = f"qdisc add dev d0 root wale {words}"
        equal(said(ns, BUILT_IN, add), said(ns, "tc", add), words)


if __name__ == "__main__":
    main()
