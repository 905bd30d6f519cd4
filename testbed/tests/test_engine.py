# SPDX-License-Identifier: GPL-2.0
"""The engines: how jobs end, what they leave behind, and that virtual time repeats itself."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from conftest import SLOWNESS, busy_cpus
from wale_lab.engines import (
    coverage,
    debian,
    engine_names,
    get_engine,
    guest_clock,
    kernel_build,
    kernel_source,
    kvm,
    modules,
    stock_kernel,
    uml,
    vm,
)
from wale_lab.engines.base import (
    EXIT_PANIC,
    EXIT_TIMEOUT,
    EXIT_WARNING,
    Console,
    EngineError,
    Job,
    Kernel,
    Outcome,
    Reason,
    is_of_line,
)
from wale_lab.engines.modules import check_file
from wale_lab.runner import run_scenario
from wale_lab.scenario import find_scenario, load_scenario

LAB = Path(__file__).resolve().parents[1] / "wale-lab"


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return get_engine("uml").prepare(None, print)


def run(kernel: Kernel, script: str, **options: object) -> Outcome:
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    job = Job(argv=["/bin/sh", "-c", script], env=env)
    for key, value in {"wall_limit_s": 30.0, **options}.items():
        setattr(job, key, value)
    return get_engine("uml").run(kernel, job)


def guests_of(pid: int) -> list[int]:
    """Processes of guests that a launcher started: their kernel has it as parent, or is it."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[1] == str(pid) and fields[0] != "Z":
                found.append(int(process.name))
    return found


def in_session(session: int) -> list[int]:
    """Processes that live in a session."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[3] == str(session) and fields[0] != "Z":
                found.append(int(process.name))
    return found


def test_engines_by_name() -> None:
    assert engine_names() == ["uml", "vm", "host"]
    assert [get_engine(name).name for name in engine_names()] == engine_names()
    with pytest.raises(EngineError, match="there is no engine 'xen'; engines here: uml, vm, host"):
        get_engine("xen")


def test_vm_engine_says_why_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kernel = Kernel(release="6.12", source="none", image=tmp_path)
    for job, why in (
        (Job(argv=["true"]), "no virtual time"),
        (Job(argv=["true"], time="real", interactive=True), "no terminal"),
    ):
        with pytest.raises(EngineError, match=why):
            get_engine("vm").run(kernel, job)
    monkeypatch.setattr(stock_kernel, "HEADERS", tmp_path)
    with pytest.raises(
        EngineError, match=r"no stock kernel 6\.12 are installed \(there are: none\)"
    ):
        stock_kernel.find("6.12", "amd64", print)
    monkeypatch.setattr(debian, "tools_path", lambda: str(tmp_path))
    with pytest.raises(EngineError, match="apt-get install busybox-static file"):
        get_engine("vm").prepare(None, print)


@pytest.mark.parametrize(
    ("said", "works"),
    [
        ("VFS: Unable to mount root fs on unknown-block(0,0)", True),
        ("error: failed to set MSR 0x10a", False),
    ],
)
def test_kvm_is_tried_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, works: bool
) -> None:
    """What QEMU says decides, and the answer is kept for this boot of the host only."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: True)
    qemu = tmp_path / "qemu"
    qemu.write_text(f"#!/bin/sh\necho >> {tmp_path}/tries\necho '{said}'\n")
    qemu.chmod(0o755)
    for _ in range(2):
        assert kvm.usable(str(qemu), tmp_path, print) is works
    assert (tmp_path / "tries").read_text() == "\n"
    (note,) = (tmp_path / "wale").glob("kvm-*.json")
    note.write_text(note.read_text().replace('"boot_id": "', '"boot_id": "an earlier one '))
    assert kvm.usable(str(qemu), tmp_path, print) is works
    assert (tmp_path / "tries").read_text() == "\n\n"


class _DiesInBoot:
    """In the place of a virtual machine: the first ones end before their job begins."""

    def __init__(self, dying: int) -> None:
        self.dying = dying
        self.started = 0

    def __call__(self, *_: object) -> _DiesInBoot:
        self.started += 1
        return self

    @property
    def booted(self) -> bool:
        return self.started > self.dying

    def wait(self) -> bool:
        return True

    def kill(self) -> None:
        pass

    def outcome(self, in_time: bool, wall_s: float) -> Outcome:
        ended: tuple[int, Reason] = (0, "ok") if self.booted else (EXIT_PANIC, "panic")
        return Outcome(*ended, "", "", wall_s)


def test_a_limit_of_the_host_is_named() -> None:
    """A page of a guest's kernel is a mapping of the process that it is on its host."""
    said = (
        "UML ran out of memory on the host side! This can happen due to a memory limitation or "
        "vm.max_map_count has been reached.\nKernel panic - not syncing: Kernel mode fault"
    )
    outcome = Outcome(EXIT_PANIC, "panic", "", said, 1.0)
    assert "too few mappings (vm.max_map_count; sysctl)" in outcome.describe()
    assert "mappings" not in Outcome(EXIT_PANIC, "panic", "", "Kernel panic", 1.0).describe()


@pytest.mark.parametrize(
    ("dying", "fast", "started", "reason"),
    [
        (0, False, 1, "ok"),
        (1, False, 2, "ok"),
        (2, False, 2, "panic"),
        (1, True, 1, "panic"),
    ],
)
def test_emulated_kernel_that_dies_in_boot_is_booted_once_more(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    dying: int,
    fast: bool,
    started: int,
    reason: str,
) -> None:
    guests = _DiesInBoot(dying)
    monkeypatch.setattr(vm, "_Guest", guests)
    monkeypatch.setattr(kvm, "usable", lambda *_: fast)
    kernel = Kernel("6.12.0-amd64", "a package", image=tmp_path / "vmlinuz")
    outcome = vm.VmEngine().run(kernel, Job(["true"], time="real"))
    assert (guests.started, outcome.reason) == (started, reason)


def test_output_ends_where_the_guest_says(tmp_path: Path) -> None:
    """The end is not part of it, nor is what a process left behind prints later."""
    heard: list[bytes] = []
    path = tmp_path / "console"
    console = Console(path, heard.append, b"<end>")
    path.write_bytes(b"one")
    console.show()
    assert not console.complete
    path.write_bytes(b"one two<end>three")
    console.show()
    assert console.complete
    assert (b"".join(heard), console.text()) == (b"one two", "one two")


@pytest.mark.parametrize(
    ("version", "fits"),
    [("6.12", True), ("6.12.86", True), ("6.1", False), ("6.12.8", False), ("6", True)],
)
def test_version_of_a_kernel(version: str, fits: bool) -> None:
    assert is_of_line("6.12.86+deb13-amd64", version) is fits


def test_kernel_that_is_not_offered() -> None:
    with pytest.raises(EngineError, match=r"Linux 5\.99 is too old: the modules are for 6\.1"):
        kernel_build.find_or_build("5.99", print)


def test_flavours_add_to_the_configuration() -> None:
    plain, san = (kernel_build.parse_wanted(text) for text in ("6.12", "6.12+san"))
    assert (san.version, san.flavour) == ("6.12", "san")
    assert kernel_build.parse_wanted("+san").version is None
    assert san.config.startswith(plain.config) and "CONFIG_KASAN=y" in san.config
    assert kernel_build.cache_key("x", plain) != kernel_build.cache_key("x", san)
    with pytest.raises(EngineError, match=r"no kernel flavour 'bad'; flavours here: .*\+san"):
        kernel_build.parse_wanted("6.12+bad")


def test_kernel_from_the_cache_where_its_source_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel_source, "at_hand", lambda *_: None)
    monkeypatch.setattr(kernel_source.debian, "offered", lambda *_: ["linux-source-6.1"])
    monkeypatch.setattr(kernel_source.debian, "update", lambda *_: None)
    plain = kernel_build.parse_wanted(None)
    builds = {
        kernel_build.cache_key("6.1.9-1", plain): "6.1.9",
        kernel_build.cache_key("6.12.5-1~x", plain): "6.12.5",
        kernel_build.cache_key("7.2.1-1", plain): "7.2.1",
        "6.12.7-1-0123456789ab": "6.12.7",  # another configuration
    }
    for name, release in builds.items():
        folder = kernel_build.cache_root() / "kernel" / name
        folder.mkdir(parents=True)
        version = release.rpartition(".")[0]
        about = {"release": release, "version": version, "default": version != "7.2"}
        (folder / "kernel.json").write_text(json.dumps(about))
    monkeypatch.setenv("WALE_KERNEL", "6.1")  # what a test, say, does not name itself
    assert get_engine("uml").prepare(None, print).release == "6.1.9"
    assert get_engine("uml").prepare("7.2", print).release == "7.2.1"
    found = kernel_build.find_or_build(None, print)
    assert (found.release, found.source) == ("6.12.5", "linux-source-6.12 6.12.5-1~x")
    assert kernel_build.find_or_build("6.1", print).release == "6.1.9"
    assert kernel_build.find_or_build("7.2", print).release == "7.2.1"
    with pytest.raises(EngineError, match=r"no package linux-source-6\.99"):
        kernel_build.find_or_build("6.99", print)


def skip_if_counted(kernel: Kernel) -> None:
    if coverage.counts(kernel):
        pytest.skip("counters of make coverage go to folders that are not writable here")


@pytest.mark.guest
def test_exit_code_and_output(kernel: Kernel) -> None:
    good = run(kernel, "echo hello; echo there >&2; id -u")
    assert (good.exit_code, good.reason, good.console) == (0, "ok", "hello\nthere\n0\n")
    assert good.complaints == []
    bad = run(kernel, "exit 7")
    assert (bad.exit_code, bad.reason) == (7, "exit")
    assert run(kernel, "kill -9 $$").exit_code == 128 + signal.SIGKILL
    assert run(kernel, "exec /no/such/program").exit_code == 127


@pytest.mark.guest
def test_a_fault_maps_much_of_a_file(kernel: Kernel) -> None:
    # 4 % of a short run; the default is 64 KiB
    assert run(kernel, "cat /sys/kernel/debug/fault_around_bytes").console == "2097152\n"


@pytest.mark.guest
def test_panic_is_reported(kernel: Kernel) -> None:
    # All memory becomes a reserve: the next allocation fails, however much is free.  A
    # program that takes it all can thrash for minutes first, pages of its own code going
    # and coming back.
    script = "cd /proc/sys/vm; echo before; echo 1 >panic_on_oom; echo 999999 >min_free_kbytes; ls"
    outcome = run(kernel, script, memory_mb=256)
    assert (outcome.reason, outcome.exit_code) == ("panic", EXIT_PANIC), outcome
    assert "before" in outcome.tail()
    assert any("panic" in line for line in outcome.complaints)
    assert list(Path(tempfile.gettempdir()).glob(f"wale-guest-{os.getpid()}-*")) == []


@pytest.mark.guest
def test_kernel_warning_fails_a_command(kernel: Kernel) -> None:
    script = "echo '<4>WARNING: CPU: 0 PID: 1 at net/core/dev.c:1' > /dev/kmsg"
    assert len(run(kernel, script).complaints) == 1
    command = [LAB, "exec", "--quiet", "--modules", "none", "--", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == EXIT_WARNING
    assert "the kernel complained" in done.stderr


@pytest.mark.guest
def test_busy_guest_is_killed_at_its_limit(kernel: Kernel) -> None:
    outcome = run(kernel, "echo before; while :; do :; done", wall_limit_s=1.5)
    assert (outcome.reason, outcome.exit_code) == ("timeout", EXIT_TIMEOUT)
    assert 1.4 < outcome.wall_s < 7
    assert outcome.console == "before\n"
    assert "virtual time went on by 0 s in the last second, in which sh ran" in outcome.describe()
    assert guests_of(os.getpid()) == []


@pytest.mark.guest
def test_busy_guest_is_told_of_early(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Once, and only if virtual time does not go on."""
    monkeypatch.setattr(guest_clock, "CREEPS_S", 1.0)
    run(kernel, "while :; do :; done", wall_limit_s=8 * SLOWNESS)
    said = capfd.readouterr().err
    assert said.count("in the last second, in which sh ran") == 1
    assert "with --real" in said
    run(kernel, "while sleep 10; do :; done", wall_limit_s=8 * SLOWNESS)
    assert "in the last second" not in capfd.readouterr().err


@pytest.mark.guest
def test_guest_that_waits_for_ever_is_noticed(kernel: Kernel) -> None:
    outcome = run(kernel, "mkfifo /run/fifo; read line < /run/fifo", wall_limit_s=60)
    assert (outcome.reason, outcome.exit_code) == ("hung", EXIT_TIMEOUT)
    assert outcome.wall_s < 30
    assert "waiting: " in outcome.console
    assert "(sh)" in outcome.console


@pytest.mark.guest
def test_guest_that_has_long_to_wait(kernel: Kernel) -> None:
    outcome = run(kernel, "sleep 1000000", hung_after_s=2e6)
    assert (outcome.reason, outcome.exit_code) == ("ok", 0)
    assert run(kernel, "sleep 1000000").reason == "hung"


def test_folders_of_launchers_that_were_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are removed, and only they: those of another machine have no process here."""
    monkeypatch.setattr(uml, "_temp_base", lambda: tmp_path)
    left, used = tmp_path / "wale-guest-999998-left", tmp_path / "wale-guest-999999-used"
    for folder in (left, used):
        folder.mkdir()
        (folder / "lock").touch()
    with (used / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with uml.job_folder() as own:
            assert set(tmp_path.iterdir()) == {used, own}
    assert set(tmp_path.iterdir()) == {used}


def test_the_end_of_a_console_that_comes_in_pieces(tmp_path: Path) -> None:
    shown = b""

    def show(data: bytes) -> None:
        nonlocal shown
        shown += data

    path = tmp_path / "console"
    console = Console(path, show, b"#the end#")
    written = b""
    for piece in (b"a #", b"b", b"# c#the ", b"end", b"#", b" more"):
        written += piece
        path.write_bytes(written)
        console.show()
    assert console.complete
    assert shown == b"a #b# c"
    assert console.text() == "a #b# c"


def test_a_module_that_is_none_is_refused_before_anything_is_built() -> None:
    said = (
        r"no module nosuch in this tree; expected one of rate_feedback, sch_wale, tcp_ratcp, wale"
    )
    with pytest.raises(EngineError, match=said):
        modules.find_modules(Kernel("6.12", "none"), ["sch_wale", "nosuch"], print)


def test_what_changed_while_make_ran_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, product = tmp_path / "src/a.c", tmp_path / "build/a.ko"
    for path in (source, product):
        path.parent.mkdir()
        path.touch()
    monkeypatch.delenv("WALE_NO_BUILD", raising=False)
    monkeypatch.setattr(modules, "SOURCES", tmp_path)
    monkeypatch.setattr(modules, "BUILD", product.parent)
    os.utime(source, (100, 100))
    modules._mark_current([product], 101)
    assert not modules._stale([product], ["src"])
    os.utime(source, (102, 102))
    assert modules._stale([product], ["src"])
    monkeypatch.setattr(os, "access", lambda *_: False)
    for _ in range(2):
        assert not modules._stale([product], ["src"])
    assert capsys.readouterr().err.count("is older than its sources") == 1


@pytest.mark.guest
def test_time_is_virtual(kernel: Kernel) -> None:
    outcome = run(kernel, "sleep 36000; cut -d. -f1 /proc/uptime")
    assert outcome.console == "36000\n"
    assert outcome.wall_s < 20


@pytest.mark.guest
def test_time_is_real(kernel: Kernel) -> None:
    assert run(kernel, "sleep 1", time="real").wall_s > 1


@pytest.mark.guest
def test_nothing_is_left_of_a_killed_launcher(tmp_path: Path) -> None:
    command = [LAB, "exec", "--quiet", "--modules", "none", "--wall-limit", "60", "--"]
    launcher = subprocess.Popen([*command, "sh", "-c", "while :; do :; done"])
    kernels: list[int] = []
    for _ in range(300):
        time.sleep(0.1)
        kernels = guests_of(launcher.pid)
        if kernels and len(in_session(kernels[0])) > 2:
            break
    assert len(kernels) == 1
    launcher.send_signal(signal.SIGKILL)
    launcher.wait()
    for _ in range(50):
        if not in_session(kernels[0]):
            break
        time.sleep(0.1)
    assert in_session(kernels[0]) == []


@pytest.mark.guest
@pytest.mark.parametrize("nohup", [False, True])
def test_interrupt_ends_the_guest(nohup: bool) -> None:
    command = [LAB, "exec", "--quiet", "--modules", "none", "--wall-limit", "60", "--"]
    launcher = subprocess.Popen(
        ["env", f"--{'ignore' if nohup else 'default'}-signal=HUP", *command]
        + ["sh", "-c", "while :; do :; done"],
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(300):
        time.sleep(0.1)
        if guests_of(launcher.pid):
            break
    launcher.send_signal(signal.SIGHUP)
    if nohup:
        time.sleep(1)
        assert launcher.poll() is None
        launcher.send_signal(signal.SIGTERM)
    _, said = launcher.communicate(timeout=20)
    assert launcher.returncode == 130
    assert "interrupted" in said


def test_interrupt_while_python_starts() -> None:
    """One that comes before the command line is read."""

    def interrupted() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        os.kill(os.getpid(), signal.SIGINT)

    done = subprocess.run(
        [LAB, "list"], preexec_fn=interrupted, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "wale-lab: interrupted\n"


@pytest.mark.guest
def test_writes_only_to_its_folder(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    out = tmp_path / "a folder, with 'odd' name"
    temporary.mkdir()
    out.mkdir()
    cache = kernel_build.cache_root()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(uml, "_temp_base", lambda: temporary)
    monkeypatch.setattr(kernel_build, "cache_root", lambda: cache)
    memory_before = set(Path("/dev/shm").iterdir())
    outcome = run(
        kernel,
        "echo kept > /run/wale/out/file; echo x > /etc/wale-test; echo x > /usr/x; touch /dev/shm/x; "
        f"touch '{tmp_path}/x'; ls {tmp_path}",
        out=out,
    )
    assert (out / "file").read_text() == "kept\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a folder, with 'odd' name", "tmp"]
    assert list(temporary.iterdir()) == []
    assert set(Path("/dev/shm").iterdir()) == memory_before
    assert not Path("/etc/wale-test").exists()
    assert outcome.console.count("Read-only file system") == 3


@pytest.mark.guest
def test_floating_point_registers_are_each_threads_own(kernel: Kernel, tmp_path: Path) -> None:
    """Across system calls, page faults, signals, and other threads and processes."""
    source, program = Path(__file__).parent / "data/registers.c", tmp_path / "registers"
    subprocess.run(
        ["gcc", "-O2", "-Wall", "-static", "-pthread", "-o", program, source], check=True
    )
    outcome = run(kernel, str(program))
    assert (outcome.reason, outcome.console) == ("ok", "6 threads of 2 processes\n")


def test_processor_with_more_registers_than_the_kernel_knows(tmp_path: Path) -> None:
    source, program = Path(__file__).parent / "data/short_registers.c", tmp_path / "registers"
    subprocess.run(["gcc", "-O2", "-Wall", "-o", program, source], check=True)
    shim = uml.programs_of_guests() / "guest_preload.so"
    assert subprocess.run([program], check=False).returncode == 2  # all of them, or none
    done = subprocess.run([program], check=False, env={"LD_PRELOAD": str(shim)})
    assert done.returncode == 0


def test_a_fast_test_starts_no_guest() -> None:
    with pytest.raises(AssertionError, match="expected the mark guest"):
        uml.Guest(Kernel("6.12", "none"), Path(), Job(argv=["true"]), 0)


@pytest.mark.guest
def test_randomness_and_clock_follow_from_the_seed(kernel: Kernel) -> None:
    script = (
        "head -c 16 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/uuid; date +%s.%N;"
        "ip link add type veth; ip link; ip -s link; date +%N"
    )
    first = run(kernel, script, seed=1)
    with busy_cpus():
        again = run(kernel, script, seed=1)
    other = run(kernel, script, seed=2)
    assert first.console == again.console
    assert first.console != other.console


@pytest.mark.guest
def test_the_processors_random_numbers_are_not_used(kernel: Kernel) -> None:
    """By OpenSSL and its descendants: with them two runs of quic-quiche differ."""
    script = "printenv OPENSSL_ia32cap || echo none"
    assert run(kernel, script).console == "~0x4000000000000000:~0x40000\n"
    assert run(kernel, script, time="real").console == "none\n"


@pytest.mark.guest
def test_bytecode_of_the_testbed_is_hidden(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With it Python reads the clock less often, and some scenarios have another digest."""
    for name in ("sources", "sources/inner", "other"):
        (tmp_path / name / "__pycache__").mkdir(parents=True)
        (tmp_path / name / "__pycache__/one.pyc").write_text(f"{name}\n")
        (tmp_path / name / "one.py").write_text("source\n")
    monkeypatch.setattr(uml, "PACKAGE", tmp_path / "sources")
    folders = "sources sources/inner other"
    script = f"cd {tmp_path}; for d in {folders}; do cat $d/one.py $d/__pycache__/one.pyc; done"
    script += " 2>/dev/null || true"
    assert run(kernel, script).console == "source\nsource\nsource\nother\n"
    every = "source\nsources\nsource\nsources/inner\nsource\nother\n"
    assert run(kernel, script, time="real").console == every


@pytest.mark.guest
def test_digest_repeats_beside_a_busy_machine(tmp_path: Path) -> None:
    scenario = load_scenario(find_scenario("demo"), [f"flows.{n}.size=500kB" for n in range(3)])
    first = run_scenario(scenario, 1, tmp_path / "first")
    with busy_cpus():
        again = run_scenario(scenario, 1, tmp_path / "again")
    other = run_scenario(scenario, 2, tmp_path / "other")
    assert first["digest"] == again["digest"]
    for name in ("flows.csv", "links.csv"):
        assert (tmp_path / "first" / name).read_text() == (tmp_path / "again" / name).read_text()
    assert other["digest"] != first["digest"]
    assert sorted(p.name for p in (tmp_path / "first").iterdir()) == [
        "flows.csv",
        "links.csv",
        "result.json",
    ]


@pytest.mark.guest
def test_what_ran_before_the_flows(tmp_path: Path) -> None:
    """It decides the phases of BBR; with `reseed` it does not."""
    flows = "flows=[{name: a, cc: bbr, duration: 8s}, {name: b, cc: bbr, duration: 8s}]"
    noise = 'hosts.all.setup=["head -c 1 /proc/version > /dev/urandom"]'

    def run(*settings: str) -> bytes:
        scenario = load_scenario(find_scenario("demo"), ["isolate=false", flows, *settings])
        run_scenario(scenario, 1, tmp_path)
        return (tmp_path / "flows.csv").read_bytes()

    assert run() != run(noise)
    assert run("reseed=true") == run("reseed=true", noise)


@pytest.mark.guest
def test_failed_flow_keeps_the_rest(tmp_path: Path) -> None:
    changes = ["flows.1.size=200kB", "flows.2.size=200kB", "virtual_limit=5s"]
    scenario = load_scenario(find_scenario("demo"), changes)
    result = run_scenario(scenario, 1, tmp_path)
    assert [f["completed"] for f in result["flows"]] == [False, True, True]
    assert "still ran at the scenario's virtual_limit" in result["flows"][0]["error"]


@pytest.mark.guest
def test_a_link_is_not_used_longer_than_its_flows_last(tmp_path: Path) -> None:
    """At the end of a duration buffer and line are full: what leaves them later does not count."""
    changes = ["flows.cubic.duration=2.0004s", "flows.reno.duration=1s", "flows.reno.start=1s"]
    changes += ["bottleneck.forward.rate=1mbit", "bottleneck.forward.limit=200 packets"]
    result = run_scenario(load_scenario(find_scenario("shared"), changes), 1, tmp_path)
    forward = result["links"][0]
    assert 0.9 < forward["utilisation"] <= 1
    assert result["flows"][0]["end_s"] - result["flows"][0]["start_s"] > 2.0004


@pytest.mark.guest
def test_copies_take_none_of_the_rate(tmp_path: Path) -> None:
    changes = ["flows.cubic.duration=4s", "flows.reno.duration=3s", "flows.reno.start=1s"]
    changes += ["bottleneck.forward.rate=1mbit", "bottleneck.forward.duplicate=20%"]
    changes.append("record.settled=1s")
    result = run_scenario(load_scenario(find_scenario("shared"), changes), 1, tmp_path)
    forward = result["links"][0]
    assert forward["settled"]["duplicated_packets"] > 20
    for counts in (forward, forward["settled"]):
        assert 0.9 < counts["utilisation"] < 1.01  # a sample may lie within a packet


@pytest.mark.guest
@pytest.mark.usefixtures("small_guest")
def test_memory_pressure_is_told(tmp_path: Path) -> None:
    overrides = ["memory_mb=64", "profile=newreno"]  # which gives each sender 4 MB of buffer
    result = run_scenario(load_scenario(find_scenario("demo"), overrides), 1, tmp_path)
    assert ["memory pressure" in warning for warning in result["warnings"]] == [True]


@pytest.mark.guest
@pytest.mark.parametrize("time", ["real", "virtual"])
def test_iperf3(time: str, tmp_path: Path) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    # any machine keeps up, with sanitizers too
    overrides = ["bottleneck.forward.rate=5mbit", f"time={time}"]
    result = run_scenario(load_scenario(find_scenario("iperf3"), overrides), 1, tmp_path)
    (flow,) = result["flows"]
    assert flow["completed"] is True
    assert flow["cc"] == "cubic"
    assert flow["ideal_share"] > 0.7
    assert result["links"][0]["balanced"] is True


@pytest.mark.guest
def test_commands_in_a_shell() -> None:
    done = subprocess.run(
        [
            LAB,
            "shell",
            "shared",
            "--quiet",
            "-c",
            "ns pair1-receiver ip -br addr show eth0; exit 3",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "10.2.1.2/24" in done.stdout


@pytest.mark.guest
@pytest.mark.parametrize(
    ("commands", "code", "says"),
    [
        ("echo hi\nns pair1-receiver ip -br addr show eth0\nexit 3\n", 3, ["hi", "10.2.1.2/24"]),
        ("", 0, []),
    ],
)
def test_commands_that_a_shell_reads(commands: str, code: int, says: list[str]) -> None:
    """They are not those of a terminal: no prompt."""
    words = [LAB, "shell", "shared", "--quiet"]
    done = subprocess.run(
        words, input=commands, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith("hi\n") == bool(commands)
    assert all(text in done.stdout for text in says)


def test_interactive_job_needs_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: False)
    with pytest.raises(EngineError, match="expected a terminal as standard input"):
        get_engine("uml").run(Kernel("6.12", "none"), Job(argv=["true"], interactive=True))


@pytest.mark.guest
def test_shell_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("mine")
    words = [LAB, "shell", "demo", "--quiet", "--out", tmp_path, "-c", "touch /run/wale/out/new"]
    assert subprocess.run(words, check=False).returncode == 0
    words += ["--set", "hosts.all.sysctls.net.ipv4.no_such_thing=1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no_such_thing: this kernel has no such sysctl" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "plan.json"]
    assert (tmp_path / "plan.json").read_text() == "mine"


@pytest.mark.guest
def test_without_root(kernel: Kernel, tmp_path: Path) -> None:
    """The whole of `run`, by a user who owns nothing here but a cache and a folder."""
    if os.geteuid() != 0:
        pytest.skip("we are not root already")
    skip_if_counted(kernel)
    assert kernel.image is not None
    user = pwd.getpwnam("nobody")
    may_enter = subprocess.run(
        ["test", "-x", LAB], user="nobody", group=user.pw_gid, extra_groups=[], cwd="/"
    )
    if may_enter.returncode:
        pytest.skip("the user nobody may not enter the folder of this checkout")
    with tempfile.TemporaryDirectory(prefix="wale-test-") as folder:
        home = Path(folder)
        cache = home / "cache" / "wale"
        cache.mkdir(parents=True)
        shutil.copytree(
            kernel.image.parent,
            cache / "kernel" / kernel.image.parent.name,
            symlinks=True,
            ignore=shutil.ignore_patterns("*.c", "drivers", "Documentation"),
        )
        environment = Path(sys.prefix)
        shutil.copytree(environment, cache / environment.name, symlinks=True)
        for path in [home, *home.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        done = subprocess.run(
            [LAB, "run", "shared", "--json", "--quiet", "--set", "flows.cubic.duration=2s"]
            + ["--set", "flows.reno.duration=2s", "--set", "flows.reno.start=0"]
            + ["--out", str(home / "out folder")],
            capture_output=True,
            text=True,
            check=False,
            user="nobody",
            group=user.pw_gid,
            extra_groups=[],
            cwd="/",
            env={
                "PATH": "/usr/bin:/bin:/usr/sbin",
                "HOME": folder,
                "XDG_CACHE_HOME": f"{home}/cache",
                "WALE_KERNEL": os.environ.get("WALE_KERNEL", ""),
            },
        )
        assert done.returncode == 0, done.stderr
        assert (home / "out folder" / "result.json").exists()
        assert '"digest"' in done.stdout


def test_modules_that_are_built_elsewhere(tmp_path: Path) -> None:
    """One that is loaded is in test_examples.py; these are refused before anything starts."""
    kernel = Kernel(release="6.12.117", source="")
    file = tmp_path / "tcp_mine.ko"
    for content, why in (
        (None, "No such file"),
        (b"\x7fELF", "this is no kernel module"),
        (b"\0vermagic=6.1.0 SMP\0", "it is built for 6.1.0, not for 6.12.117"),
    ):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(EngineError, match=f"--module {file}: {why}"):
            check_file(kernel, file)
    file.write_bytes(b"\0depends=rate_feedback\0vermagic=6.12.117 mod_unload\0")
    assert check_file(kernel, file) == file.resolve()
