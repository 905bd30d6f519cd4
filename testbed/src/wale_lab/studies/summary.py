# SPDX-License-Identifier: GPL-2.0
"""From the runs of a study to its table: means with intervals, published and model values, checks.

summary.csv has a line for each row, x and kind of published value:
    row,x,published,published_kind,measured,ci95,model,unit,note
where measured is the mean over seeds, and ci95 half the width of its 95 % confidence interval
(Student's t over the seeds; empty with one seed).  tidy.py writes each value.  study.json says
the rest; curves.csv (row,curve,x,y) is there for studies of curves.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import stdev
from typing import Any

from wale_lab.errors import ScenarioError
from wale_lab.files import write_whole
from wale_lab.papers import MODELS
from wale_lab.results.measures import MEASURES, value_of
from wale_lab.results.result import csv_text
from wale_lab.studies import tidy
from wale_lab.studies.compare import BAND_PERCENT
from wale_lab.studies.points import Point, xs
from wale_lab.studies.study import (
    Check,
    Published,
    Study,
    X,
    load_published,
    load_study,
    options_of,
    repeat,
    show_x,
)

COLUMNS = "row,x,published,published_kind,measured,ci95,model,unit,note".split(",")

#: Mean and half width of a row at an x.
Estimates = dict[tuple[str, X], tuple[float, float | None]]
Models = dict[tuple[str, X], float]


def estimates_of(study: Study, points: list[Point], runs: dict[str, dict[str, Any]]) -> Estimates:
    """The mean of each cell over its seeds."""
    values: dict[tuple[str, X], list[float]] = {}
    for point in points:
        for cell in (c for c in point.cells if c.row in study.rows()):
            flow = runs[point.key]["flows"][cell.flow]
            try:
                value = value_of(flow, study.y.measure)
            except KeyError:
                raise ScenarioError(
                    f"y.measure: expected one that row {cell.row} has: {', '.join(flow)}, "
                    f"got {study.y.measure!r}"
                ) from None
            values.setdefault((cell.row, cell.x), []).append(value)
    if study.x.means:
        values = _means(study, values)
    estimate = _spread if study.y.statistic == "spread" else _interval
    return {cell: estimate(found) for cell, found in values.items()}


def _peaks(study: Study, points: list[Point], runs: dict[str, dict[str, Any]]) -> Estimates:
    """The highest point of each row's curves, which its checks are about."""
    found: Estimates = {}
    for point in points:
        for cell in (c for c in point.cells if c.row in study.rows()):
            curves = runs[point.key]["curves"][cell.row].values()
            highest = max(y for curve in curves for _, y in curve)
            known, _ = found.get((cell.row, cell.x), (-math.inf, None))
            found[cell.row, cell.x] = max(known, highest), None
    return found


def _means(
    study: Study, values: dict[tuple[str, X], list[float]]
) -> dict[tuple[str, X], list[float]]:
    """The mean over several x, seed by seed; of those means that all runs are there for."""
    found: dict[tuple[str, X], list[float]] = {}
    for row, (mean, members) in product(study.rows(), study.x.means.items()):
        each = [values.get((row, x), []) for x in members]
        if all(each):
            found[row, mean] = [sum(seed) / len(seed) for seed in zip(*each, strict=True)]
    return found


def _spread(values: list[float]) -> tuple[float, None]:
    """Standard deviation, percent of the mean."""
    mean, _ = _interval(values)
    if len(values) < 2 or not mean:
        raise ScenarioError("y.statistic: expected several seeds, with a mean that is not 0")
    return 100 * stdev(values) / mean, None


def _interval(values: list[float]) -> tuple[float, float | None]:
    """Mean and half width of its 95 % confidence interval."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, None
    from scipy.stats import t

    quantile = float(t.ppf(0.975, len(values) - 1))
    return mean, quantile * stdev(values) / math.sqrt(len(values))


def model_values(study: Study, values: list[X]) -> Models:
    """The model's values for the rows that it describes."""
    if study.model is None:
        return {}
    compute: Callable[..., float] = MODELS[study.model.name]
    return {
        (row, x): compute(study.y.measure, x, **arguments)
        for row, arguments in study.model.rows.items()
        for x in values
    }


def lines_of(
    study: Study, values: list[X], estimates: Estimates, models: Models, published: list[Published]
) -> list[dict[str, str]]:
    """The lines of summary.csv: rows in the study's order, x within, kinds within."""
    lines = []
    for row in study.rows():
        for x in values:
            if (row, x) not in estimates:
                continue
            known: list[Published | None] = [p for p in published if (p.row, p.x) == (row, x)]
            for value in known or [None]:
                lines.append(_line(study, row, x, estimates, models, value))
    return lines


def _line(
    study: Study, row: str, x: X, estimates: Estimates, models: Models, known: Published | None
) -> dict[str, str]:
    mean, width = estimates[row, x]
    kind = known.kind if known else ""
    notes = [known.note] if known and known.note else []
    for note in study.notes:
        deviates = known is not None and 100 * abs(_ratio(mean, known.value) - 1) > BAND_PERCENT
        if (
            row in note.rows
            and note.kind in ("", kind)
            and (x in note.x or (not note.x and deviates))
        ):
            notes.append(note.text)
    return {
        "row": row,
        "x": show_x(x),
        "published": _number(known.value if known else None),
        "published_kind": kind,
        "measured": _number(mean),
        "ci95": _number(width, 3),
        "model": _number(models.get((row, x))),
        "unit": study.y.unit,
        "note": "; ".join(notes),
    }


def _number(value: float | None, digits: int = 5) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def outcomes_of(
    study: Study, estimates: Estimates, models: Models, published: list[Published], quick: bool
) -> list[dict[str, Any]]:
    """What became of each check that is asked: text, passed, value, and known if it says so."""
    outcomes = []
    for check in study.checks:
        asked = check.in_quick() if quick else check
        if asked is None:
            continue
        outcome = _outcome(asked, estimates, models, published, quick)
        if asked.known and (instead := asked.as_known()):
            # what is known may be gone, or be worse than known, which is a failure as any other
            held = _outcome(instead, estimates, models, published, quick)["passed"]
            if outcome["passed"] or held:
                outcome["known"] = asked.known["why"]
        outcomes.append(outcome)
    return outcomes


def _outcome(
    check: Check, estimates: Estimates, models: Models, published: list[Published], quick: bool
) -> dict[str, Any]:
    measured = {cell: v[0] for cell, v in estimates.items()}
    values = measured if check.value == "measured" else models
    cells = {
        cell: v
        for cell, v in values.items()
        if (not check.rows or cell[0] in check.rows)
        and (not check.x or cell[1] in check.x)
        and cell[1] not in check.but.get(cell[0], [])
    }
    if check.interval is not None:
        passed, said = _narrow(check.interval, {cell: estimates[cell] for cell in cells})
    elif check.to is None:
        passed, said = _within_bounds(check, cells, values)
    elif check.to == "measured":
        passed, said = _against(check, cells, measured)
    else:
        known = {(p.row, p.x): p.value for p in published if p.kind == check.to}
        passed, said = _against(check, cells, known)
    if absent := _absent(check, cells):
        passed = passed and quick
        said += f"; of {len(cells)} cells, {absent} more are named and not there"
    return {"text": check.text, "passed": passed, "value": said}


def _absent(check: Check, cells: Models) -> int:
    """How many cells a check names that are not among these: a quick run has fewer."""
    rows = check.rows or {row for row, _ in cells}
    if not check.x:
        return len(set(rows) - {row for row, _ in cells})
    named = {(row, x) for row in rows for x in check.x if x not in check.but.get(row, [])}
    return len(named - set(cells))


def _against(check: Check, cells: Models, other: Models) -> tuple[bool, str]:
    """Compare with other values of the same cells."""
    deviation = {c: 100 * (_ratio(v, other[c]) - 1) for c, v in cells.items() if c in other}
    if len(deviation) < max(len(cells), 1):
        return (
            False,
            f"{len(cells) - len(deviation)} of {len(cells)} cells have nothing beside",
        )
    passed, said = True, []
    if check.each is not None:
        over = [c for c, d in deviation.items() if abs(d) > check.each]
        worst = max(deviation, key=lambda c: abs(deviation[c]))
        passed = len(over) <= check.all_but
        said.append(f"{len(deviation) - len(over)} of {len(deviation)} cells")
        said.append(f"largest {deviation[worst]:+.1f} % ({worst[0]} at {show_x(worst[1])})")
    if check.mean is not None:
        means = {
            row: sum(abs(d) for (r, _), d in deviation.items() if r == row)
            / sum(r == row for r, _ in deviation)
            for row in dict.fromkeys(r for r, _ in deviation)  # in order: of equal ones, the first
        }
        row = max(means, key=lambda r: means[r])
        passed = passed and means[row] <= check.mean
        said.append(f"largest mean {means[row]:.1f} % ({row})")
    return passed, ", ".join(said)


def _within_bounds(check: Check, cells: Models, values: Models) -> tuple[bool, str]:
    """Compare cells, or their ratios to those of another row or x, with bounds."""
    if check.ratio is not None or check.over is not None:  # not both: Check sees to it
        asked = len(cells)
        cells = {
            cell: _ratio(v, values[base])
            for cell, v in cells.items()
            if (base := _base_of(check, *cell)) in values
        }
        if len(cells) < asked:
            return False, f"{asked - len(cells)} of {asked} cells have nothing beside them"
    if not cells:
        return False, "0 of 0 cells have nothing beside them"
    least, most = min(cells.values()), max(cells.values())
    passed = check.at_least is None or least >= check.at_least
    passed = passed and (check.at_most is None or most <= check.at_most)
    return passed, f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"


def _base_of(check: Check, row: str, x: X) -> tuple[str, X]:
    """The cell that another one is divided by."""
    return (row if check.ratio is None else check.ratio, x if check.over is None else check.over)


def _narrow(limit: float, cells: Estimates) -> tuple[bool, str]:
    """Is half of each interval within so many percent of the mean?"""
    known = {c: (mean, width) for c, (mean, width) in cells.items() if width is not None}
    widths = {c: 100 * _ratio(width, abs(mean)) for c, (mean, width) in known.items()}
    if len(widths) < max(len(cells), 1):
        return False, f"{len(cells) - len(widths)} of {len(cells)} cells have no interval"
    worst = max(widths, key=lambda c: widths[c])
    where = f"{worst[0]} at {show_x(worst[1])}"
    return widths[worst] <= limit, f"at most {widths[worst]:.2f} % ({where})"


def _ratio(value: float, base: float) -> float:
    """How many times the base; nothing is once nothing."""
    if not base:
        return math.copysign(math.inf, value) if value else 1.0
    return value / base


def summarise(
    name: str,
    points: list[Point],
    runs: Path,
    out: Path,
    quick: bool,
    kernel: str | None = None,
) -> dict[str, Any]:
    """Write summary.csv, values.csv, study.json and curves.csv of a study; study.json's content.

    `kernel` is the version that was asked for.
    """
    study = load_study(name)
    found = {p.key: json.loads((runs / f"{p.key}.json").read_text()) for p in points}
    values: list[X] = [*study.x.means] or xs(study, quick) or [""]
    published = load_published(name, study)
    curved = study.plot == "curves"
    estimates = (estimates_of if study.y.measure else _peaks)(study, points, found)
    models = model_values(study, values)
    lines = [] if curved else lines_of(study, values, estimates, models, published)
    write_whole(out / "summary.csv", csv_text(COLUMNS, lines))
    tidy.write(study, points, runs, found, out)
    if curved:
        table = csv_text(["row", "curve", "x", "y"], _curves(study, points, found))
        write_whole(out / "curves.csv", table)
    data = _about(name, study, found, quick)
    data["command"] = repeat("study", name, *options_of(quick, kernel))
    data["checks"] = outcomes_of(study, estimates, models, published, quick)
    write_whole(out / "study.json", json.dumps(data, indent=2) + "\n")
    return data


def _curves(
    study: Study, points: list[Point], found: dict[str, dict[str, Any]]
) -> list[dict[str, str]]:
    """The lines of curves.csv: what was sampled, then what the model says."""
    rows = study.rows()
    lines = [
        (cell.row, curve, line)
        for point in points
        for cell in point.cells
        if cell.row in rows
        for curve, line in found[point.key]["curves"][cell.row].items()
    ]
    for name, row in rows.items():
        if row.model is not None and study.model is not None:
            lines.append((name, name, MODELS[study.model.name](**row.model)))
    return [
        {"row": row, "curve": curve, "x": f"{x:g}", "y": f"{y:g}"}
        for row, curve, line in lines
        for x, y in line
    ]


def _measures(found: dict[str, dict[str, Any]]) -> list[str]:
    """The measures that runs have, in the order of MEASURES."""
    there = {m for run in found.values() for flow in run["flows"].values() for m in flow}
    return [m for m in MEASURES if m in there]


def _about(
    name: str, study: Study, found: dict[str, dict[str, Any]], quick: bool
) -> dict[str, Any]:
    rows = {n: {"label": row.label} for n, row in study.rows().items()}
    panels = [p.model_dump() for p in study.panels] or [{"title": "", "rows": list(rows)}]
    digests = sorted(run["digest"] for run in found.values())
    return {
        "name": name,
        "title": study.title,
        "source": study.source,
        "question": study.question,
        "finding": study.finding,
        "order": study.order,
        "x": study.x.model_dump(include={"label", "unit", "scale"}),
        "y": study.y.model_dump(include={"label", "unit"}),
        "plot": study.plot,
        "diagram": study.diagram,
        "panels": [{**panel, "ylim": study.y.limits} for panel in panels],
        "rows": rows,
        "measures": {m: MEASURES[m] for m in _measures(found)},
        "digest": hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        "seeds": sorted({run["seed"] for run in found.values()}),
        "quick": quick,
        "kernel": next((run["kernel"] for run in found.values()), ""),
        "virtual_s": round(sum(run["flow_s"] for run in found.values()), 1),
        "wall_s": round(sum(run["wall_s"] for run in found.values()), 1),
        "runs": len(found),
    }
