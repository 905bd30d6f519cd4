# SPDX-License-Identifier: GPL-2.0
"""The style of all plots, and how they are saved: the same results give the same bytes.

Figures are created without pyplot, which would set a backend for the whole program.
"""

from __future__ import annotations

import base64
import os
import warnings
from pathlib import Path
from typing import Any

from wale_lab.engines.kernel_build import cache_root
from wale_lab.files import errors_name, make_parent

os.environ.setdefault("MPLCONFIGDIR", str(cache_root() / "matplotlib"))

from matplotlib import rc_context
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

__all__ = ["COLOURS", "FAINT", "HATCHES", "INK", "LINES", "MARKERS", "PAPER", "STYLE"]
__all__ += ["rc_context", "save", "tint"]

#: Okabe and Ito's colours, which most colour-blind people can tell apart; the dark ones first.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
#: Rows differ by these too, so that a plot can be read without colour.
MARKERS = ["o", "s", "^", "D", "v", "p", "h"]
LINES: list[Any] = [
    "-",
    (0, (5, 2)),
    (0, (6, 2, 1.2, 2)),
    (0, (1.2, 1.6)),
    (0, (9, 2.5)),
    (0, (4, 2, 1.2, 1.6, 1.2, 2)),
    (0, (2.5, 2.5)),
]
HATCHES = ["", "////", "....", "\\\\\\\\", "xxxx", "----", "++++"]

INK = "#222222"
FAINT = "#777777"

#: Of all plots.
STYLE: Any = {
    "text.parse_math": False,  # a name may have a dollar sign
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "axes.edgecolor": "#888888",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "lines.linewidth": 1.4,
    "legend.frameon": False,
}

#: Of those that are made for a page of print; letters become outlines, so that no viewer
#: needs the font, and names inside of an SVG do not depend on chance.
PAPER: Any = {
    **STYLE,
    "text.parse_math": True,
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "axes.labelcolor": INK,
    "text.color": INK,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "path",
    "svg.hashsalt": "wale-lab",
}


#: Of pictures of runs.
PICTURE: Any = {**STYLE, "svg.hashsalt": "wale-lab", "svg.fonttype": "path"}


#: Of an SVG: without dates.
ABOUT_SVG: Any = {"Creator": "wale-lab", "Date": None, "Format": None, "Type": None}


def tint(colour: str, share: float) -> tuple[float, float, float]:
    """A share of a colour in white, opaque: SVG shows no hatching on transparent areas."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def save(figure: Figure, base: Path) -> tuple[Path, Path]:
    """Write BASE.svg and BASE.png (200 dpi), without dates."""
    svg, png = base.with_suffix(".svg"), base.with_suffix(".png")
    with rc_context(PAPER):
        figure.savefig(svg, transparent=True, metadata=ABOUT_SVG)
        figure.savefig(png, dpi=200, facecolor="white", metadata={"Software": "wale-lab"})
    return svg, png


def data_uri(svg: bytes) -> str:
    """The picture as an address, for a page that loads nothing."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")


def save_picture(figure: Figure, path: Path) -> None:
    """Write it; the same runs give the same bytes."""
    about: dict[str, Any] = {"Software": "wale-lab"}
    if path.suffix != ".png":
        date = "Date" if path.suffix == ".svg" else "CreationDate"
        about = {"Creator": "wale-lab", date: None}
    make_parent(path)
    with rc_context(PICTURE), errors_name(path), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # it draws a box instead
        figure.savefig(path, dpi=130, metadata=about)
