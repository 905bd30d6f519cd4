# SPDX-License-Identifier: GPL-2.0
"""Runs one scenario from inside the guest (or on the host): standard library only.

    python3 -P -s -S agent.py PLAN.json RESULT.json

PLAN lists the namespaces, wires, qdiscs and flows (topologies/).  The agent builds them,
starts the servers, and starts everything else at fixed times of a clock, so that the
duration of the set-up shifts nothing.  When all flows have ended it reads every qdisc once
its line has drained, and writes what it saw to RESULT, which results/result.py interprets.
It avoids modules that load slowly: a guest pays for every page.
"""

import json
import os
import signal
import sys

#: The modules beside this one that it consists of, each after those that it needs.
PARTS = [
    "shared", "namespaces", "processes", "hosts", "tc", "links", "rate_advice", "commands",
    "programs", "flows", "recorders",
]  # fmt: skip


def load_parts() -> None:
    """Make modules of the parts without `import`, and without anything else that imports.

    An import takes locks, and Python reads the clock for each of them.  Reading the clock moves
    virtual time, and the kernel's randomness depends on the times of interrupts, so the number
    of parts would change the result of a scenario.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    module = type(sys)
    for name, folder in (("wale_lab", os.path.dirname(here)), ("wale_lab.guest", here)):
        sys.modules[name] = module(name)
        sys.modules[name].__path__ = [folder]
    for part in PARTS:
        path = f"{here}/{part}.py"
        made = sys.modules[f"wale_lab.guest.{part}"] = module(f"wale_lab.guest.{part}")
        made.__file__ = path
        file = os.open(path, os.O_RDONLY)
        text = os.read(file, os.fstat(file).st_size)
        os.close(file)
        exec(compile(text, path, "exec"), made.__dict__)


if __name__ == "__main__":
    load_parts()

from wale_lab.guest.flows import Flows  # noqa: E402
from wale_lab.guest.hosts import Hosts  # noqa: E402
from wale_lab.guest.links import Links  # noqa: E402
from wale_lab.guest.namespaces import is_copied_here  # noqa: E402
from wale_lab.guest.processes import Processes  # noqa: E402
from wale_lab.guest.programs import ask_for_names, name_hosts  # noqa: E402
from wale_lab.guest.rate_advice import carry_rates, play_advice, set_advice  # noqa: E402
from wale_lab.guest.recorders import Recorders  # noqa: E402
from wale_lab.guest.shared import WORK, AgentError, meet, now, reseed, sleep_until  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from wale_lab.guest.shared import Plan


def read_plan() -> "Plan":
    """The plan that the host wrote."""
    with open(sys.argv[1], encoding="utf-8") as file:
        plan: Plan = json.load(file)
    return plan


def set_up(plan: "Plan", processes: "Processes") -> tuple["Plan", "Hosts", "Flows"]:
    """Build the hosts and start the servers.

    What is used of the plan here is what copies of a guest have in common (copies.py on the
    host).  A copy goes on from the end of this, with a plan of its own, which is returned.
    """
    hosts, flows = Hosts(plan, processes), Flows(plan, processes)
    hosts.register_controls()
    controls = hosts.check_controls()
    if plan["flows"]:
        flows.make_file()
    hosts.load_modules()
    hosts.build()
    if plan["programs"]:
        name_hosts(plan["names"])
        ask_for_names(plan["name_server"])
    flows.start_servers()
    if plan["virtual"] and controls is not None and is_copied_here():
        plan, earlier = read_plan(), flows
        hosts, flows = Hosts(plan, processes), Flows(plan, processes)
        if not hosts.has_controls(controls):  # a guest of its own loads or reports them
            sys.exit(os.EX_TEMPFAIL)
        flows.take_servers(earlier)
    return plan, hosts, flows


def run_scenario(plan: "Plan", processes: "Processes") -> "dict[str, Any]":
    """Run it, from the first namespace to the last counter; return what was seen."""
    plan, hosts, flows = set_up(plan, processes)
    carry_rates(plan, processes)
    links, recorders = Links(plan, processes), Recorders(plan, processes)
    lead = plan["lead_ns"]
    start = plan["flows_ns"] if plan["virtual"] else now() + 2 * lead
    if now() > start - lead:
        raise AgentError(f"the set-up took until {now()} ns of virtual time")
    recorders.start_packets()
    begin = start - lead
    sleep_until(begin)
    links.install(begin, start)
    links_at = now()
    set_advice(plan, processes)
    recorders.start()
    sleep_until(start)
    if plan.get("reseed"):
        reseed()
    players = play_advice(plan, processes)
    flows.run(start)
    ended = flows.ended_ns()
    recorders.stop()
    for player in players:
        processes.stop(player)
    counted = {"at_end_ns": now()} if plan.get("guests", 1) > 1 else {}
    at_end = links.statistics()
    drained = links.drained_statistics()
    meet(plan, 2)
    recorders.stop_packets()  # before the servers' last words
    flows.stop_servers()
    hosts.warn_of_memory_pressure()
    return {
        "start_ns": start,
        "links_at_ns": links_at,
        "ended_ns": ended,
        "kernel": os.uname().release,
        "flows": flows.report(start),
        "programs": flows.programs.report(),
        "qdiscs_at_end": at_end,
        "qdiscs": drained,
        **counted,
        **recorders.report(),
        "warnings": processes.warnings,
    }


def run_shell(plan: "Plan", processes: "Processes") -> "NoReturn":
    """Build everything except flows, and become the shell."""
    hosts = Hosts(plan, processes)
    hosts.register_controls()
    hosts.load_modules()
    hosts.build()
    name_hosts(plan["names"])
    ask_for_names(plan["name_server"])
    Links(plan, processes).install(now(), now())
    set_advice(plan, processes)
    processes.netns.enter(None)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
    os.execvp(plan["shell"][0], plan["shell"])


def main() -> None:
    """Carry out the plan, and write the result."""
    plan, result_path = read_plan(), sys.argv[2]
    os.makedirs(WORK, exist_ok=True)
    processes = Processes()
    try:
        if plan.get("shell"):
            run_shell(plan, processes)
        result = run_scenario(plan, processes)
    except AgentError as error:
        result = {"error": str(error), "of": error.of}
    finally:
        for pid in list(processes.children):
            processes.stop(pid, signal.SIGKILL)
    try:
        with open(result_path, "w", encoding="utf-8") as file:
            json.dump(result, file)
    except OSError as error:
        print(error.strerror)
        sys.exit(os.EX_IOERR)
    sys.exit(1 if "error" in result else 0)


if __name__ == "__main__":
    main()
