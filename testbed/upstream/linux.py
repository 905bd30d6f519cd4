# SPDX-License-Identifier: GPL-2.0
"""The series for Linux: its patches bring the modules, their tests and their pages."""

from __future__ import annotations

import posixpath
import re
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fold
import pages
import specs
from repository import signer
from series import Series
from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_source import Source

#: The module that is made of a folder.
MODULES = {"wale": "sch_wale", "rate_feedback": "rate_feedback"}

#: Where what is below these folders of the tree goes, and which Makefile lists it.
PLACES = {
    "kmod/include/": "include/",
    "kmod/wale/tests/tdc/": "tools/testing/selftests/tc-testing/tc-tests/qdiscs/",
    "kmod/wale/": "net/sched/wale/",
    "kmod/rate_feedback/": "net/rate_feedback/",
}

SPEC = fold.TOP / "Documentation/netlink/specs/sch_wale.yaml"
MAINTAINERS = "MAINTAINERS"
TC_YAML = "Documentation/netlink/specs/tc.yaml"

_QUOTED = re.compile(r'^#include "([^"]+)"', re.M)
_ANGLED = re.compile(r"^#include <((?:net|linux)/[\w/]+\.h)>", re.M)


class Makefile:
    """The Makefile of a folder, which has more with each patch."""

    def __init__(self, folder: str) -> None:
        self.module = MODULES[folder]
        self.symbol = ""
        self.objects: list[str] = []
        self.tests: dict[str, list[str]] = {}

    def add(self, more: dict[str, Any]) -> None:
        self.symbol = more.get("module", self.symbol)
        for symbol, names in more.get("tests", {}).items():
            self.tests.setdefault(symbol, []).extend(names)

    def text(self) -> str:
        lines = ["# SPDX-License-Identifier: GPL-2.0", ""]
        if self.symbol:
            lines.append(f"obj-$(CONFIG_{self.symbol}) += {self.module}.o")
        for at in range(0, len(self.objects), 4):
            row = " ".join(f"{name}.o" for name in self.objects[at : at + 4])
            lines.append(f"{self.module}-y {'+=' if at else ':='} {row}")
        if traced := [name for name in self.objects if name.endswith("_trace")]:
            lines += ["", "# define_trace.h includes the events from here"]
            lines += [f"CFLAGS_{name}.o := -I$(src)" for name in traced]
        for symbol, names in self.tests.items():
            lines += ["", *(f"obj-$(CONFIG_{symbol}) += tests/{name}.o" for name in names)]
        return "\n".join(lines) + "\n"


class LinuxSeries(Series):
    """The patches of linux.yaml for one kernel."""

    name = "linux"
    prefix = "PATCH net-next"

    def __init__(self, source: Source, out: Path) -> None:
        super().__init__("Linux", source.version, out)
        self.archive = source.archive
        self.compat = fold.Compat()
        self.made = set[str]()
        self.makefiles: dict[str, Makefile] = {}

    def read_originals(self) -> None:
        """What the series changes of the kernel, and the headers that compat.mk looks into."""
        wanted = self.changed() | {"include/linux/slab.h"}
        wanted |= {f"include/{header}" for _, _, header in fold.probes()}
        top = f"linux-source-{self.version}/"
        with tarfile.open(self.archive) as archive:
            for member in archive:
                name = member.name.removeprefix(top)
                if name in wanted and (file := archive.extractfile(member)):
                    self.originals[name] = file.read().decode()
                    if len(self.originals) == len(wanted):
                        break
        self.compat = fold.of_kernel(lambda name: self.originals.get(name, ""))

    def changed(self) -> set[str]:
        return super().changed() | {MAINTAINERS, TC_YAML}

    def files_of(self, patch: dict[str, Any]) -> dict[str, str]:
        """What a patch writes: path in the kernel, and text."""
        files: dict[str, str] = {}
        sources = [*patch.get("files", [])]
        for folder, names in patch.get("objects", {}).items():
            self._makefile(folder).objects += names
            sources += [f"{folder}/{one}.c" for one in names]
        for name in self._with_headers(sources):
            text = (fold.TOP / name).read_text(encoding="utf-8")
            files[place_of(name)] = fold.fold(text, self.compat)
        for folder, more in patch.get("makefiles", {}).items():
            self._makefile(folder).add(more)
        for folder in {*patch.get("objects", {}), *patch.get("makefiles", {})}:
            files[place_of(f"{folder}/Makefile")] = self._makefile(folder).text()
        for path, text in patch.get("texts", {}).items():
            files[path] = self.originals[path] = text
        for name, path in patch.get("pages", {}).items():
            included = [fold.TOP / one for one in patch["pages"]]
            files[path] = pages.render(fold.TOP / name, included)
        for name, path in patch.get("specs", {}).items():
            files[path] = specs.plain(fold.TOP / name)
        for edit in patch.get("edits", []):
            self.edit(files, edit)
        if entry := patch.get("maintainers"):
            self._list(files, entry.replace("@SIGNER@", signer()))
        if patch.get("tc-yaml"):
            self._describe_in_tc(files)
        return files

    def _makefile(self, folder: str) -> Makefile:
        return self.makefiles.setdefault(folder, Makefile(folder.rpartition("/")[2]))

    def _with_headers(self, names: Iterable[str]) -> list[str]:
        """These files, and those that they include and no patch has brought."""
        found: list[str] = []
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in self.made:
                continue
            if not (fold.TOP / name).is_file():
                if not name.startswith("kmod/include"):
                    raise EngineError(f"there is no {name} for a patch of the series")
                continue
            self.made.add(name)
            found.append(name)
            if name.endswith((".c", ".h")):
                waiting += _included(name)
        return found

    def _list(self, files: dict[str, str], entry: str) -> None:
        """Add an entry to MAINTAINERS, whose entries are sorted by title."""
        title = entry.partition("\n")[0]
        text = self.originals[MAINTAINERS]
        begin = text.index("\n3C59X ")
        for match in re.finditer(r"\n\n(?=([^\n]+)\n[MRLSWQF]:\t)", text[begin:]):
            if match[1] > title:
                at = begin + match.end()
                text = f"{text[:at]}{entry}\n{text[at:]}"
                break
        files[MAINTAINERS] = self.originals[MAINTAINERS] = text

    def _describe_in_tc(self, files: dict[str, str]) -> None:
        """Add the qdisc to tc.yaml: at the end of each list that it belongs to."""
        text = self.originals[TC_YAML]
        for key, added in specs.in_tc(SPEC).items():
            inside = (
                rf"^    name: (?:tc-)?{key}\n(?:    .*\n)+"
                if key.endswith("-msg")
                else rf"^{key}:\n(?: .*\n|\n)+"
            )
            match = re.search(inside, text, re.M)
            if not match:
                raise EngineError(f"{TC_YAML} of Linux {self.version} has no {key}")
            end = match.start() + len(match[0].rstrip("\n")) + 1
            text = text[:end] + added + text[end:]
        files[TC_YAML] = text


def place_of(name: str) -> str:
    """Where a file of the tree is in the kernel."""
    for begin, place in PLACES.items():
        if name.startswith(begin):
            return place + name.removeprefix(begin)
    raise EngineError(f"no place in the kernel for {name}")


def _included(name: str) -> list[str]:
    """Files of the tree that a file includes."""
    text = (fold.TOP / name).read_text(encoding="utf-8")
    here = posixpath.dirname(name)
    own = [posixpath.normpath(posixpath.join(here, one)) for one in _QUOTED.findall(text)]
    named = [one for one in own if one != "kmod/compat.h"]
    for one in _ANGLED.findall(text):
        named += [f"kmod/include/{one}", f"kmod/include/uapi/{one}"]
    return named
