# SPDX-License-Identifier: GPL-2.0
"""The video call with Google's congestion control, and what an evaluation measures of it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from aiortc.rtp import RtcpReceiverInfo, RtcpRrPacket, RtpPacket

from wale_lab.evaluation.measure import Ask, NoValueError, Seen, measure
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import find_scenario, load_scenario
from wale_lab.scenarios.media import receiver, sender, wire


def test_the_head_of_a_payload() -> None:
    head = wire.Head(7, 1, 3, 123_456_789_012)
    assert wire.Head.parse(head.pack() + bytes(9)) == head


def test_the_time_of_sending() -> None:
    """It wraps after 64 s, and has a resolution of 4 us."""
    assert wire.absolute_send_time(1_500_000_000) == 3 << 17
    assert wire.absolute_send_time(64 * 10**9) == 0
    packet = RtpPacket(payload=b"x")
    packet.extensions.abs_send_time = 5
    read = RtpPacket.parse(packet.serialize(wire.EXTENSIONS), wire.EXTENSIONS)
    assert read.extensions.abs_send_time == 5


@pytest.mark.parametrize(
    ("lost", "rate"), [(0.0, 1.05 * 1_001_000), (0.05, 1e6), (0.5, 0.75e6), (0.03, 1e6)]
)
def test_an_answer_to_losses(lost: float, rate: float) -> None:
    control = sender.Control()
    report = RtcpReceiverInfo(wire.SSRC, round(lost * 256), 0, 0, 0, 0, 0)
    control.read(bytes(RtcpRrPacket(wire.SSRC_OF_RECEIVER, [report])))
    assert control.rate_bps == pytest.approx(rate, rel=0.01)


class Path500:
    """A path of 500 kbit/s without losses: a socket at both ends, and the clock."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.free_ns = 0
        self.control = sender.Control()
        self.receiver = receiver.Receiver(self)  # type: ignore[arg-type]

    def sendto(self, data: bytes, _: Any) -> None:
        """What the receiver tells arrives at once."""
        self.control.read(data)

    def carry(self, data: bytes) -> None:
        """A packet waits for those before it, and arrives."""
        sent_ns = self.now_ns
        self.free_ns = max(self.free_ns, sent_ns) + len(data) * 8 * 2000
        self.now_ns = self.free_ns
        self.receiver.take(data, ("", 0))
        self.now_ns = sent_ns


def test_the_rate_follows_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 Mbit/s is too much; the delay says so before anything is lost."""
    path = Path500()
    monkeypatch.setattr(time, "monotonic_ns", lambda: path.now_ns)
    rates = []
    for number in range(20 * wire.FRAMES_PER_S):
        path.now_ns = captured_ns = number * 10**9 // wire.FRAMES_PER_S
        size = round(path.control.rate_bps / 8 / wire.FRAMES_PER_S)
        payload = wire.Head(number, 0, 1, captured_ns).pack() + bytes(size)
        packet = RtpPacket(sequence_number=number, ssrc=wire.SSRC, payload=payload)
        packet.extensions.abs_send_time = wire.absolute_send_time(path.now_ns)
        path.carry(packet.serialize(wire.EXTENSIONS))
        rates.append(path.control.rate_bps)
    assert rates[0] >= 1e6
    assert 300e3 < sum(rates[-150:]) / 150 < 500e3
    rows = path.receiver.rows(0)
    assert len(rows) == 600
    delays = [delay or 0 for _, delay, _ in rows]
    assert max(delays[-150:]) < max(delays)


def test_frames_that_lack_something(tmp_path: Path) -> None:
    """One without its last packet, and one of which nothing came."""
    got = receiver.Receiver(None)  # type: ignore[arg-type]
    got.first_ns = 10**9
    got.frames = {0: receiver.Frame(0, 500, 30_000_000), 2: receiver.Frame(1, 100, 5)}
    rows = got.rows(0)
    assert [(delay, size) for _, delay, size in rows] == [(30.0, 500), (None, 0), (None, 100)]
    assert rows[1][0] == pytest.approx(1 + 1 / 30)
    told = {"frames": 3, "incomplete": 2, "delay_ms": 30.0, "delay_p95_ms": None, "kbit": 48.0}
    assert receiver.summary(rows) == told
    assert receiver.summary([])["kbit"] is None


def seen_video(folder: Path, frames: str) -> Seen:
    """A run with these rows of frames.csv."""
    (folder / "video.files").mkdir()
    (folder / "video.files/frames.csv").write_text(f"at_s,delay_ms,bytes\n{frames}")
    flows = [{"name": "video", "start_s": 1.0}, {"name": "other", "start_s": 0.0}]
    head = {"scenario": "s", "seed": 1, "digest": "d", "links": []}
    (folder / "result.json").write_text(json.dumps({**head, "flows": flows}))
    return Seen(folder)


def ask(percent: float = 50, flows: str = "video") -> Ask:
    """Of the time from 2 s to 4 s."""
    return Ask(flows, 2.0, 4.0, percent, 0.0, None, 0.0, 0.0, 0.1)


def test_measures_of_a_video(tmp_path: Path) -> None:
    seen = seen_video(tmp_path, "0,9,1\n1,10,1000\n2,,500\n2.5,30,1000\n3,9,1\n")
    assert measure("media_rate", seen, ask()) == pytest.approx(2500 * 8e-6 / 2)
    assert measure("incomplete_frames", seen, ask()) == pytest.approx(100 / 3)
    assert measure("frame_delay", seen, ask()) == 30
    with pytest.raises(NoValueError, match="too few frames came whole"):
        measure("frame_delay", seen, ask(95))
    with pytest.raises(NoValueError, match=r"other has left no frames\.csv"):
        measure("frame_delay", seen, ask(flows="other"))


def test_no_frame_in_the_window(tmp_path: Path) -> None:
    with pytest.raises(NoValueError, match="no frame was captured"):
        measure("media_rate", seen_video(tmp_path, "9,9,1\n"), ask())


@pytest.mark.guest
@pytest.mark.slow
def test_a_call_beside_tcp(tmp_path: Path, not_on_san: Any) -> None:
    """Its rate rises, falls when TCP comes, and all of that is the same again."""
    not_on_san("two programs in Python would take many minutes")
    scenario = load_scenario(find_scenario("media"), [])
    first = run_scenario(scenario, 1, tmp_path / "first")
    assert problems(first) == []
    seen = Seen(tmp_path / "first")

    def rate(begin: float, end: float) -> float:
        window = Ask("callee", begin, end, 50, 0.0, None, 0.0, 0.0, 0.1)
        return measure("media_rate", seen, window)

    assert rate(10, 15) > 1.2 * rate(2, 5) > 1.0
    assert rate(20, 30) < rate(10, 15) / 2
    again = run_scenario(scenario, 1, tmp_path / "again")
    assert again["digest"] == first["digest"]
    frames = [tmp_path / name / "callee.files/frames.csv" for name in ("first", "again")]
    assert frames[0].read_bytes() == frames[1].read_bytes()
