# SPDX-License-Identifier: GPL-2.0
"""`wale-lab plot`: pictures and pages of runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from wale_lab.errors import ScenarioError
from wale_lab.results import compare
from wale_lab.results.plot import FORMATS, PANELS, draw, figure_of
from wale_lab.results.series import read_runs
from wale_lab.style import save_picture


def _metrics(text: str | None, known: Iterable[str]) -> list[str] | None:
    """Names from `a,b`; ScenarioError if one is unknown."""
    if text is None:
        return None
    names = list(dict.fromkeys(name.strip().replace("-", "_") for name in text.split(",")))
    for name in names:
        if name not in known:
            raise ScenarioError(f"--metric: expected some of {', '.join(known)}, got {name!r}")
    return names


def _draw_topology(names: list[str], path: Path | None) -> Path:
    """Draw the network of one run or scenario."""
    from wale_lab.results.drawing import draw_topology
    from wale_lab.scenario import find_scenario, load_scenario

    if len(names) > 1:
        raise ScenarioError(f"--topology: expected one run or scenario, got {len(names)}")
    folder = Path(names[0])
    if folder.is_dir():
        (run,) = read_runs([folder])
        settings, title = run.result["settings"], run.result["scenario"]
    else:
        scenario = load_scenario(find_scenario(names[0]))
        settings, title, folder = scenario.resolved(), scenario.name, Path()
    return draw_topology(settings, title, path or folder / "topology.png")


def _write(args: argparse.Namespace, folders: list[Path], path: Path | None) -> Path:
    """What `wale-lab plot` is asked to draw."""
    if args.topology:
        return _draw_topology(args.folders, path)
    if args.open or (path and path.suffix == ".html"):
        from wale_lab.results.page import write_page  # Altair takes time to load

        return write_page(folders, path)
    if not (args.cdf or args.tradeoff or args.metric is not None):
        return draw(folders, path)
    runs = read_runs(folders)
    if args.tradeoff:
        figure, name = compare.tradeoff(runs), "tradeoff.png"
    elif args.cdf:
        names = _metrics(args.metric, compare.METRICS) or list(compare.METRICS)
        figure, name = compare.distribution(runs, names), "cdf.png"
    else:
        figure, name = figure_of(runs, _metrics(args.metric, PANELS)), "metrics.png"
    path = path or folders[0] / name
    save_picture(figure, path)
    return path


def _check_options(args: argparse.Namespace, path: Path | None) -> None:
    """ScenarioError if some of them have no effect together."""
    picture = args.cdf or args.tradeoff or args.metric is not None
    page = args.open or (path is not None and path.suffix == ".html")
    if page and picture:
        raise ScenarioError("expected a page, or --cdf, --tradeoff or --metric, which are pictures")
    if args.topology and (page or picture):
        raise ScenarioError("--topology: expected it without options of other pictures or a page")
    if args.tradeoff and args.metric is not None:
        raise ScenarioError("--metric: expected it without --tradeoff, which has two of its own")


def plot_command(args: argparse.Namespace) -> int:
    """`wale-lab plot`: draw the files of runs."""
    folders = [Path(folder) for folder in args.folders]
    path = Path(args.out) if args.out else None
    expected = (*FORMATS, ".html")
    if path and path.suffix not in expected:
        raise ScenarioError(
            f"--out {path}: expected a name that ends with one of {', '.join(expected)}"
        )
    _check_options(args, path)
    try:
        drawn = _write(args, folders, path)
    except (ValueError, KeyError) as error:
        where = ", ".join(args.folders)
        raise ScenarioError(f"{where}: expected the files of a run: {error}") from None
    print(drawn)
    if args.open:
        from wale_lab.results.page import open_page

        open_page(drawn)
    return 0
