# SPDX-License-Identifier: GPL-2.0
"""`wale-lab with`: a command behind a link, and a server at the other end of it.

The command line becomes a scenario, a dumbbell whose pair are the hosts `server` and `client`:
down is its forward link, up its reverse one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from wale_lab import yaml_lines
from wale_lab.checking import ways_to_write
from wale_lab.engines.base import EXIT_ENGINE, EXIT_TIMEOUT, OUT_DIR, TimedOut
from wale_lab.engines.modules import userspace_env
from wale_lab.errors import ScenarioError
from wale_lab.execute import environment_of
from wale_lab.link import Link
from wale_lab.progress import Progress
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import Scenario, check_scenario
from wale_lab.terminal import STDIN, Terminal, own_environment, standard_input
from wale_lab.trace_format.trace_file import read_trace

#: The hosts, and the flow of the command.
CLIENT, SERVER = "client", "server"

#: Directions.
WAYS = ("down", "up")

#: Keys of a link that are no options of their own: those that --up and --down have, and one that
#: says when.
_NO_OPTIONS = ("trace", "start")

#: Of what is refused in the scenario of a command line: the place there, and the key.
_REFUSED = re.compile(r"^wale-lab with(?::\d+)?: ([a-z_]+(?:\.[\w-]+)+):")

#: What only one direction can have, that of the data.
_DOWN_ONLY = ("feedback",)


def add_link_options(sub: argparse.ArgumentParser) -> None:
    """An option for each key of a scenario's link."""
    group = sub.add_argument_group(
        "the link",
        "Each is a key of a scenario's link (`wale-lab schema --markdown`), and holds for both "
        "directions: a delay of 40ms makes a round trip of 80 ms.",
    )
    for name, field in Link.model_fields.items():
        if name not in _NO_OPTIONS:
            text = (field.description or "").partition("\n")[0].replace("%", "%%")
            words = dict.fromkeys(f"--{w.replace('_', '-')}" for w in ways_to_write(name, field))
            group.add_argument(*words, dest=f"link_{name}", metavar="X", help=text)


def _value(text: str) -> Any:
    """A value as YAML has it, such as 2mbit, true, or {time: 5ms}."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _words(option: str, text: str) -> dict[str, Any]:
    """What --up or --down says of its direction."""
    if text.lstrip().startswith("{"):
        value = _value(text)
        if isinstance(value, dict):
            return value
    if Path(text).is_file():
        return {"trace": {"file": text}}
    words = shlex.split(text)
    if len(words) == 1:
        if "/" in text or (not text[:1].isdigit() and "." in text):
            raise ScenarioError(f"wale-lab with: {option}: there is no file {text}")
        return {"rate": _value(words[0])}
    if not words or len(words) % 2:
        raise ScenarioError(
            f"wale-lab with: {option}: expected a rate, the file of a trace, or words of a link "
            f"such as 'rate 2mbit delay 10ms', got {text!r}"
        )
    pairs = zip(words[::2], words[1::2], strict=True)
    return {key.replace("-", "_"): _value(value) for key, value in pairs}


def _needs_rate(trace: Any) -> bool:
    """Whether a trace leaves the rate to the link; what is wrong with its file is told later."""
    if not isinstance(trace, dict) or not isinstance(trace.get("file"), str):
        return False
    try:
        lines = Path(trace["file"]).read_text(encoding="utf-8").split("\n")
        steps, _ = read_trace(trace["file"], lines)
    except (OSError, UnicodeDecodeError, ScenarioError):
        return False
    return any(step.rate_bps is None and not step.down for step in steps)


def _link(args: argparse.Namespace, way: str) -> dict[str, Any]:
    """One direction of the link."""
    both = {
        ways_to_write(name, field)[0]: _value(text)
        for name, field in Link.model_fields.items()
        if (text := getattr(args, f"link_{name}", None)) is not None
        and (way == "down" or name not in _DOWN_ONLY)
    }
    text = getattr(args, way)
    own = _words(f"--{way}", text) if text is not None else {}
    if "trace" in own and not _needs_rate(own["trace"]):
        both.pop("rate", None)
    return both | own


def _option(args: argparse.Namespace, way: str, key: str) -> str:
    """The option that gave a key of a link its value."""
    text = getattr(args, way)
    own = _words(f"--{way}", text) if text is not None else {}
    return f"--{way}" if key in own else f"--{key.replace('_', '-')}"


def _check_link(args: argparse.Namespace, way: str, link: dict[str, Any]) -> None:
    """ScenarioError that names the option, if the link is not one."""
    steps = ["1s:1mbit" if "rate" not in link else "1s:-,1ms"]
    value = {**link, "trace": {"steps": steps}} if "trace" in link else link
    try:
        Link.model_validate(value)
    except ValidationError as error:
        item = error.errors()[0]
        key = str(item["loc"][0]) if item["loc"] else None
        option = _option(args, way, key) if key else "the link"
        said = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            said = f"unknown word {key!r}; expected those of a link (wale-lab schema --markdown)"
        elif item["type"] == "model_type":
            said = f"expected its keys in braces, such as {{key: value}}, got {item['input']!r}"
        elif not said.startswith("expected"):
            said = f"{said[:1].lower()}{said[1:]}, got {item['input']!r}"
        raise ScenarioError(f"wale-lab with: {option}: {said}") from None


def scenario_of(args: argparse.Namespace) -> dict[str, Any]:
    """The scenario that the command line says."""
    for one in _chain(args):
        for way in WAYS:
            _check_link(one, way, _link(one, way))
    servers = [
        {
            "name": SERVER + (f"-{n}" if n else ""),
            "sh": command,
            "host": SERVER,
            "ready": _value(args.ready) if args.ready else "listens",
            "serve": True,
        }
        for n, command in enumerate(args.serve)
    ]
    for before, after in pairwise(servers):
        after["after"] = before["name"]
    command = {"name": CLIENT, "run": _chain(args)[-1].argv, "host": CLIENT, "exit": "any"}
    if servers:
        command["after"] = servers[-1]["name"]
    flows = [*servers, command]
    for flow in flows:
        flow |= {"cwd": str(Path(args.cwd).absolute())} if args.cwd else {}
        flow |= {"env": environment_of(args.env)} if args.env else {}
    found: dict[str, Any] = {
        "name": "with",
        "time": "real" if args.real else "virtual",
        "wall_limit": f"{args.wall_limit:g}s",
        **_network([{way: _link(one, way) for way in WAYS} for one in _chain(args)], args.net),
        "flows": flows,
    }
    if args.cc:
        found["hosts"] = {"all": {"route": {"congctl": args.cc}}}
    return found


def _network(links: list[dict[str, dict[str, Any]]], outside: bool) -> dict[str, Any]:
    """The topology: one link, or several in series, of which the first is the server's.

    With a way outside the server is a router, by which everything else is reached.
    """
    if len(links) == 1 and not outside:
        (link,) = links
        pair = {"name": "path", "sender": SERVER, "receiver": CLIENT}
        bottleneck = {"forward": link["down"], "reverse": link["up"]}
        return {"topology": {"pairs": [pair]}, "bottleneck": bottleneck}
    routers = [f"router{n}" for n in range(1, len(links))]
    graph = {
        "type": "graph",
        "hosts": [CLIENT] if outside else [SERVER, CLIENT],
        "routers": [SERVER, *routers] if outside else routers,
        **({"outside": SERVER} if outside else {}),
        "links": [
            {
                "name": f"link{n}" if len(links) > 1 else "link",
                "ends": list(ends),
                "forward": link["down"],
                "reverse": link["up"],
            }
            for n, (ends, link) in enumerate(
                zip(pairwise([SERVER, *routers, CLIENT]), links, strict=True), 1
            )
        ],
    }
    return {"topology": graph}


def _is_with(words: list[str]) -> bool:
    return [Path(word).name for word in words[:2]] == ["wale-lab", "with"]


def _chain(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The command lines of this command and of those that it runs; the last has the command."""
    found = [args]
    plain = vars(args.parse(["with", "--", "true"]))
    while _is_with(found[-1].argv):
        inner = args.parse(found[-1].argv[1:])
        for name, value in vars(inner).items():
            of_link = name.startswith("link_") or name in (*WAYS, "argv", "parse")
            if not of_link and value != plain[name]:
                raise ScenarioError(
                    f"wale-lab with: --{name.replace('_', '-')}: expected it before the first --: "
                    "the inner of several in series has a link alone"
                )
        found.append(inner)
    return found


def _refuse(args: argparse.Namespace) -> None:
    """What cannot be done, before anything is."""
    if os.environ.get("WALE_INSIDE"):
        raise ScenarioError(
            "wale-lab with: it cannot run inside a guest: for links in series, give them one after "
            "the other (wale-lab with LINK -- wale-lab with LINK -- COMMAND)"
        )
    if args.net and not args.real:
        raise ScenarioError(
            "wale-lab with: --net: expected --real too: the outside network has no virtual time"
        )
    if args.net and args.engine != "uml":
        raise ScenarioError(
            f"wale-lab with: --net: the {args.engine} engine has no way to the outside network: "
            "expected the uml engine, with --real"
        )
    if args.packets and not args.out:
        raise ScenarioError("wale-lab with: --packets: expected --out DIR too, where it goes")
    if args.cwd and not Path(args.cwd).is_dir():
        raise ScenarioError(f"wale-lab with: --cwd {args.cwd}: there is no such folder")


@contextmanager
def _options_named(args: argparse.Namespace) -> Iterator[None]:
    """What is refused names an option: its place in the scenario is one that nobody sees."""
    try:
        yield
    except ScenarioError as error:
        lines = str(error).split("\n")
        named = [_REFUSED.sub(lambda m: f"wale-lab with: {_named(args, m[1])}:", x) for x in lines]
        raise ScenarioError("\n".join(named)) from None


def _named(args: argparse.Namespace, key: str) -> str:
    """The option that gave a key of the scenario its value."""
    words = key.split(".")
    for direction, way in (("forward", "down"), ("reverse", "up")):
        if direction in words[:-1]:
            at = words.index(direction)
            of_link = _chain(args)[int(words[at - 1])] if words[0] == "topology" else args
            return _option(of_link, way, words[at + 1])
    if words[0] == "hosts":
        return "--cc"
    if words[0] == "flows" and words[-1] in ("cwd", "env", "ready"):
        return f"--{words[-1]}"
    if words[0] == "flows":
        return "the command" if words[1:2] == [str(len(args.serve))] else "--serve"
    return key


def _terminal(args: argparse.Namespace, stdin: bytes) -> Terminal:
    """What the command shares with the user's terminal."""
    env = own_environment()
    tools = userspace_env()["PATH"].partition(":")[0]
    env["PATH"] = f"{tools}:{env.get('PATH', '')}"
    in_uml = args.engine == "uml"
    folder = str(Path(args.cwd or ".").absolute())
    flush_cs = (10 if args.real else 100) if in_uml else None
    return Terminal(CLIENT, env, folder if in_uml else None, flush_cs, stdin)


def with_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    _refuse(args)
    data = scenario_of(args)
    if args.print_scenario:
        print(yaml.safe_dump(data, sort_keys=False), end="")
        return 0
    stdin = standard_input()
    if stdin:
        data["flows"][-1]["stdin"] = f"{OUT_DIR}/{STDIN}"
    document = yaml_lines.parse(yaml.safe_dump(data, sort_keys=False), "wale-lab with")
    try:
        with _options_named(args):
            return _run(args, check_scenario(document, [], Path.cwd()), stdin)
    except TimedOut as error:
        print(f"wale-lab: {error}", file=sys.stderr)
        return EXIT_TIMEOUT


def _run(args: argparse.Namespace, scenario: Scenario, stdin: bytes) -> int:
    """Run the scenario; the exit code."""
    with ExitStack() as stack:
        own = None if args.out else tempfile.TemporaryDirectory(prefix="wale-with-")
        out = Path(stack.enter_context(own) if own else args.out)
        terminal = _terminal(args, stdin)
        result = run_scenario(
            scenario,
            args.seed,
            out,
            args.engine,
            args.kernel,
            stack.enter_context(Progress(quiet=not sys.stderr.isatty() or args.quiet)),
            packets=args.packets,
            terminal=terminal,
        )
        if terminal.interrupted and _of_client(result)["exit_code"] is None:
            raise KeyboardInterrupt  # the command has not heard of it
        return _tell(args, result, out)


def _of_client(result: dict[str, Any]) -> dict[str, Any]:
    """What became of the command."""
    return next(flow for flow in result["flows"] if flow["name"] == CLIENT)


def _tell(args: argparse.Namespace, result: dict[str, Any], out: Path) -> int:
    """The summary on stderr; the exit code."""
    names = {"forward": "down", "reverse": "up"}
    for link in result["links"]:
        name, dot, direction = link["name"].rpartition(".")
        link["name"] = name + dot + names.get(direction, direction)
    if args.json:
        print(json.dumps(result, indent=2), file=sys.stderr)
    elif not args.quiet:
        from wale_lab.results.table import print_result

        print_result(result, out if args.out else None, stderr=True)
    for line in problems(result):
        print(f"wale-lab: {line}", file=sys.stderr)
    client = _of_client(result)
    if client["completed"]:
        return int(client["exit_code"])
    if client["exit_code"] in (126, 127):
        return int(client["exit_code"])
    return EXIT_TIMEOUT if "virtual_limit" in client["error"] else EXIT_ENGINE
