# SPDX-License-Identifier: GPL-2.0
"""What a link can be told, and what it tells: numbers, formats and ranges.

Written by `make generate` from Documentation/netlink/specs/sch_wale.yaml.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Option(NamedTuple):
    """One attribute."""

    number: int
    format: str
    """as struct has it; or a name in NESTS or STRUCTS; or "string" """
    word: str
    """of tc"""
    form: str
    """how the word's value is written"""
    least: int
    most: int
    default: int | None
    """of a new link"""
    must: str
    """the range, in words"""
    example: str
    """a value as it is written"""


RATE_MAX = 1000000000000000
RATE_UNLIMITED = 18446744073709551615
LINE_UNLIMITED = 18446744073709551615
TIME_MAX = 86400000000000
LOSS_ALWAYS = 4294967295
LIMIT_BYTES_MAX = 18446744073709551614
LIMIT_CELLS_MAX = 4194304
POLICY_LIMIT_MAX = 4294967295
POLICY_UNIT = 1000000
POLICY_Z_MAX = 1000000000
POLICY_LAST_MAX = 1024
CLASSES_MAX = 65534
FLOWS_DEFAULT = 1024
CLASS_CROWD = 65535
CHILD_CLASS = 1
INPUT_RATE_MIN = 1000
INPUT_RATE_MAX = 53000000000
REM_INTERVAL_MIN = 1000000
REM_INTERVAL_MAX = 1000000000
REM_GAMMA_MAX = 1000000000
REM_TARGET_MAX = 1099511627776
REM_PHI_MIN = 1001000
REM_PHI_MAX = 1000000000
REM_PRICE_UNIT = 1000000000
JITTER_TABLE_MAX = 16384
JITTER_UNIT = 8192
JITTER_NAME_MAX = 128
DROP_RANGES_MAX = 32
TRACE_STEP_MIN = 1000
TRACE_STEPS_MAX = 4000
TRACE_DUMP_MAX = 100
TRACE_FILE_STEPS_MAX = 65536
TRACE_FD_STEPS_MAX = 16777216
TRACE_PERIOD_MAX = 345600000000000000
TRACE_SAME = 18446744073709551615
TRACE_DOWN = 18446744073709551614
TRACE_RATE = 1
TRACE_DELAY = 2
TRACE_LOSS = 4
TRACE_LIMIT_PACKETS = 8
TRACE_LIMIT_BYTES = 16
TRACE_COLUMNS_MAX = 31
OVERHEAD_BYTES_MIN = -4096
OVERHEAD_BYTES_MAX = 4096
MPU_MAX = 65535
SLACK_MAX = 1000000000
START_AHEAD_MAX = 31622400000000000
START_MOVES_MAX = 100000
SESSIONS_MAX = 63
SESSIONS_MEAN_MIN = 4294968
SESSIONS_MEAN_MAX = 4294967296000000
SESSIONS_STEP_MIN = 1000000
FEEDBACK_IDLE_MIN = 1000000
FEEDBACK_IDLE_MAX = 3600000000000
FEEDBACK_IDLE_DEFAULT = 2000000000
FLOWS_MAX = 16384
POLICER_BURST_MAX = 4294967295
SCONE_RATE_MIN = 12500
SCONE_PERIOD_MIN = 100000000
SCONE_PERIOD_MAX = 600000000000
SCONE_PERIOD_DEFAULT = 67000000000

PolicerExcess = Literal["drop", "mark"]
POLICER_EXCESS = {"drop": 0, "mark": 1}
Overhead = Literal["raw", "ethernet", "atm"]
OVERHEAD = {"raw": 0, "ethernet": 1, "atm": 2}
Drops = Literal["remote", "local"]
DROPS = {"remote": 0, "local": 1}
Gso = Literal["split", "keep"]
GSO = {"split": 0, "keep": 1}
Policy = Literal["tail", "epd", "seldrop", "fba", "random_tail", "rem"]
POLICY = {"tail": 0, "epd": 1, "seldrop": 2, "fba": 3, "random_tail": 4, "rem": 5}
TraceEnd = Literal["loop", "hold", "stop"]
TRACE_END = {"loop": 0, "hold": 1, "stop": 2}
DownDrops = Literal["arrivals", "all"]
DOWN_DROPS = {"arrivals": 0, "all": 1}
SconeOf = Literal["link", "share"]
SCONE_OF = {"link": 0, "share": 1}

STRUCTS = {
    "trace-step": "QQ",
    "drop-range": "III",
    "jitter-entry": "h",
}
LINK = {
    "rate": Option(
        2,
        "Q",
        "rate",
        "rate",
        1,
        1000000000000000,
        18446744073709551615,
        "1 to 10^15 bytes/s, or unlimited",
        "10mbit",
    ),
    "delay": Option(3, "Q", "delay", "time", 0, 86400000000000, 0, "0 to 1 day", "50ms"),
    "limit_packets": Option(
        4,
        "I",
        "limit",
        "amount",
        1,
        4294967295,
        1000,
        "1 to 4294967295 packets: the one in service counts",
        "",
    ),
    "limit_bytes": Option(
        5, "Q", "limit", "amount", 1, 18446744073709551614, None, "1 to 2^64 - 2 bytes", "30kb"
    ),
    "loss": Option(6, "I", "loss", "percent", 0, 4294967295, 0, "0 to 4294967295", "1%"),
    "overhead": Option(7, "I", "overhead", "overhead", 0, 2, 0, "0 to 2: raw, ethernet or atm", ""),
    "drops": Option(8, "I", "drop_report", "enum", 0, 1, 0, "0 or 1: remote or local", ""),
    "seed": Option(
        9, "Q", "seed", "seed", 0, 18446744073709551615, None, "0 to 18446744073709551615", ""
    ),
    "trace": Option(10, "trace-step", "trace", "trace", 0, 0, None, "", ""),
    "trace_end": Option(
        11, "I", "end of trace", "words", 0, 2, 0, "0 to 2: loop, hold or stop", ""
    ),
    "trace_steps": Option(12, "I", "trace_steps", "", 0, 4294967295, None, "0 to 4294967295", ""),
    "sessions": Option(13, "sessions", "sessions", "nest", 0, 0, None, "", ""),
    "feedback": Option(14, "feedback", "feedback", "nest", 0, 0, None, "", ""),
    "limit_cells": Option(15, "I", "limit", "amount", 1, 4194304, None, "1 to 4194304 cells", ""),
    "policy": Option(
        16,
        "I",
        "policy",
        "enum",
        0,
        5,
        0,
        "0 to 5: tail, epd, seldrop, fba, random_tail or rem",
        "",
    ),
    "threshold": Option(
        17, "Q", "threshold", "threshold", 0, 18446744073709551614, None, "at most the limit", ""
    ),
    "threshold_share": Option(
        18,
        "I",
        "threshold",
        "threshold",
        1,
        1000000,
        900000,
        "1 to 1000000 millionths of the limit",
        "",
    ),
    "z": Option(
        19,
        "I",
        "share_factor",
        "millionths",
        0,
        1000000000,
        800000,
        "0 to 1000, in millionths",
        "0.8",
    ),
    "last": Option(20, "I", "victims", "count", 1, 1024, 1, "1 to 1024", ""),
    "flows": Option(21, "I", "flows", "count", 1, 65534, None, "1 to 65534", ""),
    "input_rate": Option(
        22,
        "Q",
        "input_rate",
        "rate",
        1000,
        53000000000,
        18446744073709551615,
        "1000 to 53000000000 bytes/s, or unlimited",
        "155mbit",
    ),
    "mark": Option(23, "I", "policy_ecn", "flag", 0, 1, 0, "0 or 1", ""),
    "rem": Option(24, "rem", "rem", "nest", 0, 0, None, "", ""),
    "gemodel": Option(25, "gemodel", "gemodel", "losses", 0, 0, None, "", ""),
    "state": Option(26, "state", "state", "losses", 0, 0, None, "", ""),
    "ecn": Option(27, "I", "loss_ecn", "flag", 0, 1, 0, "0 or 1", ""),
    "jitter": Option(28, "jitter", "jitter", "jitter", 0, 0, None, "", ""),
    "reorder": Option(29, "I", "reorder", "percent", 0, 4294967295, 0, "0 to 4294967295", "1%"),
    "gap": Option(30, "I", "gap of reorder", "gap", 1, 4294967295, 1, "1 to 4294967295", ""),
    "duplicate": Option(31, "I", "duplicate", "percent", 0, 4294967295, 0, "0 to 4294967295", "1%"),
    "corrupt": Option(32, "I", "corrupt", "percent", 0, 4294967295, 0, "0 to 4294967295", "1%"),
    "drop": Option(33, "drop-range", "drop_list", "drop", 0, 0, None, "", ""),
    "slot": Option(34, "slot", "slot", "slot", 0, 0, None, "", ""),
    "trace_fd": Option(35, "I", "trace_fd", "", 0, 4294967295, None, "0 to 4294967295", ""),
    "start": Option(
        36,
        "Q",
        "start",
        "start",
        1,
        18446744073709551615,
        None,
        "a time in ns since 1970, above 0 and at most 366 days from now",
        "",
    ),
    "slack": Option(37, "I", "slack", "time", 0, 1000000000, 0, "0 to 1 s", "10us"),
    "gso": Option(38, "I", "gso", "enum", 0, 1, 0, "0 or 1: split or keep", ""),
    "line_packets": Option(
        39, "I", "line", "amount", 1, 4294967295, None, "1 to 4294967295 packets", ""
    ),
    "line_bytes": Option(
        40,
        "Q",
        "line",
        "amount",
        1,
        18446744073709551614,
        18446744073709551615,
        "1 to 2^64 - 2 bytes, or unlimited",
        "30kb",
    ),
    "trace_columns": Option(41, "I", "trace_columns", "", 1, 31, None, "1 to 31", ""),
    "down_drops": Option(42, "I", "down_drops", "enum", 0, 1, 0, "0 or 1: arrivals or all", ""),
    "overhead_bytes": Option(43, "i", "overhead_bytes", "", -4096, 4096, None, "", ""),
    "mpu": Option(44, "I", "mpu", "count", 0, 65535, 0, "0 to 65535", "64"),
    "loss_correlation": Option(
        45, "I", "loss_correlation", "percent", 0, 4294967295, 0, "0 to 4294967295", "25%"
    ),
    "jitter_correlation": Option(
        46, "I", "jitter_correlation", "percent", 0, 4294967295, 0, "0 to 4294967295", "25%"
    ),
    "corrupt_fix": Option(47, "I", "corrupt_fix", "flag", 0, 1, 0, "0 or 1", ""),
    "policer": Option(48, "policer", "policer", "nest", 0, 0, None, "", ""),
    "breaker": Option(49, "breaker", "breaker", "nest", 0, 0, None, "", ""),
    "scone": Option(50, "scone", "scone", "scone", 0, 0, None, "", ""),
}
NESTS = {
    "sessions": {
        "arrival": Option(
            2, "I", "arrival", "probability", 0, 4294967295, None, "0 to 4294967295", "0.2 or 20%"
        ),
        "mean": Option(
            3,
            "Q",
            "mean",
            "fixed32",
            4294968,
            4294967296000000,
            None,
            "0.001 to 1000000 (times rate times step)",
            "",
        ),
        "max": Option(4, "I", "max", "count", 1, 63, None, "1 to 63", ""),
        "step": Option(
            5, "Q", "step", "time", 1000000, 86400000000000, None, "1 ms to 1 day", "50ms"
        ),
    },
    "feedback": {
        "idle": Option(
            2, "Q", "idle", "time", 1000000, 3600000000000, None, "1 ms to 1 hour", "2s"
        ),
    },
    "rem": {
        "interval": Option(
            2, "Q", "interval", "time", 1000000, 1000000000, 10000000, "1 ms to 1 s", "10ms"
        ),
        "gamma": Option(
            3,
            "I",
            "gamma",
            "millionths",
            1,
            1000000000,
            1000,
            "0.000001 to 1000, in millionths",
            "0.001",
        ),
        "alpha": Option(
            4, "I", "alpha", "millionths", 0, 1000000, 100000, "0 to 1, in millionths", "0.1"
        ),
        "target": Option(
            5, "Q", "target", "size", 0, 1099511627776, 20000, "0 to 1099511627776 bytes", "20kb"
        ),
        "phi": Option(
            6,
            "I",
            "phi",
            "millionths",
            1001000,
            1000000000,
            1100000,
            "1.001 to 1000, in millionths",
            "1.1",
        ),
    },
    "gemodel": {
        "p": Option(1, "I", "p", "percent", 0, 4294967295, None, "0 to 4294967295", ""),
        "r": Option(2, "I", "r", "percent", 0, 4294967295, None, "0 to 4294967295", ""),
        "bad": Option(3, "I", "1-h", "percent", 0, 4294967295, 4294967295, "0 to 4294967295", ""),
        "good": Option(4, "I", "1-k", "percent", 0, 4294967295, 0, "0 to 4294967295", ""),
    },
    "state": {
        "p13": Option(1, "I", "p13", "percent", 0, 4294967295, None, "0 to 4294967295", ""),
        "p31": Option(2, "I", "p31", "percent", 0, 4294967295, None, "0 to 4294967295", ""),
        "p32": Option(3, "I", "p32", "percent", 0, 4294967295, 0, "0 to 4294967295", ""),
        "p23": Option(4, "I", "p23", "percent", 0, 4294967295, 4294967295, "0 to 4294967295", ""),
        "p14": Option(5, "I", "p14", "percent", 0, 4294967295, 0, "0 to 4294967295", ""),
    },
    "jitter": {
        "time": Option(2, "Q", "jitter", "time", 0, 86400000000000, 0, "0 to 1 day", "5ms"),
        "table": Option(3, "jitter-entry", "table", "", 0, 0, None, "", ""),
        "name": Option(4, "string", "name", "", 0, 0, None, "", ""),
        "reordering": Option(5, "I", "overtaking of jitter", "flag", 0, 1, 0, "0 or 1", ""),
    },
    "slot": {
        "min": Option(2, "Q", "min", "time", 0, 86400000000000, None, "0 to 1 day", ""),
        "max": Option(3, "Q", "max", "time", 1, 86400000000000, None, "1 ns to 1 day", ""),
        "packets": Option(4, "I", "packets", "count", 0, 4294967295, 0, "0 to 4294967295", ""),
        "bytes": Option(5, "I", "bytes", "count", 0, 4294967295, 0, "0 to 4294967295", ""),
    },
    "policer": {
        "rate": Option(
            2, "Q", "rate", "rate", 1, 1000000000000000, None, "1 to 10^15 bytes/s", "10mbit"
        ),
        "burst": Option(
            3, "Q", "burst", "size", 1, 4294967295, None, "1 to 4294967295 bytes", "30kb"
        ),
        "excess": Option(4, "I", "excess", "enum", 0, 1, 0, "0 or 1: drop or mark", ""),
    },
    "breaker": {
        "rate": Option(
            2, "Q", "rate", "rate", 1, 1000000000000000, None, "1 to 10^15 bytes/s", "10mbit"
        ),
        "after": Option(3, "Q", "after", "time", 1, 86400000000000, None, "1 ns to 1 day", "5s"),
    },
    "scone": {
        "of": Option(2, "I", "of", "enum", 0, 1, None, "0 or 1: link or share", ""),
        "rate": Option(
            3,
            "Q",
            "rate",
            "rate",
            12500,
            1000000000000000,
            None,
            "100 kbit/s, the lowest rate that SCONE can tell, to 10^15 bytes/s",
            "10mbit",
        ),
        "period": Option(
            4, "Q", "period", "time", 100000000, 600000000000, 67000000000, "100 ms to 600 s", "67s"
        ),
        "average": Option(5, "Q", "average", "time", 0, 600000000000, None, "0 to 600 s", "67s"),
    },
}
ALIASES = {
    "drops": "drop_report",
    "z": "share_factor",
    "last": "victims",
    "mark": "policy_ecn",
    "nomark": "nopolicy_ecn",
    "ecn": "loss_ecn",
    "noecn": "noloss_ecn",
    "drop": "drop_list",
    "reordering": "overtaking",
    "noreordering": "noovertaking",
}
STATISTICS = {
    "offered_packets": (2, "Q"),
    "offered_bytes": (3, "Q"),
    "sent_packets": (4, "Q"),
    "sent_bytes": (5, "Q"),
    "dropped_buffer_packets": (6, "Q"),
    "dropped_buffer_bytes": (7, "Q"),
    "dropped_loss_packets": (8, "Q"),
    "dropped_loss_bytes": (9, "Q"),
    "dropped_memory_packets": (10, "Q"),
    "dropped_memory_bytes": (11, "Q"),
    "backlog_packets": (12, "Q"),
    "backlog_bytes": (13, "Q"),
    "peak_backlog_packets": (14, "Q"),
    "peak_backlog_bytes": (15, "Q"),
    "line_packets": (16, "Q"),
    "line_bytes": (17, "Q"),
    "rate": (18, "Q"),
    "sessions": (19, "Q"),
    "now_ns": (20, "Q"),
    "epoch_ns": (21, "q"),
    "dropped_purge_packets": (22, "Q"),
    "dropped_purge_bytes": (23, "Q"),
    "active_flows": (24, "Q"),
    "uncounted_packets": (25, "Q"),
    "published": (26, "Q"),
    "attached": (27, "Q"),
    "dropped_early_packets": (28, "Q"),
    "dropped_early_bytes": (29, "Q"),
    "dropped_partial_packets": (30, "Q"),
    "dropped_partial_bytes": (31, "Q"),
    "backlog_cells": (32, "Q"),
    "peak_backlog_cells": (33, "Q"),
    "dropped_cells": (34, "Q"),
    "wasted_cells": (35, "Q"),
    "busy_flows": (36, "Q"),
    "crowded_packets": (37, "Q"),
    "marked_packets": (38, "Q"),
    "marked_bytes": (39, "Q"),
    "unmarkable_packets": (40, "Q"),
    "unmarkable_bytes": (41, "Q"),
    "price": (42, "Q"),
    "mark_probability": (43, "Q"),
    "price_next_ns": (44, "Q"),
    "duplicated_packets": (45, "Q"),
    "duplicated_bytes": (46, "Q"),
    "corrupted_packets": (47, "Q"),
    "corrupted_bytes": (48, "Q"),
    "reordered_packets": (49, "Q"),
    "reordered_bytes": (50, "Q"),
    "dropped_child_packets": (51, "Q"),
    "dropped_child_bytes": (52, "Q"),
    "dropped_line_packets": (53, "Q"),
    "dropped_line_bytes": (54, "Q"),
    "line_limit": (55, "Q"),
    "memory": (56, "Q"),
    "dropped_down_packets": (57, "Q"),
    "dropped_down_bytes": (58, "Q"),
    "dropped_policer_packets": (59, "Q"),
    "dropped_policer_bytes": (60, "Q"),
    "dropped_breaker_packets": (61, "Q"),
    "dropped_breaker_bytes": (62, "Q"),
    "cut_flows": (63, "Q"),
    "scone_seen": (64, "Q"),
    "scone_lowered": (65, "Q"),
    "scone_limited": (66, "Q"),
    "scone_malformed": (67, "Q"),
    "scone_signal": (68, "Q"),
}
