# SPDX-License-Identifier: GPL-2.0
"""Guests on several machines: what these say to each other, and what is said when one fails."""

from __future__ import annotations

import os
import random
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from wale_lab.cli import main
from wale_lab.engines import machine, machine_links, machines, together, uml
from wale_lab.engines.base import EngineError, Job, Kernel, Outcome
from wale_lab.engines.machine import job_from, job_to
from wale_lab.engines.machine_frames import FrameError, Frames
from wale_lab.engines.machine_links import Address, connect_all, listen
from wale_lab.engines.machine_needs import Needs, Ready, differences
from wale_lab.engines.machines import Fleet, Host, Work, parse_hosts, run_on_machines
from wale_lab.engines.together import Lost, Wire
from wale_lab.runner import run_scenario
from wale_lab.scenario import load_scenario
from wale_lab.tree import IMPORTS, LAUNCHER, SOURCES, version

LINK = Wire((0, 1), (10_000_000,) * 2, (10**9,) * 2)


def test_hosts_have_names_and_addresses() -> None:
    assert parse_hosts("me@a,b=192.0.2.1") == [Host("me@a", "a"), Host("b", "192.0.2.1")]
    assert parse_hosts("local,local") == [Host("local", "127.0.0.1")] * 2
    for text, why in (
        ("a,", "expected NAME or NAME=ADDRESS, with commas between, got ''"),
        ("a=,b", "expected NAME or NAME=ADDRESS"),
        ("-oProxy,b", "expected NAME or NAME=ADDRESS"),
        ("a,b,a", "expected each machine once"),
        ("local,b", "expected local=ADDRESS, an address that the other machines reach"),
    ):
        with pytest.raises(ValueError, match=why):
            parse_hosts(text)


def test_guests_are_spread_in_a_row() -> None:
    assert Fleet(parse_hosts("a,b,c")).shares(5) == [range(1), range(1, 3), range(3, 5)]
    with pytest.raises(EngineError, match="at most 2 machines, one for each guest, got 3"):
        Fleet(parse_hosts("a,b,c")).shares(2)


def test_a_starter_has_the_name_of_the_machine() -> None:
    command = Fleet(parse_hosts("a,b"), "ip netns exec {host}").command(Host("a", "192.0.2.1"))
    assert command[:4] == ["ip", "netns", "exec", "a"] and command[-1] == "machine"
    assert Fleet([]).command(Host("local", "127.0.0.1"))[-1] == "machine"


def test_a_job_is_told_whole() -> None:
    job = Job(["a", "b c"], seed=2**63, memory_mb=64, wall_limit_s=1.5, hung_after_s=9)
    assert job_from(job_to(job)) == job


def test_the_command_line_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "demo", "--hosts", "a=,b"])
    assert "--hosts: expected NAME or NAME=ADDRESS, with commas" in capsys.readouterr().err
    for starter in ("", " ", "srun -w '{host}"):
        with pytest.raises(SystemExit):
            main(["run", "demo", "--hosts", "a,b", "--starter", starter])
        assert "--starter: expected a command, with closed" in capsys.readouterr().err
    assert main(["run", "demo", "--starter", "srun -w {host}"]) == 2
    said = "wale-lab run: --starter: expected --hosts too, the machines it is for\n"
    assert capsys.readouterr().err == said


def test_what_differs_is_said() -> None:
    here, there = {"tc": "1", "Linux 6.1": "x"}, {"tc": "2", "Linux 6.12": "y"}
    assert differences(here, there) == ["tc (2 there, 1 here)"]


# ---------------------------------------------------------------- frames


def frames_of(data: bytes, patience_s: float = 5) -> Frames:
    """What hears this, after which nothing more comes."""
    read, write = os.pipe()
    threading.Thread(target=lambda: (os.write(write, data), os.close(write))).start()
    return Frames("b", read, -1, patience_s)


def test_one_that_takes_nothing_more_is_named(tmp_path: Path) -> None:
    """It took the first of some files, and neither reads on nor leaves."""
    (tmp_path / "plan").write_bytes(bytes(4 << 20))
    read, write = os.pipe()
    taking = threading.Thread(target=os.read, args=(read, 10_000))
    taking.start()
    with pytest.raises(FrameError, match=r"^b: it took nothing of what is sent to it for 0\.3 s$"):
        Frames("b", -1, write, 0.3).send_files(tmp_path, ["plan"])
    taking.join()
    os.close(read)
    os.close(write)


def said(tmp_path: Path) -> bytes:
    """A message and some files, in frames."""
    (tmp_path / "guest0").mkdir(exist_ok=True)
    (tmp_path / "guest0/file").write_bytes(bytes(3000))
    (tmp_path / "frames").touch()
    with (tmp_path / "frames").open("r+b") as file:
        frames = Frames("a", -1, file.fileno(), None)
        frames.say({"some": "message"})
        frames.send_files(tmp_path, ["guest0"])
    return (tmp_path / "frames").read_bytes()


def test_messages_and_files_arrive(tmp_path: Path) -> None:
    frames = frames_of(said(tmp_path))
    assert frames.hear() == {"some": "message"}
    frames.receive_files(tmp_path / "new")
    assert (tmp_path / "new/guest0/file").read_bytes() == bytes(3000)
    with pytest.raises(EOFError):  # all that was said has been heard
        frames.hear()


def test_frames_that_are_cut_or_damaged_are_refused(tmp_path: Path) -> None:
    whole, random_ = said(tmp_path), random.Random(1)
    for n in [*range(60), *random_.sample(range(60, len(whole) - 1), 40)]:
        frames = frames_of(whole[:n])
        with pytest.raises((EOFError, FrameError)):
            frames.hear()
            frames.receive_files(tmp_path / "new")
        damaged = bytearray(whole)
        damaged[n % 40] ^= 1 << random_.randrange(8)
        with suppress(EOFError, FrameError):
            frames_of(bytes(damaged[: n + 100])).hear()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"Welcome to this machine!\nLast login\n", "expected wale-lab to answer, got 'Welcome to"),
        (b"Hi\n", "expected wale-lab to answer, got 'Hi'"),
        (b"WALELAB1\x01\xff\xff\xff\xff", "with 4294967295 bytes is damaged"),
        (b"WALELAB1\x01\x00\x00\x00\x01{", "a message is not JSON"),
    ],
)
def test_what_is_no_frame_is_shown(data: bytes, why: str) -> None:
    with pytest.raises(FrameError, match=f"^b: .*{why}"):
        frames_of(data).hear()


def test_files_stay_in_their_folder(tmp_path: Path) -> None:
    with (tmp_path / "frames").open("wb") as file:
        (tmp_path / "in").mkdir()
        (tmp_path / "in/link").symlink_to("../../elsewhere")
        Frames("a", -1, file.fileno(), None).send_files(tmp_path / "in", ["link"])
    with pytest.raises(FrameError, match="link leads out of its folder"):
        frames_of((tmp_path / "frames").read_bytes()).receive_files(tmp_path / "new")


def test_files_stay_in_their_folder_behind_links(tmp_path: Path) -> None:
    """A link to a place that only another link leads out of."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/here").symlink_to(".")
    (tmp_path / "in/up").symlink_to("here/..")
    with (tmp_path / "frames").open("wb") as file:
        Frames("a", -1, file.fileno(), None).send_files(tmp_path / "in", ["here", "up"])
    with pytest.raises(FrameError, match="up leads out of its folder"):
        frames_of((tmp_path / "frames").read_bytes()).receive_files(tmp_path / "new")


# ---------------------------------------------------------------- connections


def test_all_machines_are_connected_and_strangers_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_links, "CONNECT_S", 20)
    listeners = [listen("127.0.0.1") for _ in range(3)]
    places = [Address(f"m{n}", *ln.getsockname()) for n, ln in enumerate(listeners)]
    stranger = socket.create_connection((places[0].host, places[0].port))
    stranger.sendall(bytes(200))
    links: dict[int, Any] = {}

    def connect(number: int) -> None:
        links[number] = connect_all(listeners[number], places, number, bytes(32))

    threads = [threading.Thread(target=connect, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: set(of) for n, of in links.items()} == {0: {1, 2}, 1: {0, 2}, 2: {0, 1}}
    links[0][2].sendall(b"x")
    assert links[2][0].recv(1) == b"x"
    for link in [stranger, *(link for of in links.values() for link in of.values())]:
        link.close()


def test_a_machine_that_does_not_connect_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_links, "CONNECT_S", 0.2)
    listener, closed = listen("127.0.0.1"), listen("127.0.0.1")
    places = [Address(n, *listener.getsockname()) for n in ("a", "b")]
    with pytest.raises(Lost, match=r"^b did not connect within 0.2 s"):
        connect_all(listener, places, 0, bytes(32))
    places[0] = Address("a", *closed.getsockname())
    closed.close()
    with pytest.raises(Lost, match=r"cannot connect to a \(127.0.0.1 port \d+\): Connection ref"):
        connect_all(listen("127.0.0.1"), places, 1, bytes(32))
    with pytest.raises(EngineError, match=r"cannot listen on 192.0.2.1: .*expected an address"):
        listen("192.0.2.1")


# ---------------------------------------------------------------- batches

START, REQUEST, WAIT, RUN, FREE_UNTIL = 1, 2, 3, 6, 7
MESSAGE = struct.Struct("=IIQ")
HEAD, GUEST, RING = struct.Struct("=IIQQQIIII"), struct.Struct("=QII"), struct.Struct("=IIQ")
RING_HEAD = struct.Struct("=QQQQI")


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that gives guests their time, with sanitizers."""
    program = tmp_path_factory.mktemp("windows") / "guest_windows"
    here = Path(uml.__file__).parent
    sources = [str(here / name) for name in ("guest_windows.c", "guest_batches.c")]
    flags = ["-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    flags += ["-fno-sanitize-recover=undefined", f"-I{SOURCES / 'kmod/wire'}"]
    subprocess.run(["gcc", *flags, "-o", str(program), *sources], check=True)
    return program


class Controller:
    """One of two machines, with a guest that speaks as one without a shared page does."""

    def __init__(self, windows: Path, folder: Path, number: int, link: socket.socket) -> None:
        folder.mkdir()
        self.stack = ExitStack()
        self.memory = self.stack.enter_context(together._memory(2, [LINK]))
        peer = f"{link.fileno()}:{1 - number}:1:other"
        words = [windows, "-f", str(number), "-p", peer, "1000000", self.memory, folder]
        self.process = subprocess.Popen(
            [*map(str, words)],
            pass_fds=[link.fileno()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stack.callback(self.process.wait)
        self.stack.callback(self.process.kill)
        assert self.process.stdout and self.process.stdout.readline() == "ready\n"
        self.guest = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        self.guest.settimeout(20)
        self.guest.connect(str(folder / "time"))

    def stand_still(self, next_ns: int) -> None:
        for op, time_ns in ((REQUEST, next_ns), (WAIT, 0)):
            self.guest.sendall(MESSAGE.pack(op, 0, time_ns))
            assert MESSAGE.unpack(self.guest.recv(16))[0] == 0

    def said(self) -> tuple[int, int]:
        op, _, time_ns = MESSAGE.unpack(self.guest.recv(16))
        return op, time_ns

    def ring(self, number: int) -> tuple[int, int, int]:
        """Where the data of a ring are, and how far it is written and read."""
        with self.memory.open("rb") as file:
            file.seek(together._HEAD.size + number * together._ENTRY.size)
            offset = together._ENTRY.unpack(file.read(together._ENTRY.size))[0]
            file.seek(offset)
            head, tail, *_ = RING_HEAD.unpack(file.read(RING_HEAD.size))
        return offset + 4096, head, tail

    def write(self, at: int, data: bytes) -> None:
        with self.memory.open("r+b") as file:
            file.seek(at)
            file.write(data)

    def end(self) -> tuple[int, str]:
        """How it ended by itself."""
        assert self.process.stderr
        code = self.process.wait(20)
        return code, self.process.stderr.read().strip()


@contextmanager
def controllers(windows: Path, folder: Path) -> Iterator[list[Controller]]:
    ends = socket.socketpair()
    with ExitStack() as stack:
        both = [Controller(windows, folder / str(n), n, end) for n, end in enumerate(ends)]
        for end, one in zip(ends, both, strict=True):
            end.close()
            stack.enter_context(one.stack)
        yield both


def test_machines_begin_the_same_windows(windows: Path, tmp_path: Path) -> None:
    with controllers(windows, tmp_path) as (first, second):
        first.stand_still(5_000_000)
        second.stand_still(5_400_000)
        for one, next_ns in ((first, 5_000_000), (second, 5_400_000)):
            assert [one.said(), one.said()] == [(FREE_UNTIL, 6_000_000), (RUN, next_ns)]
        data, head, _ = first.ring(0)
        first.write(data, b"packet")
        first.write(data - 4096, struct.pack("=Q", 6))
        first.stand_still(9_000_000)
        second.stand_still(8_000_000)
        assert [second.said(), second.said()] == [(FREE_UNTIL, 9_000_000), (RUN, 8_000_000)]
        data, head, _ = second.ring(0)
        with second.memory.open("rb") as file:
            file.seek(data)
            assert (head, file.read(7)) == (6, b"packet\0")
        second.write(data - 4096 + 8, struct.pack("=Q", 6))  # it has read all
        second.stand_still(20_000_000)
        assert [first.said(), first.said()] == [(FREE_UNTIL, 10_000_000), (RUN, 9_000_000)]
        assert first.ring(0)[1:] == (6, 6)
        for one in (first, second):
            one.guest.close()
        first.process.wait(20)
        assert [one.end() for one in (first, second)] == [(0, ""), (0, "")]


def batch(data: bytes = b"12345678", request: int = 7_000_000) -> bytearray:
    """What the machine of guest 1 says at the end of the first window; it has sent a packet."""
    head = HEAD.pack(0x57424154, 1, 0, 0, len(data), 1, 2, 1, 0)
    rings = RING.pack(0, 0, 0) + RING.pack(1, len(data), len(data))
    return bytearray(head + GUEST.pack(request, 0, 0) + rings + data)


def answer_to(windows: Path, folder: Path, said: bytes) -> tuple[int, str]:
    """How the controller of guest 0 ends when the other one says this and leaves."""
    ours, theirs = socket.socketpair()
    one = Controller(windows, folder, 0, theirs)
    theirs.close()
    with one.stack, ours:
        ours.sendall(said)
        ours.shutdown(socket.SHUT_WR)
        one.stand_still(5_000_000)
        one.guest.settimeout(0.1)  # time goes on for a guest when the batch is good
        try:
            while one.guest.recv(16):
                pass
        except TimeoutError:
            one.guest.close()
        return one.end()


def test_a_batch_that_is_whole_begins_a_window(windows: Path, tmp_path: Path) -> None:
    code, why = answer_to(windows, tmp_path / "0", batch())
    assert (code, why) == (
        2,
        "the connection with the machine other broke at the end of window 1: it ended",
    )


def test_a_batch_that_is_cut_is_refused(windows: Path, tmp_path: Path) -> None:
    whole = batch()
    for n in (0, 1, 47, 48, 64, 95, 96, len(whole) - 1):
        code, why = answer_to(windows, tmp_path / str(n), whole[:n])
        ended = "it ended within a batch" if n else "it ended"
        assert (code, why.rpartition(": ")[2]) == (2, ended), (n, why)


@pytest.mark.parametrize(
    ("at", "value", "why"),
    [
        (0, 0, "damaged: it does not begin as one"),
        (4, 9, "sends batches of version 9: expected 1"),
        (8, 5, "is in another window"),
        (24, 9, "damaged: its length is not that of its records"),
        (32, 2, "damaged: it is about other guests or rings"),
        (36, 1, "damaged: it is about other guests or rings"),
        (64, 1, "damaged: it is about other rings"),
        (72, 1, "damaged: a ring was read further than it is written"),
        (84, 1 << 30, "damaged: records are missing"),
        (88, 9, "damaged: records are missing"),
    ],
)
def test_a_batch_that_is_damaged_is_refused(
    windows: Path, tmp_path: Path, at: int, value: int, why: str
) -> None:
    damaged = batch()
    damaged[at : at + 4] = struct.pack("=I", value)
    code, said_ = answer_to(windows, tmp_path / "0", damaged)
    assert code and why in said_ and said_.startswith("the machine other "), said_


def test_a_ring_is_not_overrun(windows: Path, tmp_path: Path) -> None:
    """More than the ring has room for, which the lengths agree on."""
    size = LINK.ring_bytes(1)
    code, why = answer_to(windows, tmp_path / "0", batch(bytes(size + 8))[:100])
    assert (code, why.rpartition(": ")[2]) == (1, "a ring has no room for its records")


def test_no_batch_makes_a_controller_fail_badly(windows: Path, tmp_path: Path) -> None:
    """Bits changed at random: one sentence, and nothing that the sanitizers see."""
    random_ = random.Random(1)
    for n in range(40):
        damaged = batch()
        for _ in range(random_.randrange(1, 4)):
            damaged[random_.randrange(len(damaged))] ^= 1 << random_.randrange(8)
        code, why = answer_to(windows, tmp_path / str(n), damaged)
        assert code in (0, 1, 2) and why.count("\n") == 0, why


# ---------------------------------------------------------------- the launcher

FAKE = """
import os, pathlib, sys, time
from wale_lab.engines.machine_frames import Frames
frames = Frames("launcher", 0, 1, None)
hello = {"protocol": 1, "version": VERSION}
"""


def work(folder: Path) -> Work:
    kernel = Kernel("6.12.1", "linux", image=Path(sys.executable))
    ready = Ready(kernel, [], {"PATH": "/nowhere"})
    return Work([Needs(None, [], [])] * 2, [ready] * 2, Job(["true"]), [LINK], folder)


def launch(
    tmp_path: Path, does: str, hosts: str = "a,b", plan: bytes = b""
) -> list[Outcome | None]:
    """Run on machines which are this script of Python, with `name` for that of the machine."""
    script = tmp_path / "fake.py"
    lines = FAKE.replace("VERSION", repr(version())) + f"name = sys.argv[1]\n{does}\n"
    script.write_text(lines)
    starter = f"env PYTHONPATH={IMPORTS} {sys.executable} {script} {{host}}"
    for guest in (0, 1):
        (tmp_path / f"out/guest{guest}").mkdir(parents=True)
        (tmp_path / f"out/guest{guest}/plan").write_bytes(plan)
    return run_on_machines(Fleet(parse_hosts(hosts), starter), work(tmp_path / "out"), print)


READY = """
frames.say(hello); frames.hear(); frames.say({"ready": {"port": 1, "identity": {}}})
frames.hear()
"""
ENDED = """{"outcomes": [dict(exit_code=0, reason="ok", console=name, kernel_log="", wall_s=1)]}"""


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("sys.exit('no such machine')", "^[ab]: wale-lab ended with exit code 1 without a result: no such"),
        ("print('Welcome'); sys.stdout.flush()", "^[ab]: expected wale-lab to answer, got 'Welcome'"),
        ("frames.say(dict(hello, version='0.1'))", f"^[ab]: expected wale-lab {version()}, got 0.1"),
        ("frames.say(dict(hello, protocol=7))", r"\(protocol 7, here 1\)"),
        (
            "frames.say(hello); frames.hear()\n"
            "frames.say({'ready': {'port': 1, 'identity': {'Linux 6.12': 'x'}}})",
            r"^[ab]: expected the same as here, .* another Linux 6.12 \(x there, 6.12.1, image \w+ here",
        ),
        ("frames.say(hello); time.sleep(100)", "^[ab]: it was silent for 3 s"),
        ("frames.say(hello); frames.hear(); frames.say({'what': 1})", r"expected 'ready', got \['what'"),
        (READY + "if name == 'a': sys.exit(9)\n"
         "frames.say({'error': 'lost a', 'kind': 'lost'})", "^a: wale-lab ended with exit code 9"),
        (READY + "frames.say({'error': name, 'kind': 'lost' if name == 'a' else 'error'})", "^b: b$"),
    ],
)  # fmt: skip
def test_why_machines_fail_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, why: str
) -> None:
    if "sleep" in does:
        monkeypatch.setattr(machines, "PATIENCE_S", 3)
    monkeypatch.setattr(machines, "_GRACE_S", 1)
    with pytest.raises(EngineError, match=why):
        launch(tmp_path, does)


def test_why_one_fails_is_said_while_another_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the run, when nothing limits how long another one builds what it needs."""
    monkeypatch.setattr(machines, "_GRACE_S", 1)
    does = "if name == 'a': sys.exit('gone')\nframes.say(hello); time.sleep(100)"
    with pytest.raises(Lost, match=r"^a: wale-lab ended with exit code 1 .*: gone$"):
        launch(tmp_path, does)


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    fleet = Fleet(parse_hosts("a,b"), "/no/such/command {host}")
    with pytest.raises(EngineError, match=r"^a: cannot start /no/such/command: No such file"):
        run_on_machines(fleet, work(tmp_path), print)


def test_outcomes_come_in_the_order_of_guests(tmp_path: Path) -> None:
    files = 'open("f" + name, "w").close(); frames.send_files(pathlib.Path(), ["f" + name])'
    does = READY + f"os.chdir({str(tmp_path)!r}); frames.say({ENDED}); {files}"
    ended = launch(tmp_path, does)
    assert [one and one.console for one in ended] == ["a", "b"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"fa", "fb", "guest0", "guest1"}


def test_what_a_machine_said_before_it_left_is_heard(tmp_path: Path) -> None:
    does = READY + "frames.say({'error': 'no room', 'kind': 'error'})"
    with pytest.raises(EngineError, match=r"^[ab]: no room$"):
        launch(tmp_path, does, plan=bytes(1 << 20))


def test_a_guest_that_fails_says_more_than_a_lost_machine(tmp_path: Path) -> None:
    bad = ENDED.replace('"ok"', '"panic"')
    does = READY + "if name == 'b': frames.say({'error': 'lost a', 'kind': 'lost'}); sys.exit()\n"
    ended = launch(tmp_path, does + f"frames.say({bad}); frames.send_files(pathlib.Path(), [])")
    assert [one and one.reason for one in ended] == ["panic", None]


# ---------------------------------------------------------------- with guests

DUMBBELL = """
name: machines
bottleneck:
  forward: &link {rate: 10mbit, delay: 20ms, limit: 100kB}
  reverse: *link
flows: [{name: tcp, cc: reno, size: 300kB}]
guests: 2
"""


def made_namespaces(names: list[str]) -> bool:
    """Two network namespaces with a veth between them; False where none can be made."""
    a, b = names
    for line in (
        f"netns add {a}",
        f"netns add {b}",
        f"link add name veth0 netns {a} type veth peer name veth0 netns {b}",
        f"-n {a} address add 192.0.2.1/24 dev veth0",
        f"-n {b} address add 192.0.2.2/24 dev veth0",
        f"-n {a} link set veth0 up",
        f"-n {b} link set veth0 up",
    ):
        if subprocess.run(["ip", *line.split()], capture_output=True, check=False).returncode:
            return False
    return True


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    """Two machines: network namespaces of this one; else two loopback addresses."""
    names = [f"wale-{os.getpid()}-{n}" for n in "ab"]
    try:
        if made_namespaces(names):
            text = f"{names[0]}=192.0.2.1,{names[1]}=192.0.2.2"
            yield Fleet(parse_hosts(text), "ip netns exec {host}")
        else:
            yield Fleet(parse_hosts("local=127.0.0.1,local=127.0.0.2"))
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@pytest.mark.guest
def test_two_machines_have_the_digest_of_one(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "scenario.yaml").write_text(DUMBBELL)
    scenario = load_scenario(tmp_path / "scenario.yaml", [])
    one = run_scenario(scenario, 1, tmp_path / "one", packets="csv")
    two = run_scenario(scenario, 1, tmp_path / "two", packets="csv", fleet=fleet)
    assert one["flows"][0]["completed"]
    assert two["digest"] == one["digest"] and two["cut"] == one["cut"]
    for name in ("packets.csv", "flows.csv"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_files_follow_when_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that says between its files that it is alive would damage them."""
    monkeypatch.setattr(machine, "ALIVE_S", 0.01)
    read, write = os.pipe()
    with machine._alive(Frames("a", -1, write, None)):
        frames = Frames("b", read, -1, 20)
        assert frames.hear() == frames.hear() == {"alive": True}
    os.close(write)
    with pytest.raises(EOFError):
        while True:
            assert frames.hear() == {"alive": True}


def test_a_machine_leaves_no_folder(tmp_path: Path) -> None:
    """When its launcher leaves, at once or in the middle of what it says."""
    for said_ in (b"", b"WALELAB1\x01"):
        command = [*LAUNCHER, "machine"]
        env = {**os.environ, "TMPDIR": str(tmp_path)}
        done = subprocess.run(command, input=said_, env=env, capture_output=True, check=False)
        assert done.returncode == 1 and b'"version": ' in done.stdout and not done.stderr
        assert not list(tmp_path.glob("wale-*"))


@pytest.mark.guest
def test_one_guest_is_for_one_machine(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "scenario.yaml").write_text(DUMBBELL)
    scenario = load_scenario(tmp_path / "scenario.yaml", ["guests=1"])
    with pytest.raises(EngineError, match="--hosts: expected a scenario that runs in several"):
        run_scenario(scenario, 1, tmp_path / "out", fleet=fleet)
