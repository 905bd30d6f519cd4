# SPDX-License-Identifier: GPL-2.0
"""Which links does SCONE help, with which period and statistic?  A film on links that vary.

    testbed/wale-lab python Documentation/examples/scone/study.py [--out DIR] [--seconds N]
        [--only LINK] [CLIENT...]

Prints a table for each link; runs that are in DIR are not repeated.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy

from wale_lab.results.result import problems
from wale_lab.runner import run_scenario
from wale_lab.scenario import load_scenario

HERE = Path(__file__).parent

#: The mean rate of the models of traces.
MEAN = "1500kbit"

#: Overrides of each link.  policy: that of the scenarios, whose rate changes each 100 s.
#: markov: the chain of Karnik and Kumar, with 0.1 sessions/s.
LINKS = {
    "policy": [],
    "markov": [
        "bottleneck.forward.trace=null",
        "bottleneck.forward.rate=2mbit",
        "bottleneck.forward.sessions={arrival: 1%, mean: 20, max: 3, step: 100ms}",
    ],
    "lte": ["bottleneck.forward.trace={file: FOLDER/lte.trace}"],
    "leo": ["bottleneck.forward.trace={file: FOLDER/leo.trace}"],
}


def quic(scone: str, how: str, *more: str) -> tuple[str, list[str]]:
    """A client over QUIC: what the link writes, and the options of the player."""
    words = [f"bottleneck.forward.scone={scone}"] if scone else []
    return "quic.yaml", [*words, f"flows.video.env.HOW={how}", *more]


def tcp(congestion: str) -> tuple[str, list[str]]:
    """A client over TCP, whose player measures; ratcp follows the link's feedback."""
    return "tcp.yaml", [f"hosts.all.route.congctl={congestion}"]


#: A name, what is watched, and how.
CLIENTS = {
    "TCP cubic": tcp("cubic"),
    "TCP bbr": tcp("bbr"),
    "TCP ratcp": tcp("ratcp"),
    "QUIC, no advice": quic("", "--follow measured"),
    "mean 67 s, lowest of 67 s": quic("link", ""),
    "mean 67 s, last": quic("link", "--statistic last"),
    "mean 10 s, lowest of 10 s": quic("link period 10s", "--period 10"),
    "exact, lowest of 67 s": quic("link average 0", ""),
    "exact, lowest of 10 s": quic("link period 10s average 0", "--period 10"),
    "exact, mean of 67 s": quic("link period 10s average 0", "--statistic mean"),
    "exact, 25th percentile of 67 s": quic("link period 10s average 0", "--statistic p25"),
    "mean 67 s, trusted": quic("link", "--follow advice"),
    "exact, lowest of 10 s, trusted": quic(
        "link period 10s average 0", "--period 10 --follow advice"
    ),
    "mean 67 s, lowest of 67 s, 10 % loss": quic("link", "", "bottleneck.forward.loss=10%"),
    "QUIC, no advice, 10 % loss": quic("", "--follow measured", "bottleneck.forward.loss=10%"),
}


def queueing_ms(folder: Path) -> list[float]:
    """What the buffer would take to empty at the rate of the moment; where there is one."""
    with (folder / "links.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["link"] == "forward"]
    return [
        1e3 * int(row["backlog_bytes"]) / int(row["rate_Bps"])
        for row in rows
        if int(row["rate_Bps"])
    ]


def scenario_of(link: str, client: str, folder: Path, seconds: int) -> tuple[Path, list[str]]:
    """A scenario and its overrides; folder has the traces."""
    name, words = CLIENTS[client]
    words = [*LINKS[link], *words, f"flows.video.env.SECONDS_TO_WATCH={seconds}"]
    return HERE / name, [word.replace("FOLDER", str(folder)) for word in words]


def run(link: str, client: str, folder: Path, seconds: int, seed: int) -> dict[str, float]:
    """The numbers of a run, which is done if it is not in the folder."""
    out = folder / f"{link}-{client}".replace(" ", "_")
    if not (out / "result.json").exists():
        run_scenario(load_scenario(*scenario_of(link, client, folder, seconds)), seed, out)
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    if wrong := problems(result):
        raise SystemExit(f"{link}, {client}: {'; '.join(wrong)}")
    forward = next(one for one in result["links"] if one["name"] == "forward")
    waits = queueing_ms(out)
    return result["flows"][1]["metrics"] | {
        "dropped": forward["dropped_packets"]["buffer"],
        "queue_ms": float(numpy.mean(waits)),
        "queue_p95_ms": float(numpy.percentile(waits, 95)),
    }


def main() -> None:
    """Run what is not there, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("client", nargs="*", metavar="CLIENT", help="(all)")
    parser.add_argument("--out", type=Path, default=Path("out/scone"))
    parser.add_argument("--only", choices=LINKS, help="one link")
    parser.add_argument("--seconds", type=int, default=200, help="to watch (200)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for client in args.client:
        if client not in CLIENTS:
            parser.error(f"no client {client!r}; expected some of {'; '.join(CLIENTS)}")
    args.out = args.out.absolute()
    args.out.mkdir(parents=True, exist_ok=True)
    for model in ("lte", "leo"):
        words = ["trace", "make", model, "--mean", MEAN, "--seconds", args.seconds]
        words += ["--seed", args.seed, "--out", args.out / f"{model}.trace"]
        command = [sys.executable, "-m", "wale_lab", *map(str, words)]
        subprocess.run(command, check=True)
    for link in [args.only] if args.only else LINKS:
        for client in args.client or CLIENTS:
            row = run(link, client, args.out, args.seconds, args.seed)
            print(link, f"{client:38}", *(f"{k}={v:.4g}" for k, v in row.items()), flush=True)


if __name__ == "__main__":
    main()
