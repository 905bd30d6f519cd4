# SPDX-License-Identifier: GPL-2.0
"""Which links does SCONE help, with which period and statistic?  A film on the links of study.yaml.

    testbed/wale-lab python Documentation/examples/scone/study.py [--out DIR] [--seeds N]
        [--only LINK]... [--seconds N] [CLIENT...]

Prints for each client of each link the mean over the seeds and half of its 95 % interval, and the
same of its difference, with the same seeds, from the client without advice before it. Runs in DIR
are not repeated. All runs of one seed come before those of the next.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import yaml

from wale_lab.evaluation.judge import mean_interval
from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import load_scenario

HERE = Path(__file__).parent
STUDY = yaml.safe_load((HERE / "study.yaml").read_text(encoding="utf-8"))

#: The mean rate of the models of traces.
MEAN = "1500kbit"

#: The links by which the film comes.
PATH = ("forward", "first.forward", "second.forward")

#: Why a link drops packets, of its own will.
CAUSES = ("buffer", "policer")


def cells() -> Iterator[tuple[str, str]]:
    """The links, and who is on each of them."""
    for table in STUDY["tables"]:
        for link in table["links"]:
            yield from ((link, client) for client in table["clients"])


def _queueing_ms(folder: Path, names: list[str]) -> list[float]:
    """How long the path's buffers would take to empty at the rate of each moment, if known."""
    waits: dict[str, float] = {}
    with (folder / "links.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["link"] in names and int(row["rate_Bps"] or 0):
                wait = 1e3 * int(row["backlog_bytes"]) / int(row["rate_Bps"])
                waits[row["t_s"]] = waits.get(row["t_s"], 0) + wait
    return list(waits.values())


def scenario_of(
    link: str, client: str, folder: Path, seconds: int, seed: int
) -> tuple[Path, list[str]]:
    """A scenario and its overrides; the folder has the traces of the seed."""
    chosen = STUDY["clients"][client]
    words = [*STUDY["links"][link], *chosen["set"], f"flows.video.env.SECONDS_TO_WATCH={seconds}"]
    if not any("trace=" in word for word in words) and link != "series":
        words.insert(0, "bottleneck.forward.trace=null")
    if link != "series":
        words += [f"bottleneck.{way}.delay=DELAY" for way in ("forward", "reverse")]
    if chosen["scenario"] == "shared":
        words.append(f"flows.download.duration={seconds}s")
    values = {
        "DELAY": f"{20 + 8 * ((seed - 1) % 5)}ms",
        "PHASE": f"{20 * (1 + 2 * seed % 5)}s",
        "FOLDER": str(folder),
    }
    for name, value in values.items():
        words = [word.replace(name, value) for word in words]
    return HERE / f"{chosen['scenario']}.yaml", words


def _traces(folder: Path, seconds: int, seed: int) -> None:
    """The traces of a seed, unless they are there."""
    for model in ("lte", "leo"):
        file = folder / f"{model}.trace"
        if file.exists():
            continue
        words = ["trace", "make", model, "--mean", MEAN, "--seconds", seconds + 10]
        words += ["--seed", seed, "--out", file]
        subprocess.run([sys.executable, "-m", "wale_lab", *map(str, words)], check=True)


def _numbers(result: dict[str, Any], out: Path) -> dict[str, float]:
    """Of a run: what the player said, and what its path did."""
    path = [one for one in result["links"] if one["name"] in PATH]
    flows = {flow["name"]: flow for flow in result["flows"]}
    offered = sum(one["offered_packets"] for one in path)
    numbers = dict(flows["video"]["metrics"])
    for cause in CAUSES:
        dropped = sum(one["dropped_packets"].get(cause, 0) for one in path)
        numbers[f"{cause}_loss_%"] = 100 * dropped / offered
    waits = _queueing_ms(out, [one["name"] for one in path])
    numbers |= {
        "queue_ms": float(numpy.mean(waits)),
        "queue_p95_ms": float(numpy.percentile(waits, 95)),
    }
    if "download" in flows:
        numbers["download_kbit"] = 8e-3 * flows["download"]["goodput_Bps"]
    return numbers


def run(link: str, client: str, folder: Path, seconds: int, seed: int) -> dict[str, float]:
    """The numbers of a run, which is done if it is not in the folder."""
    folder = folder / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    _traces(folder, seconds, seed)
    out = folder / f"{link}-{client}".replace(" ", "_").replace("/", "_")
    if not (out / "result.json").exists():
        scenario = load_scenario(*scenario_of(link, client, folder, seconds, seed))
        run_scenario(scenario, seed, out)
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    if wrong := problems(result):
        raise SystemExit(f"{link}, {client}, seed {seed}: {'; '.join(wrong)}")
    return _numbers(result, out)


def main() -> None:
    """Run what is not there, and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("client", nargs="*", metavar="CLIENT", help="(all)")
    parser.add_argument("--out", type=Path, default=Path("out/scone"))
    parser.add_argument("--only", action="append", choices=STUDY["links"], help="these links (all)")
    parser.add_argument("--seconds", type=int, default=200, help="to watch (200)")
    parser.add_argument("--seeds", type=int, default=5, help="how many (5)")
    args = parser.parse_args()
    for client in args.client:
        if client not in STUDY["clients"]:
            parser.error(f"no client {client!r}; expected some of {'; '.join(STUDY['clients'])}")
    chosen = [
        (link, client)
        for link, client in cells()
        if link in (args.only or [link]) and client in (args.client or [client])
    ]
    found: dict[tuple[str, str], list[dict[str, float]]] = {cell: [] for cell in chosen}
    for seed in range(1, args.seeds + 1):
        for cell in chosen:
            found[cell].append(run(*cell, args.out.absolute(), args.seconds, seed))
            print(f"{seed} {': '.join(cell)}", file=sys.stderr, flush=True)
    show(found)


def show(found: dict[tuple[str, str], list[dict[str, float]]]) -> None:
    """A line for each number of each client of each link, of which there is a row for each seed."""
    without: dict[str, list[dict[str, float]]] = {}
    for (link, client), rows in found.items():
        print(f"{link}: {client}")
        if client.endswith(("no advice", "no element")):
            without[link] = rows
        beside = without[link]
        for name in rows[0]:
            values = [row[name] for row in rows]
            line = f"    {name:16} {_mean(values)}"
            if rows is not beside:
                pairs = zip(values, beside, strict=True)
                line += f"   differs by {_mean([value - other[name] for value, other in pairs])}"
            print(line)


def _mean(values: list[float]) -> str:
    interval = mean_interval(values)
    return f"{interval.mean:8.4g} +- {interval.half:<8.3g}"


if __name__ == "__main__":
    main()
