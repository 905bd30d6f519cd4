# SPDX-License-Identifier: GPL-2.0
"""Runs one scenario from inside the guest (or on the host): standard library only.

    python3 -P -s -S agent.py PLAN.json RESULT.json

PLAN says which namespaces, wires, qdiscs and flows (topologies/) there are.  The agent
builds them, starts the servers, and starts everything else at fixed times of a clock,
so that what the set-up cost shifts nothing.  It ends when all flows have, reads every
qdisc when its line has drained, and writes what it saw to RESULT; results/result.py makes
sense of that.  It avoids modules that load slowly: a guest pays for every page.
"""

import ctypes
import fcntl
import json
import os
import signal
import struct
import sys
import time

WORK = "/run/wale/agent"
MONOTONIC = time.CLOCK_MONOTONIC

# How long the links may take to drain at the end.
DRAIN_NS = 60_000_000_000
# The longest time between two looks at them.
MAX_PAUSE_S = 5
CLONE_NEWNET = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


class AgentError(Exception):
    """Why the scenario could not be run; `of` is what of the plan is to blame (refusal.py)."""

    def __init__(self, text, **of):
        super().__init__(text)
        self.of = of


def now():
    return time.clock_gettime_ns(MONOTONIC)


class Netns:
    """The namespaces, by name; enter() changes that of this process."""

    def __init__(self):
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.files = {}
        self.here = None

    def enter(self, name):
        if name == self.here:
            return
        if name is not None and name not in self.files:
            flags = os.O_RDONLY | os.O_CLOEXEC
            self.files[name] = os.open("/run/netns/" + name, flags)
        if libc.setns(self.home if name is None else self.files[name], CLONE_NEWNET):
            raise AgentError(f"namespace {name}: {os.strerror(ctypes.get_errno())}")
        self.here = name


class Agent:
    def __init__(self, plan):
        self.plan = plan
        self.virtual = plan["virtual"]
        self.netns = Netns()
        self.children = {}  # pid: name
        self.on_exit = {}  # pid: function(status)
        self.serial = 0
        self.warnings = []
        self.flows = {}
        self.ended = {}  # flow: time
        self.timers = []  # (time, serial, function)

    # Processes

    def spawn(self, argv, netns=None, out=None, text=None, on_exit=None):
        """Start a program; its outputs go to files WORK/out.0 and .1."""
        self.serial += 1
        out = out or f"{WORK}/{self.serial}"
        actions = []
        source = "/dev/null"
        if text is not None:
            source = f"{WORK}/{self.serial}.in"
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
        actions.append((os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        actions.append((os.POSIX_SPAWN_OPEN, 1, out + ".1", flags, 0o644))
        actions.append((os.POSIX_SPAWN_OPEN, 2, out + ".2", flags, 0o644))
        self.netns.enter(netns)
        pid = os.posix_spawnp(
            argv[0], argv, os.environ, file_actions=actions, setsigmask=[], setsigdef=[]
        )
        self.children[pid] = argv[0]
        if on_exit:
            self.on_exit[pid] = on_exit
        return pid, out

    def run(self, argv, netns=None, text=None, of_lines=()):
        """Run a program to its end; its output. An error ends the scenario.

        `of_lines`: what each line of the text is of, for the error of a -batch.
        """
        pid, out = self.spawn(argv, netns, text=text)
        _, status = os.waitpid(pid, 0)
        del self.children[pid]
        said = read(out + ".1")
        if status:
            where = f" in {netns}" if netns else ""
            said = (read(out + ".2") + said).strip()
            of = dict(of_lines[failed_line(said) - 1], said=said) if of_lines else {}
            raise AgentError(f"{' '.join(argv)}{where} failed: {said}", **of)
        return said

    # Set-up

    def build(self):
        names = [ns["name"] for ns in self.plan["namespaces"]]
        lines = ["netns add " + name for name in names] + self.plan["wires"]
        self.run(["ip", "-batch", "-"], text=joined(lines))
        for ns in self.plan["namespaces"]:
            self.netns.enter(ns["name"])
            for key, value in ns["sysctls"].items():
                self.sysctl(ns["name"], key, value)
            for device, offloads in ns["offloads"].items():
                for feature, on in offloads.items():
                    set_offload(device, feature, on)
            if ns["ip"]:
                self.run(["ip", "-batch", "-"], ns["name"], text=joined(ns["ip"]))
        cpus = min(os.cpu_count() or 1, 32)
        if cpus > 1:
            for number, name in enumerate(names):
                self.receive_on(name, number % cpus)

    def receive_on(self, name, cpu):
        """Have one CPU deal with all that a host receives.

        A veth leaves a packet to the CPU that sent it, which may deal with it after another
        CPU has dealt with a later one: TCP would see packets overtake that no link has reordered.
        """
        mask = f"{1 << cpu:x}"
        files = "/sys/class/net/*/queues/rx-*/rps_cpus"
        script = f"for file in {files}; do [ ! -e $file ] || echo {mask} >$file; done"
        self.run(["ip", "netns", "exec", name, "sh", "-c", script])  # it has a sysfs of its own

    def sysctl(self, where, key, value):
        path = "/proc/sys/" + key.replace(".", "/")
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(str(value))
        except FileNotFoundError:
            raise AgentError("this kernel has no such sysctl", host=where, sysctl=key) from None
        except OSError as error:
            why = f"the kernel does not take {value!r}: {error.strerror}"
            raise AgentError(why, host=where, sysctl=key) from None

    def install_links(self, begin, start):
        """All qdiscs, one tc for each namespace; traces and sessions `begin` together.

        Times are of this clock; those of a link, from `start` on.  tc knows the time of day.
        """
        before, day_ns = now(), time.clock_gettime_ns(time.CLOCK_REALTIME)
        day_ns -= (before + now()) // 2  # a clock of virtual time moves when it is read
        lines: dict[str, list[list[str]]] = {}
        of_lines: dict[str, list[dict[str, str]]] = {}
        for number, link in enumerate(self.plan["links"]):
            words = list(link["words"])
            if link["trace"]:
                path = f"{WORK}/trace{number}"
                with open(path, "w", encoding="utf-8") as file:
                    file.write(joined(link["trace"]["lines"]))
                words += ["trace", "file", path, link["trace"]["end"]]
            if link["starts"]:
                at = begin if link["start_ns"] is None else start + link["start_ns"]
                words += ["start", "at", "@{}.{:09d}".format(*divmod(at + day_ns, 10**9))]
            batch = lines.setdefault(link["netns"], [])
            of = of_lines.setdefault(link["netns"], [])
            of.append({"link": link["name"], "key": "qdisc"})
            place = ["qdisc", "replace", "dev", link["dev"]]
            if link["queue"]:
                batch.append([*place, "root", "handle", "1:", *words])
                batch.append([*place, "parent", "1:1", *link["queue"]])
                of.append({"link": link["name"], "key": "queue"})
            else:
                batch.append([*place, "root", *words])
        for netns, batch in lines.items():
            if all(is_plain(word) for words in batch for word in words):
                text = joined(map(" ".join, batch))
                self.run(["tc", "-batch", "-"], netns, text, of_lines[netns])
                continue
            for words, whose in zip(batch, of_lines[netns], strict=True):
                self.run(["tc", *words], netns, of_lines=[whose])

    def install_advice(self):
        """What senders are advised before the start; the links have told theirs by now."""
        for advice in self.plan["advice"]:
            argv = ["wale", "rate", "set", "dev", advice["dev"], *advice["rate"]]
            self.run(argv, advice["netns"])

    def play_advice(self):
        """Advice that changes with time, from now on; its settings stay as they were set."""
        players = []
        for number, advice in enumerate(self.plan["advice"]):
            if not advice["trace"]:
                continue
            path = f"{WORK}/advice{number}"
            with open(path, "w", encoding="utf-8") as file:
                file.write(joined(advice["trace"]))
            argv = ["wale", "rate", "play", path, "dev", advice["dev"], *advice["play"], "--quiet"]
            pid, _ = self.spawn(argv, advice["netns"])
            players.append(pid)
        return players

    def check_controls(self):
        """Say which congestion control the kernel does not have, before anything starts."""
        for flow in self.plan["flows"]:
            if not flow["constant"]:
                self.check_control(flow["cc"], flow=flow["name"])
        for ns in self.plan["namespaces"]:
            for words in map(str.split, ns["ip"]):
                if "congctl" in words:
                    self.check_control(words[words.index("congctl") + 1], host=ns["name"])

    def check_control(self, name, **of):
        has = read("/proc/sys/net/ipv4/tcp_available_congestion_control").split()
        if name not in has and not load_control(name):
            raise AgentError(f"there is no congestion control {name!r}", cc=name, has=has, **of)

    def make_file(self):
        """The file that is sent: bytes that follow from the seed."""
        from hashlib import shake_128

        os.makedirs(WORK + "/data")
        left, number = self.plan["file_bytes"], 0
        with open(WORK + "/data/file", "wb") as file:
            while left:  # piece by piece: a guest pays for every page of memory
                piece = shake_128(b"wale %d %d" % (self.plan["seed"], number))
                left -= file.write(piece.digest(min(left, 2**16)))
                number += 1

    def start_servers(self):
        for flow in self.plan["flows"]:
            port = str(flow["port"])
            out = f"{WORK}/server.{flow['name']}"
            if flow["constant"]:
                argv = ["wale", "receive", "--json", "--listen", flow["receiver_address"]]
                argv += ["--port", port]
                if flow["constant"]["logged"]:
                    argv += ["--packets-csv", f"{WORK}/packets.{flow['name']}.csv"]
                pid, _ = self.spawn(argv, flow["receiver_netns"], out)
            elif flow["tool"] == "wale":
                argv = ["wale", "serve", "--json", "--listen", flow["sender_address"]]
                argv += ["--port", port, "--idle-timeout", "3600", WORK + "/data"]
                pid, _ = self.spawn(argv, flow["sender_netns"], out)
            else:
                argv = ["iperf3", "--server", "--one-off", "--json", "--port", port]
                pid, _ = self.spawn(argv, flow["receiver_netns"], out)
            self.flows[flow["name"]] = {"server": pid, "flow": flow}

    def start_recorders(self):
        record = self.plan["record"]
        recorders = []
        for number, (netns, what) in enumerate(record["namespaces"].items()):
            argv = ["wale", "watch", "--interval", f"{record['interval_ns']}ns"]
            for device in what["links"]:
                argv += ["--link", device]
            if what["links"]:
                argv += ["--links-csv", f"{WORK}/links.{number}.csv"]
            else:
                argv += ["--no-links"]
            if what["flows"]:
                argv += ["--flows", "--flows-csv", f"{WORK}/flows.{number}.csv"]
            pid, out = self.spawn(argv, netns)
            recorders.append({"pid": pid, "out": out, "netns": netns, "number": number})
        if record["channel"]:
            argv = [sys.executable, "-B", "-P", "-s", "-S"]  # -B: the host engine is root here
            argv += [os.path.dirname(__file__) + "/channel_recorder.py"]
            argv += [str(record["interval_ns"]), WORK + "/channel.csv", *record["channel"]]
            pid, out = self.spawn(argv)
            recorders.append({"pid": pid, "out": out, "netns": "channel", "number": None})
        return recorders

    def start_packet_recorder(self):
        """The log of all packets, if it is wanted."""
        folder = self.plan["record"]["packets"]
        if not folder:
            return None
        from wale_lab.guest import packet_recorder

        try:
            has_child = any(link["queue"] for link in self.plan["links"])
            return packet_recorder.Recorder(folder, self.virtual, has_child)
        except OSError as error:
            raise AgentError(f"packets cannot be logged: {error}") from None

    def stop_packet_recorder(self, recorder):
        """Have it write the rest; tell beside that which namespace is which."""
        try:
            recorder.stop()
        except OSError as error:
            raise AgentError(f"packets cannot be logged: {error}") from None
        cookies = {}
        for ns in self.plan["namespaces"]:
            self.netns.enter(ns["name"])
            cookies[ns["name"]] = netns_cookie()
        with open(recorder.folder + "/namespaces.json", "w", encoding="utf-8") as file:
            json.dump(cookies, file)

    # The scenario

    def start_flow(self, flow, at=None):
        record = self.flows[flow["name"]]
        record["started_ns"] = now()
        if flow["constant"]:
            argv, netns = send_command(flow, at or record["started_ns"]), flow["sender_netns"]
        elif flow["tool"] == "wale":
            argv, netns = get_command(flow, self.plan["file_bytes"]), flow["receiver_netns"]
        else:
            argv, netns = iperf3_command(flow), flow["sender_netns"]
        out = f"{WORK}/client.{flow['name']}"
        record["client"], _ = self.spawn(
            argv, netns, out, on_exit=lambda status: self.flow_ended(flow, status)
        )

    def flow_ended(self, flow, status):
        record = self.flows[flow["name"]]
        record["ended_ns"] = now()
        record["status"] = os.waitstatus_to_exitcode(status)
        self.ended[flow["name"]] = record["ended_ns"]
        for other in self.plan["flows"]:
            if other["after"] == flow["name"]:
                self.at(record["ended_ns"] + other["start_ns"], self.start_flow, other)

    def at(self, when, function, *arguments):
        self.serial += 1
        self.timers.append((when, self.serial, function, arguments))
        self.timers.sort(key=lambda t: t[:2])

    def run_flows(self, start):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        for flow in self.plan["flows"]:
            if flow["after"] is None:
                at = start + flow["start_ns"]
                self.at(at, self.start_flow, flow, at)
        deadline = start + self.plan["virtual_limit_ns"]
        while not self.reap():
            if now() >= deadline:
                self.end_late_flows()
                break
            next_at = min(self.timers[0][0] if self.timers else deadline, deadline)
            wait = next_at - now()
            if wait > 0:
                signal.sigtimedwait([signal.SIGCHLD], wait / 1e9)
                continue
            if self.timers and self.timers[0][0] <= now():
                _, _, function, arguments = self.timers.pop(0)
                function(*arguments)

    def reap(self):
        """Take note of processes that ended; True when all flows have."""
        while len(self.ended) < len(self.plan["flows"]):
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return False
            name = self.children.pop(pid, "?")
            if pid in self.on_exit:
                self.on_exit.pop(pid)(status)
            elif status:
                self.warnings.append(f"{name} ended early with status {status}")
        return True

    def end_late_flows(self):
        for record in self.flows.values():
            if "client" in record and "ended_ns" not in record:
                status = self.stop(record["client"])
                record["ended_ns"] = now()
                record["status"] = os.waitstatus_to_exitcode(status)
                record["late"] = True

    # The end

    def qdiscs(self):
        """Every link's statistics, as tc tells them."""
        result = {}
        for link in self.plan["links"]:
            if not link["shown"]:
                continue
            shown = result[link["name"]] = self.qdisc(link, "root")
            if link["queue"]:
                shown["queue"] = self.qdisc(link, "parent", "1:1")
        return result

    def qdisc(self, link, *where):
        """A qdisc with its statistics, as tc tells them."""
        words = ["tc", "-s", "-j", "qdisc", "show", "dev", link["dev"], *where]
        return json.loads(self.run(words, link["netns"]))[0]

    def drained_qdiscs(self):
        """The statistics when no link holds a packet that may still leave it."""
        end = now() + DRAIN_NS
        time.sleep(1 if self.virtual else 0.2)
        links = {link["name"]: link for link in self.plan["links"]}
        pause = 0.05 if self.virtual else 0.2
        while True:
            result = self.qdiscs()
            moving = [
                name
                for name, qdisc in result.items()
                if held_packets(qdisc) and not closed_for_ever(links[name], qdisc)
            ]
            if not moving or now() > end:
                return result
            time.sleep(pause)
            pause = min(pause * 1.5, MAX_PAUSE_S)  # each look starts a tc for every link

    def warn_of_memory_pressure(self):
        """Windows that TCP keeps small for want of memory are not the scenario's."""
        times = 0
        for ns in self.plan["namespaces"]:
            self.netns.enter(ns["name"])
            times += tcp_counter("TCPMemoryPressures")
        if times:
            self.warnings.append(
                "TCP was under memory pressure (net.ipv4.tcp_mem), in which it keeps windows"
                " small: it needs more memory (memory_mb) or smaller socket buffers"
            )

    def stop(self, pid, number=signal.SIGTERM):
        """End a process of ours and return its status.

        None if it has been waited for: its PID is nobody's then, or another process's.
        """
        if self.children.pop(pid, None) is None:
            return None
        self.on_exit.pop(pid, None)
        os.kill(pid, number)
        return os.waitpid(pid, 0)[1]

    def scenario(self):
        self.check_controls()
        self.make_file()
        self.build()
        self.start_servers()
        lead = self.plan["lead_ns"]
        start = self.plan["flows_ns"] if self.virtual else now() + 2 * lead
        if now() > start - lead:
            raise AgentError(f"the set-up took until {now()} ns of virtual time")
        packets = self.start_packet_recorder()
        begin = start - lead
        sleep_until(begin)
        self.install_links(begin, start)
        links_at = now()
        self.install_advice()
        recorders = self.start_recorders()
        sleep_until(start)
        players = self.play_advice()
        self.run_flows(start)
        ended = max([r["ended_ns"] for r in self.flows.values() if "ended_ns" in r], default=now())
        for recorder in recorders:
            self.stop(recorder["pid"])
        for player in players:
            self.stop(player)
        at_end = self.qdiscs()
        qdiscs = self.drained_qdiscs()
        if packets:  # before the servers' last words
            self.stop_packet_recorder(packets)
        for record in self.flows.values():
            self.stop(record["server"])
        self.warn_of_memory_pressure()
        return self.report(start, links_at, ended, at_end, qdiscs, recorders)

    def report(self, start, links_at, ended, at_end, qdiscs, recorders):
        flows = {}
        for name, record in self.flows.items():
            flows[name] = {
                key: record.get(key) for key in ("started_ns", "ended_ns", "status", "late")
            }
            for side in ("server", "client"):
                flows[name][side] = read(f"{WORK}/{side}.{name}.1")
                flows[name][side + "_errors"] = read(f"{WORK}/{side}.{name}.2")
            if record["flow"]["constant"] and record["flow"]["constant"]["logged"]:
                path = f"{WORK}/packets.{name}.csv"
                begin = start + time.time_ns() - now()  # by the clock of the log
                flows[name]["delays"] = delays(path, begin, self.plan["record"]["interval_ns"])
        series = []
        for recorder in recorders:
            number = recorder["number"]
            if read(recorder["out"] + ".2"):
                self.warnings.append(f"recorder: {read(recorder['out'] + '.2').strip()}")
            if number is None:
                continue
            series.append(
                {
                    "netns": recorder["netns"],
                    "links": read(f"{WORK}/links.{number}.csv"),
                    "flows": read(f"{WORK}/flows.{number}.csv"),
                    "errors": read(recorder["out"] + ".2"),
                }
            )
        return {
            "start_ns": start,
            "links_at_ns": links_at,
            "ended_ns": ended,
            "kernel": os.uname().release,
            "flows": flows,
            "qdiscs_at_end": at_end,
            "qdiscs": qdiscs,
            "series": series,
            "channel": read(WORK + "/channel.csv"),
            "warnings": self.warnings,
        }


def delays(path, start, interval):
    """Of each interval in which packets came: its number, how many, and their delays.

    Least, sum and largest, ns; from the log of `wale receive`.
    """
    found: dict[int, list[int]] = {}
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            _, due, came = map(int, line.split(","))
            delay = came - due
            entry = found.setdefault((came - start) // interval, [0, delay, 0, delay])
            entry[0] += 1
            entry[1] = min(entry[1], delay)
            entry[2] += delay
            entry[3] = max(entry[3], delay)
    return [[number, *found[number]] for number in sorted(found)]


def failed_line(said):
    """The number of the line of its input that a program with -batch fails at."""
    words = said.rpartition("Command failed -:")[2].split()
    return int(words[0]) if words and words[0].isdigit() else 1


def netns_cookie():
    """What the kernel calls the present namespace."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        value = sock.getsockopt(socket.SOL_SOCKET, 71, 8)  # SO_NETNS_COOKIE
    return int.from_bytes(value, sys.byteorder)


def tcp_counter(name):
    """A counter of TcpExt in the present namespace; 0 if this kernel has none."""
    names, values = read("/proc/net/netstat").splitlines()[:2]
    return int(dict(zip(names.split(), values.split(), strict=True)).get(name, 0))


def send_command(flow, at):
    """Packets at a constant rate; their schedule begins at the flow's own time."""
    constant = flow["constant"]
    argv = ["wale", "send", flow["receiver_address"], "--port", str(flow["port"]), "--json"]
    argv += [*constant["rate"], "--size", str(constant["packet"])]
    return [*argv, "--duration", f"{flow['duration_ns']}ns", "--at", f"{at}ns"]


def get_command(flow, file_bytes):
    arrivals = flow["arrivals"]
    host = flow["sender_address"]
    host = f"[{host}]" if ":" in host else host
    argv = ["wale", "get", f"{host}:file", "--port", str(flow["port"]), "--json"]
    argv += ["--cc", flow["cc"], "--no-progress", "--timeout", "3600"]
    if flow["size"]:
        argv += ["--bytes", str(flow["size"])]
        if flow["size"] > file_bytes:
            argv += ["--repeat"]
    elif arrivals:
        argv += ["--arrivals", str(arrivals["rate"]), "--seed", str(arrivals["seed"])]
        argv += ["--transfers", str(arrivals["sessions"])]
        argv += ["--mean-size", str(arrivals["mean"])]
    else:
        argv += ["--repeat", "--duration", f"{flow['duration_ns']}ns"]
    if not flow["sha256"]:
        argv += ["--no-sha256"]
    return argv


def iperf3_command(flow):
    argv = ["iperf3", "--client", flow["receiver_address"], "--port", str(flow["port"])]
    argv += ["--json", "--congestion", flow["cc"]]
    if flow["size"]:
        return [*argv, "--bytes", str(flow["size"])]
    return [*argv, "--time", str(flow["duration_ns"] // 10**9)]


def joined(lines):
    return "\n".join(lines) + "\n"


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def sleep_until(when):
    wait = when - now()
    if wait > 0:
        time.sleep(wait / 1e9)


def is_plain(word):
    """Does a line of tc -batch have this word as it is, without quotes, and no comment?"""
    return bool(word) and not set(word) & set("\"'#\\ \t\r\n")


def held_packets(qdisc):
    options = qdisc.get("stats") or qdisc
    if "line_packets" in options:
        return options["backlog_packets"] + options["line_packets"]
    return qdisc.get("qlen", 0)


def closed_for_ever(link, qdisc):
    """Will nothing more leave this link: does its trace say rate 0 from now on?"""
    stats = qdisc.get("stats") or qdisc
    if stats.get("rate") != 0 or stats.get("line_packets") != 0 or not link["trace"]:
        return False
    steps = [line.split() for line in link["trace"]["lines"]]
    if all(rate == "0bit" for _, rate in steps):
        return True
    how_it_ends = link["trace"]["end"]
    if how_it_ends == "loop" or (how_it_ends == "hold" and steps[-1][1] != "0bit"):
        return False
    length = sum(int(duration.removesuffix("ns")) for duration, _ in steps)
    # a number above 2^53 is text
    return "epoch_ns" in stats and int(stats["now_ns"]) >= int(stats["epoch_ns"]) + length


def load_control(name):
    """Have the kernel load a congestion control, as the first socket that asks for it does."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError:
            return False
    return True


# ethtool's own numbers: ETHTOOL_STSO and so on
OFFLOADS = {"tso": 0x1F, "gso": 0x24, "gro": 0x2C}


def set_offload(device, feature, on):
    import socket

    value = ctypes.create_string_buffer(struct.pack("II", OFFLOADS[feature], int(on)))
    request = struct.pack("16sP8x", device.encode(), ctypes.addressof(value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            fcntl.ioctl(sock, 0x8946, request)  # SIOCETHTOOL
        except OSError as error:
            raise AgentError(f"{device}: {feature}: {error.strerror}") from None


def main():
    plan_path, result_path = sys.argv[1:3]
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    os.makedirs(WORK, exist_ok=True)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, what we start should not
    agent = Agent(plan)
    result = {}
    try:
        if plan.get("shell"):
            agent.build()
            agent.install_links(now(), now())
            agent.install_advice()
            agent.netns.enter(None)
            os.execvp(plan["shell"][0], plan["shell"])
        result = agent.scenario()
    except AgentError as error:
        result = {"error": str(error), "of": error.of}
    finally:
        for pid in list(agent.children):
            agent.stop(pid, signal.SIGKILL)
    try:
        with open(result_path, "w", encoding="utf-8") as file:
            json.dump(result, file)
    except OSError as error:
        print(error.strerror)
        sys.exit(os.EX_IOERR)
    sys.exit(1 if "error" in result else 0)


if __name__ == "__main__":
    main()
