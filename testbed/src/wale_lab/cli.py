# SPDX-License-Identifier: GPL-2.0
"""The command line of wale-lab: its subcommands, their options, and help with examples."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from wale_lab.engines import engine_names
from wale_lab.engines.base import EXIT_ENGINE
from wale_lab.errors import LabError, ScenarioError, missing_package, short, why
from wale_lab.traces.arguments import FORMATS, add_arguments
from wale_lab.tree import version

_EXAMPLES = """\
examples:
  wale-lab run demo                              the demo: reno, cubic, bbr on one lossy link
  wale-lab run demo --set bottleneck.forward.loss=2% --seed 7 --out /tmp/two-percent --plot
  wale-lab with --rate 2mbit --delay 40ms --serve 'wale serve .' -- wale get server:README.md
  wale-lab list                                  the scenarios that come with the testbed
  wale-lab schema                                the keys and values of a scenario
  wale-lab shell shared                          a prompt inside a topology
  wale-lab exec --modules sch_wale -- ip addr    any command, as root, in a guest
"""


def _seed(text: str) -> int:
    try:
        value = int(text.strip('"'), 0)  # large ones are text in JSON
    except ValueError:
        value = -1
    if not 0 <= value < 2**64:
        raise argparse.ArgumentTypeError("expected a number from 0 to 2^64 - 1")
    return value


def _folder(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected a folder, got ''")
    return text


def _wall_limit(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value


def _date(text: str) -> Any:
    from wale_lab.units import parse_date

    return _said(parse_date, text)


def _jobs(text: str) -> int:
    if not text.isdecimal() or len(text) > 4 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 9999, got {text!r}")
    return int(text)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected words as a shell has them: {error}") from None


def _hosts(text: str) -> Any:
    from wale_lab.engines.machines import parse_hosts

    return _said(parse_hosts, text)


def _starter(text: str) -> Any:
    from wale_lab.engines.machines import parse_starter

    return _said(parse_starter, text)


def _said(parse: Callable[[str], Any], text: str) -> Any:
    """What a parser makes of a word, or argparse's error with its reason."""
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _memory(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 64 <= value <= 65536:
        raise argparse.ArgumentTypeError(f"expected 64 to 65536 MB, got {text!r}")
    return value


class _Parser(argparse.ArgumentParser):
    """A mistake on the command line is one sentence, without the usage of everything."""

    def __init__(self, **kwargs: Any) -> None:
        # `run --start` would be --starter, which is something else.
        super().__init__(allow_abbrev=False, **kwargs)
        # "-5ms" is a value, not an option: that of the option before, which says what is wrong.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:  # here, and not in the parser of all commands: its --help would not help
            what = "no such option" if unknown[0].startswith("-") else "nothing takes this word"
            self.error(f"{what}: {unknown[0]!r}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (`{self.prog} --help` says more)\n")


def _parser(with_models: bool = True, with_links: bool = True) -> argparse.ArgumentParser:
    """The whole command line; options of models and links take time to load, and few need them."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="wale-lab",
        description="Runs experiments on emulated wide-area links, in virtual or real time.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    parser.add_argument("--version", action="version", version=f"wale-lab {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(name: str, text: str, example: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name, help=text, description=text, formatter_class=raw, epilog=f"examples:\n{example}"
        )
        sub.add_argument("--quiet", "-q", action="store_true", help="no progress on stderr")
        return sub

    def engine_options(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "--engine", default="uml", metavar="E", help=" or ".join(engine_names()) + " (uml)"
        )
        sub.add_argument(
            "--kernel",
            metavar="V",
            help="kernel version, such as 6.12 or 6.12+san, or path of its source (default: "
            "WALE_KERNEL, or the newest)",
        )

    def start_option(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "--start",
            type=_date,
            metavar="DATE",
            help="start of the guest's clock, such as 2026-12-24 or 2026-12-24T18:30:00 "
            "(UTC; default: the release date in virtual time, now in real time)",
        )

    def module_option(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "--module",
            action="append",
            default=[],
            dest="module_files",
            type=Path,
            metavar="FILE",
            help="also load this .ko, built for that kernel, or .bpf.c; may be given several times",
        )

    def study_options(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--quick", action="store_true", help="fewer and shorter runs")
        sub.add_argument(
            "--results",
            type=_folder,
            default="results",
            metavar="DIR",
            help="folder of the results",
        )
        sub.add_argument(
            "--kernel",
            metavar="V",
            help="version of the guest's kernel, or path of its source (WALE_KERNEL, newest)",
        )

    def scenario_and_changes(
        sub: argparse.ArgumentParser,
        name: str = "SCENARIO",
        what: str = "",
        values: str = "VALUE",
        change: str = "change one value, such as bottleneck.forward.loss=2%% or "
        "flows.reno.size=1MB",
    ) -> None:
        sub.add_argument(
            name.lower(), metavar=name, help=f"{what}a YAML file, or a name from `list`"
        )
        sub.add_argument(
            "--set", action="append", default=[], metavar=f"KEY={values}",
            help=f"{change}; may be given several times",
        )  # fmt: skip

    def jobs_option(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "-j",
            "--jobs",
            type=_jobs,
            default=os.cpu_count() or 1,
            help="parallel runs (all cores)",
        )

    def seeds_option(sub: argparse.ArgumentParser, default: str) -> None:
        sub.add_argument(
            "--seeds",
            default=default,
            metavar="N",
            help=f"number of seeds, a range 3-5, or a list 1,7,9 ({default})",
        )

    def cluster_options(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--cluster", choices=["slurm", "kubernetes"],
                         help="the runs are jobs of a cluster; -j is how many at once")  # fmt: skip
        sub.add_argument("--snakemake", type=_words, default=[], metavar="WORDS",
                         help="more options for Snakemake, such as a profile")  # fmt: skip

    def scenario_options(sub: argparse.ArgumentParser) -> None:
        scenario_and_changes(sub)
        engine_options(sub)
        sub.add_argument("--seed", type=_seed, default=1, help="seed of all random draws (1)")
        sub.add_argument("--out", type=_folder, metavar="DIR", help="folder of the results")
        module_option(sub)

    sub = add(
        "run",
        "Run a scenario; write result.json and its time series.",
        "  wale-lab run demo --plot\n"
        "  wale-lab run demo --open               interactive charts in the browser: result.html\n"
        "  wale-lab run my.yaml --out /tmp/mine --seed 3 --set flows.0.cc=bbr\n"
        "  wale-lab run demo --json | jq .digest\n"
        "  wale-lab run demo --packets            every packet: packets.parquet, packets.pcapng\n"
        "Exit code 1 if a flow did not complete or there is a warning (all files are written),\n"
        "2 if the scenario is wrong, 125 if the engine cannot run it.",
    )
    scenario_options(sub)
    sub.add_argument("--json", action="store_true", help="print result.json, not the tables")
    sub.add_argument("--plot", action="store_true", help="also draw result.png")
    sub.add_argument(
        "--html", action="store_true", help="also write result.html: interactive charts"
    )
    sub.add_argument("--open", action="store_true", help="and open them in the browser")
    sub.add_argument("--packets", nargs="?", const="parquet", choices=["parquet", "csv"],
                     help="log every packet, in a table (parquet) and in a capture")  # fmt: skip
    sub.add_argument("--hosts", type=_hosts, metavar="H1,H2,...",
                     help="run the guests on these machines: NAME or NAME=ADDRESS; "
                     "local is this one")  # fmt: skip
    sub.add_argument(
        "--starter", type=_starter, metavar="CMD",
        help="what starts a program on one of them, such as 'ip netns exec {host}' (ssh {host})",
    )  # fmt: skip
    sub.set_defaults(module="wale_lab.runner", function="run_command")

    sub = add(
        "machine",
        "Run guests for a wale-lab elsewhere: `run --hosts` starts it.",
        "  ssh HOST wale-lab machine              what run --hosts does, for each machine\n"
        "It is told what to do through its standard input.",
    )
    sub.set_defaults(module="wale_lab.engines.machine", function="machine_command")

    sub = add(
        "study",
        "Reproduce tables and figures of papers: run what is missing, and write the tables.",
        "  wale-lab study karnik-kumar/table1 -j 2\n"
        "  wale-lab study karnik-kumar --quick\n"
        "  wale-lab study karnik-kumar -j 50 --cluster slurm\n"
        "Exit code 1 if a run fails, if a check fails that is not known to fail, or if one\n"
        "holds that is known to fail.\n"
        "With WALE_STUDIES=DIR in the environment, your own studies: DIR/PAPER/NAME.yaml.",
    )
    sub.add_argument("studies", nargs="*", metavar="STUDY", help="PAPER/NAME, a PAPER, or all")
    sub.add_argument("--list", action="store_true", help="list the studies")
    sub.add_argument(
        "--json", action="store_true", help="print each study.json instead of the checks"
    )
    study_options(sub)
    jobs_option(sub)
    cluster_options(sub)
    sub.set_defaults(module="wale_lab.studies.command", function="study_command")

    sub = add(
        "sweep",
        "Run a scenario with all combinations of values and seeds; write tables and a plot.",
        "  wale-lab sweep demo --set bottleneck.forward.loss=0%,1%,2% --seeds 10\n"
        "  wale-lab sweep my.yaml --set cc=reno,cubic --set bottleneck.forward.delay=10ms,50ms\n"
        "  wale-lab sweep my.yaml --set cc=reno,bbr --y queueing_delay_p95_ms\n"
        "cc stands for the congestion control of all flows, * for each item of a list.\n"
        "Existing runs are not repeated: an interrupted sweep continues where it stopped.\n"
        "Exit code 1 if a run failed or has a problem; the tables have the others.",
    )
    scenario_and_changes(
        sub, values="V1,V2,...", change="the values of one key, or a single one for all runs"
    )
    seeds_option(sub, "1")
    sub.add_argument(
        "--kernel",
        metavar="V",
        help="version of the guest's kernel, or path of its source (WALE_KERNEL, newest)",
    )
    sub.add_argument(
        "--out", type=_folder, metavar="DIR", help="folder of the results (out/sweep-NAME)"
    )
    sub.add_argument(
        "--x", metavar="KEY", help="x axis of the plot (the first key whose values are numbers)"
    )
    sub.add_argument(
        "--y", default="goodput_Bps", metavar="MEASURE",
        help="y axis of the plot: a measure in sweep.csv (goodput_Bps)",
    )  # fmt: skip
    sub.add_argument(
        "--kind", default="flow", choices=["flow", "link"], help="whose measure it is (flow)"
    )
    sub.add_argument(
        "--packets", action="store_true", help="measure delays per packet, which takes longer"
    )
    sub.add_argument("--json", action="store_true", help="print the means instead of file names")
    jobs_option(sub)
    cluster_options(sub)
    sub.set_defaults(module="wale_lab.sweeps.command", function="sweep_command")

    sub = add(
        "point",
        "Make one run of a study or a sweep; Snakemake calls this.",
        "  wale-lab point karnik-kumar/table1 KEY --out results/runs/KEY.json",
    )
    sub.add_argument("study", metavar="STUDY", help="PAPER/NAME, or the sweep.json of a sweep")
    sub.add_argument("key", metavar="KEY", help="key of the run")
    sub.add_argument("--out", required=True, type=_folder, metavar="FILE", help="where it goes")
    sub.add_argument(
        "--keep",
        type=_folder,
        metavar="DIR",
        help="keep all files of the run here, as `run --out` does",
    )
    sub.add_argument(
        "--failure", type=_folder, metavar="FILE", help="where to write why it failed (beside FILE)"
    )
    study_options(sub)
    sub.set_defaults(module="wale_lab.point", function="point_command")

    sub = add(
        "summary",
        "Write the table of one study from its runs; Snakemake calls this at the end.",
        "  wale-lab summary karnik-kumar/table1 --results results",
    )
    sub.add_argument("study", metavar="STUDY", help="PAPER/NAME")
    study_options(sub)
    sub.set_defaults(module="wale_lab.studies.command", function="summary_command")

    sub = add(
        "model",
        "What a published analysis predicts for your link.",
        "  wale-lab model karnik-kumar --arrivals 0 0.1 1 --reading both\n"
        "  wale-lab model karnik-kumar --help",
    )
    if with_models:
        from wale_lab.papers.command import add_models

        add_models(sub)

    sub = add(
        "conform",
        "Check a link emulator against what its manual promises.",
        "  wale-lab conform --qdisc wale\n"
        "  wale-lab conform --qdisc netem --check delay --check limit_line\n"
        "  wale-lab conform --qdisc 'netem delay 20ms rate 10mbit limit 100'\n"
        "  wale-lab conform --qdisc 'netem limit {limit} [rate {rate}] [loss {loss}]'\n"
        "  wale-lab conform --qdisc 'tbf rate {rate} burst {burst} limit {limit_bytes};\n"
        "                            netem limit {limit} [delay {delay}]'\n"
        "The checks choose the values in braces, and those of a line without braces; words in\n"
        "brackets are left out unless a check needs the value; `;` begins the child of the\n"
        "qdisc before it. See --list.\n"
        "Exit code 1 if a promise is not kept, 2 if tc accepts none of it.",
    )
    engine_options(sub)
    sub.add_argument("--qdisc", default="wale", metavar="Q",
                     help="a name, or tc's words, with or without placeholders (wale)")  # fmt: skip
    sub.add_argument("--check", action="append", metavar="C",
                     help="run only this check; may be given several times")  # fmt: skip
    sub.add_argument("--time", choices=["virtual", "real"], default="virtual",
                     help="virtual: exact; real: as late as the host is (virtual)")  # fmt: skip
    sub.add_argument("--seed", type=_seed, default=1, help="seed of the guest's randomness (1)")
    sub.add_argument("--json", action="store_true", help="print JSON instead of a table")
    sub.add_argument("--list", action="store_true", help="list emulators, placeholders and checks")
    sub.set_defaults(module="wale_lab.conform.command", function="main")

    sub = add(
        "evaluate",
        "Judge a congestion control by the rows of RFC 9743 and others, beside those deployed.",
        "  wale-lab evaluate bbr --quick\n"
        "  wale-lab evaluate my --module tcp_my.ko\n"
        "  wale-lab evaluate cubic --rows harm,short-flows\n"
        "  wale-lab evaluate cubic --kernel 6.1 --against cubic --kernel 7.2\n"
        "  wale-lab evaluate --program 'get {server}' --serve 'serve .' --rows bufferbloat\n"
        "Runs that are there are not made again: an evaluation that was stopped goes on where it\n"
        "was, and the next control finds those of reno, cubic and bbr.\n"
        "Exit code 1 if a row is worse than what it is compared with, no row could be judged,\n"
        "or a run failed.\n"
        "WALE_ROWS=DIR in the environment: rows of your own, DIR/SET/NAME.yaml.",
    )
    sub.add_argument("cc", nargs="?", metavar="CC", help="the congestion control")
    sub.add_argument("--against", action="append", metavar="CC",
                     help="what it is compared with (reno, cubic and bbr); may be given several "
                     "times")  # fmt: skip
    sub.add_argument("--rows", default=[], metavar="R,...", type=lambda text: text.split(","),
                     help="only these rows, or sets of rows (all)")  # fmt: skip
    sub.add_argument("--quick", action="store_true", help="few cells and seeds")
    sub.add_argument("--program", metavar="CMD",
                     help="instead of CC: a command that receives, with {server}, {seconds} and "
                     "{size}")  # fmt: skip
    sub.add_argument("--serve", metavar="CMD", help="and that of its server")
    sub.add_argument("--kernel", action="append", metavar="V",
                     help="version of the guest's kernel (WALE_KERNEL, or the newest); a second "
                     "one is that of --against")  # fmt: skip
    module_option(sub)
    sub.add_argument("--out", type=_folder, metavar="DIR", help="where it goes (out/evaluation)")
    sub.add_argument("--list", action="store_true", help="the rows that there are")
    sub.add_argument("--json", action="store_true", help="print evaluation.json, not a table")
    jobs_option(sub)
    sub.set_defaults(module="wale_lab.evaluation.command", function="evaluate_command")

    sub = add(
        "compare",
        "Run a scenario on two kernels; name each number that differs by more than its interval.",
        "  wale-lab compare demo --kernel 6.1 --kernel 6.12\n"
        "  wale-lab compare shared --kernel 6.12 --kernel 7.2 --spread 100ms --seeds 10\n"
        "  wale-lab compare shared --bisect v6.11 v6.12 --tree ~/linux\n"
        "Runs that are there are not made again. Exit code 1 if something differs.",
    )
    scenario_and_changes(sub)
    sub.add_argument("--kernel", action="append", default=[], metavar="V",
                     help="version of the guest's kernel; given twice")  # fmt: skip
    sub.add_argument("--bisect", nargs=2, metavar=("GOOD", "BAD"),
                     help="instead of --kernel: two commits; finds the one between them that "
                     "changed a number")  # fmt: skip
    sub.add_argument("--tree", type=_folder, metavar="DIR",
                     help="the git repository of the kernel whose commits they are")  # fmt: skip
    sub.add_argument("--number", metavar="N",
                     help="the number to go by, such as 'flow reno goodput_Bps' (the one that "
                     "differs most)")  # fmt: skip
    seeds_option(sub, "3")
    sub.add_argument("--spread", default="0ms", metavar="T",
                     help="flows start so much later at most, by the seed: else a scenario without "
                     "chance has the same run with each (0ms)")  # fmt: skip
    sub.add_argument("--out", type=_folder, metavar="DIR", help="where it goes (out/compare-NAME)")
    sub.add_argument("--json", action="store_true", help="print JSON, not a table")
    jobs_option(sub)
    sub.set_defaults(module="wale_lab.evaluation.compare", function="compare_command")

    sub = add(
        "trace",
        "Turn files of other tools into traces for a link; make traces, and draw them.",
        "  wale-lab trace phone.up > phone.trace                  a Mahimahi trace\n"
        "  wale-lab trace drive.csv --from-start --direction up\n"
        "  wale-lab trace bandwidth.txt delay.txt --step 10ms     LeoReplayer's\n"
        "  wale-lab trace log.csv --column rate=DL:kbit --column time=t:ms\n"
        "Formats, each known by its content or by --from: "
        + ", ".join(FORMATS) + ".",
    )  # fmt: skip
    add_arguments(sub)
    sub.set_defaults(module="wale_lab.traces.command", function="trace_command")

    sub = add("list", "List the scenarios and profiles of the testbed.", "  wale-lab list")
    sub.set_defaults(module="wale_lab.catalogue", function="list_command")

    sub = add(
        "schema",
        "Print the keys and values that a scenario may have.",
        "  wale-lab schema > scenario.schema.json\n  wale-lab schema --markdown",
    )
    sub.add_argument(
        "--markdown", action="store_true", help="readable tables instead of a JSON schema"
    )
    sub.set_defaults(module="wale_lab.describe", function="schema_command")

    sub = add(
        "shell",
        "Open a prompt inside a scenario's topology, in real time.",
        "  wale-lab shell shared\n"
        "  wale-lab shell demo -c 'ns reno.pair1-receiver ping -c 3 10.1.1.2; links'\n"
        "  echo links | wale-lab shell demo       commands from standard input",
    )
    scenario_options(sub)
    start_option(sub)
    sub.add_argument(
        "-c", dest="command_line", metavar="COMMANDS", help="run these instead of a prompt"
    )
    sub.set_defaults(module="wale_lab.runner", function="shell_command")

    sub = add(
        "topology",
        "Print the network of a scenario or a predefined shape as a graph for a scenario.",
        "  wale-lab topology parking-lot --set links=4\n"
        "  wale-lab topology ring --set routers=6 --set link.rate=10mbit\n"
        "  wale-lab topology shared                the dumbbell of a scenario\n"
        "shapes: chain, parking-lot, ring, star, two-paths",
    )
    scenario_and_changes(
        sub,
        name="NAME",
        what="a shape, ",
        change="change one value, of the shape or of the scenario",
    )
    sub.set_defaults(module="wale_lab.topology_command", function="topology_command")

    sub = add(
        "plot",
        "Plot a run, or several runs on top of each other.",
        "  wale-lab plot out/demo\n"
        "  wale-lab plot out/bufferbloat out/fq_codel --out both.svg\n"
        "  wale-lab plot out/bufferbloat out/fq_codel --open      interactive, in the browser\n"
        "  wale-lab plot out/demo --cdf --metric queueing_delay,rtt\n"
        "  wale-lab plot out/demo --tradeoff      throughput against one-way delay, for each flow",
    )
    sub.add_argument("folders", nargs="+", metavar="DIR", help="the output folder of a run")
    sub.add_argument(
        "--topology", action="store_true",
        help="draw the network of a run or of a scenario (topology.png, in DIR or here)",
    )  # fmt: skip
    sub.add_argument(
        "--out", type=_folder, metavar="FILE",
        help="a .png, .svg, .pdf or .html file (result.png in DIR; for several runs "
        "comparison.png in the first)",
    )  # fmt: skip
    sub.add_argument(
        "--metric", metavar="M,...",
        help="plot only these: throughput, rtt, one_way_delay, queueing_delay, cwnd, queue",
    )  # fmt: skip
    shape = sub.add_mutually_exclusive_group()
    shape.add_argument("--cdf", action="store_true", help="distributions and percentiles (cdf.png)")
    shape.add_argument(
        "--tradeoff", action="store_true",
        help="throughput against the 95th percentile of one-way delay (tradeoff.png)",
    )  # fmt: skip
    sub.add_argument("--open", action="store_true", help="make a page, and open it in the browser")
    sub.set_defaults(module="wale_lab.results.plot_command", function="plot_command")

    sub = add(
        "export",
        "Export a run to a format that other tools read.",
        "  wale-lab export out/demo --to flent     flent -p totals out/demo/demo.flent.gz\n"
        "  wale-lab export out/demo --to qlog      a trace for each flow, for qvis and others\n"
        "  wale-lab export out/demo --to csv       all samples as one tidy table",
    )
    sub.add_argument("folder", metavar="DIR", help="the output folder of a run")
    sub.add_argument("--to", required=True, choices=["flent", "qlog", "csv"], help="the format")
    sub.add_argument(
        "--out", type=_folder, metavar="FILE", help="where it goes (NAME.flent.gz ... in DIR)"
    )
    sub.set_defaults(module="wale_lab.results.export", function="export_command")

    sub = add(
        "sql",
        "Query the results of runs with SQL (DuckDB).",
        "  wale-lab sql 'select run, name, goodput_Bps from flows' out/demo\n"
        "  wale-lab sql 'select name, dropped_packets.loss from links' out/demo --format csv\n"
        "  wale-lab sql 'select flow, count(*) from packets group by all' out/demo\n"
        "tables: runs, flows, links (result.json), flow_samples, link_samples (the time series),\n"
        "packets (of runs with --packets), sweep (of the folder of a sweep). `describe flows` has\n"
        "their columns; `run` is the folder.",
    )
    sub.add_argument("query", metavar="QUERY", help="one or more statements; the last is shown")
    sub.add_argument(
        "folders", nargs="*", metavar="DIR", help="folders of runs and sweeps (all below out)"
    )
    sub.add_argument(
        "--format", choices=["table", "csv", "json"], default="table", help="of the answer (table)"
    )
    sub.set_defaults(module="wale_lab.query", function="sql_command")

    sub = add(
        "report",
        "Make a page with published, measured and computed numbers side by side.",
        "  wale-lab report\n  wale-lab report --results /tmp/r --out /tmp/r/report",
    )
    sub.add_argument("--results", type=_folder, default="results", metavar="DIR",
                     help="folder of the results of `wale-lab study` (results)")  # fmt: skip
    sub.add_argument(
        "--out", type=_folder, metavar="DIR", help="folder of the page (report, below the results)"
    )
    sub.set_defaults(module="wale_lab.report.page", function="main")

    sub = add(
        "exec",
        "Run a command as root in a guest; the exit code is the command's.",
        "  wale-lab exec --virtual --seed 3 -- sh -c 'date; ip addr'\n"
        "  wale-lab exec --modules sch_wale --out /tmp/o -- sh -c 'tc qdisc > /run/wale/out/q'\n"
        "Exit codes other than the command's own: 124 killed at the wall limit or hung,\n"
        "125 the engine could not run it, 133 the kernel warned, 134 the kernel died.\n"
        "The output folder is /run/wale/out in the guest.",
    )
    engine_options(sub)
    mode = sub.add_mutually_exclusive_group()
    mode.add_argument(
        "--virtual", action="store_true", help="in virtual time (where the engine has it)"
    )
    mode.add_argument("--real", action="store_true", help="in real time")
    sub.add_argument(
        "--seed", type=_seed, default=1, help="seed of all randomness in virtual time (1)"
    )
    start_option(sub)
    sub.add_argument(
        "--out",
        type=_folder,
        metavar="DIR",
        help="the only folder that the command may write to",
    )
    sub.add_argument(
        "--wall-limit",
        "--limit",
        type=_wall_limit,
        default=600,
        metavar="S",
        help="wall time limit, seconds (600)",
    )
    sub.add_argument(
        "--memory", type=_memory, default=512, metavar="MB", help="memory of the guest (512)"
    )
    sub.add_argument(
        "--modules",
        default=["sch_wale"],
        type=lambda text: [m for m in text.split(",") if m not in ("", "none")],
        metavar="M,...",
        help="modules of this tree to load, with their dependencies; or none (sch_wale)",
    )
    sub.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a variable; may be given several times",
    )
    module_option(sub)
    sub.add_argument("--interactive", "-i", action="store_true", help="attach this terminal")
    sub.add_argument("--verbose", "-v", action="store_true", help="report how it ended")
    sub.add_argument("argv", nargs="+", metavar="CMD", help="the command, after --")
    sub.set_defaults(module="wale_lab.execute", function="exec_command")

    sub = add(
        "with",
        "Run a command behind a link; its exit code and output are the command's.",
        "  wale-lab with --rate 10mbit --delay 40ms --loss 1% \\\n"
        "      --serve 'python3 -m http.server' -- curl -o /dev/null http://server:8000/big.bin\n"
        "  wale-lab with --down lte.trace --up 2mbit --delay 20ms -- ping -c 5 server\n"
        "The command runs on the host `client`, in the current folder, to which it may write, and\n"
        "the server on the host `server`; time is virtual. With --real --net, `server` leads on\n"
        "to the outside network, where `host.outside` is this machine.\n"
        "A summary goes to stderr (-q: none).\n"
        "Ctrl-C goes to the command; a second one ends everything. If standard input is a file\n"
        "or a pipe, it is read to its end first.\n"
        "Exit codes other than the command's own: 2 the command line is wrong, 124 it was still\n"
        "running at a limit, 125 the engine could not run it or a server failed, 127 there is no\n"
        "such command.",
    )
    engine_options(sub)
    sub.add_argument("--serve", action="append", default=[], metavar="CMD",
                     help="a shell command for the other end; CMD starts when it listens on a "
                     "port; may be given several times")  # fmt: skip
    sub.add_argument("--ready", metavar="R",
                     help="when the server is ready instead: a time, or '{tcp: PORT}', "
                     "'{udp: PORT}', '{output: REGEX}'")  # fmt: skip
    sub.add_argument("--cc", metavar="CC", help="congestion control of the sockets (cubic)")
    sub.add_argument("--seed", type=_seed, default=1, help="seed of all random draws (1)")
    sub.add_argument("--real", action="store_true", help="in real time")
    sub.add_argument("--net", action="store_true",
                     help="the link leads to the outside network (with --real)")  # fmt: skip
    sub.add_argument("--cwd", metavar="DIR", help="the folder to run in (the current one)")
    sub.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a variable; may be given several times",
    )
    sub.add_argument(
        "--out", type=_folder, metavar="DIR", help="keep the results there, as `run` does"
    )
    sub.add_argument("--packets", nargs="?", const="parquet", choices=["parquet", "csv"],
                     help="log every packet, into --out")  # fmt: skip
    sub.add_argument(
        "--json", action="store_true", help="print result.json on stderr instead of the tables"
    )
    sub.add_argument("--wall-limit", type=_wall_limit, default=600, metavar="S",
                     help="kill it after this wall time, seconds (600)")  # fmt: skip
    sub.add_argument("--print-scenario", action="store_true",
                     help="print this as a scenario, and run nothing")  # fmt: skip
    for way, text in (("down", "from the server to the command"), ("up", "back")):
        sub.add_argument(
            f"--{way}",
            metavar="WORDS",
            help=f"the direction {text}: a rate, a trace file, or options of a link such as "
            "'rate 2mbit delay 10ms', which override those for both",
        )
    if with_links:
        from wale_lab.with_link import add_link_options

        add_link_options(sub)
    sub.add_argument("argv", nargs="+", metavar="CMD", help="the command, after --")
    sub.set_defaults(module="wale_lab.with_link", function="with_command", parse=parser.parse_args)

    sub = add(
        "kselftest",
        "Run the kernel's own selftests of its network in virtual time, unmodified, as TAP.",
        "  wale-lab kselftest --list\n"
        "  wale-lab kselftest net:bind_bhash.sh 'net/mptcp:*'\n"
        "  wale-lab kselftest tc-testing:qdiscs/netem tc-testing:qdiscs/tbf --times 20\n"
        "Exit code 1 if a test fails. The tests are those of the source of the guest's kernel.",
    )
    sub.add_argument("tests", nargs="*", metavar="TEST",
                     help="COLLECTION:NAME, or a pattern (all that can run)")  # fmt: skip
    sub.add_argument("--kernel", metavar="V",
                     help="version of the guest's kernel (WALE_KERNEL, or the newest)")  # fmt: skip
    sub.add_argument("--times", type=_jobs, default=1, metavar="N",
                     help="run each so often; it fails if its output differs (1)")  # fmt: skip
    sub.add_argument("--wall-limit", type=_wall_limit, default=600, metavar="S",
                     help="kill a test after this wall time, seconds (600)")  # fmt: skip
    sub.add_argument("--list", action="store_true",
                     help="the tests that there are, and why some cannot run")  # fmt: skip
    sub.add_argument("--json", action="store_true", help="print JSON, not TAP")
    jobs_option(sub)
    sub.set_defaults(module="wale_lab.kselftest.command", function="kselftest_command")

    sub = add(
        "kernel",
        "Build the guest kernel, or find it in the cache; print the path of its image.",
        "  wale-lab kernel\n  make modules KDIR=$(wale-lab kernel --print tree) ARCH=um",
    )
    engine_options(sub)
    sub.add_argument(
        "--print",
        choices=["image", "tree", "release", "modules", "source"],
        default="image",
        help="what to print: the program, the tree to build modules against, uname -r, "
        "the folder of its modules below build/modules, the source package (image)",
    )
    sub.set_defaults(module="wale_lab.execute", function="kernel_command")
    return parser


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, run, and turn expected failures into one message and an exit code."""
    words = sys.argv[1:] if argv is None else argv
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _terminate)
    try:
        args = _parser("model" in words, "with" in words).parse_args(words)
        module = __import__(args.module, fromlist=[args.function])
        return int(getattr(module, args.function)(args))
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return 2
    except LabError as error:
        print(f"wale-lab: {error}", file=sys.stderr)
        return EXIT_ENGINE
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name in ("", "wale_lab"):
            raise
        print(f"wale-lab: {missing_package(name)}", file=sys.stderr)
        return EXIT_ENGINE
    except BrokenPipeError:
        return 141
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(short(f"wale-lab: {where}{why(error)}"), file=sys.stderr)
        return EXIT_ENGINE
