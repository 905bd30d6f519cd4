# SPDX-License-Identifier: GPL-2.0
"""Makes the patches of a series, one commit after the other, in a repository of its own."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

import fold
import pages
import specs
from wale_lab.engines.base import EngineError
from wale_lab.engines.kernel_source import Source

HERE = Path(__file__).resolve().parent

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

#: Who signs, where git knows nobody.
NOBODY = ("WALE maintainers", "maintainers@wale.invalid")

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
        if any(name.endswith("_trace") for name in self.objects):
            lines += [
                "",
                "# define_trace.h includes the events from here",
                "CFLAGS_wale_trace.o := -I$(src)",
            ]
        for symbol, names in self.tests.items():
            lines += ["", *(f"obj-$(CONFIG_{symbol}) += tests/{name}.o" for name in names)]
        return "\n".join(lines) + "\n"


class Series:
    """The patches of linux.yaml for one kernel."""

    def __init__(self, source: Source, out: Path) -> None:
        self.source, self.out = source, out
        self.plan: dict[str, Any] = yaml.safe_load((HERE / "linux.yaml").read_text())
        self.originals: dict[str, str] = {}
        self.unchanged: dict[str, str] = {}
        self.compat = fold.Compat()
        self.made = set[str]()
        self.makefiles: dict[str, Makefile] = {}

    def write(self) -> list[Path]:
        """Write all patches and the cover letter; the paths."""
        self._read_originals()
        self.compat = fold.of_kernel(lambda name: self.originals.get(name, ""))
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        with tempfile.TemporaryDirectory(prefix="upstream-") as folder:
            repository = _Repository(Path(folder))
            self.unchanged = self._touched()
            repository.commit("base", self.unchanged)
            for patch in self.plan["patches"]:
                message = f"{patch['subject']}\n\n{patch['body']}\nSigned-off-by: {_signer()}\n"
                repository.commit(message, self._files_of(patch))
            repository.format(self.out)
        cover = self.out / "0000-cover-letter.patch"
        cover.write_text(self._cover(cover.read_text()))
        return sorted(self.out.glob("*.patch"))

    def base(self, folder: Path) -> None:
        """Make a repository of those files of the kernel that the series changes, unchanged."""
        folder.mkdir(parents=True, exist_ok=True)
        _Repository(folder).commit("base", self.unchanged)

    def _read_originals(self) -> None:
        """What the series changes of the kernel, and the headers that compat.mk looks into."""
        wanted = self._changed() | {"include/linux/slab.h"}
        wanted |= {f"include/{header}" for _, _, header in fold.probes()}
        top = f"linux-source-{self.source.version}/"
        with tarfile.open(self.source.archive) as archive:
            for member in archive:
                name = member.name.removeprefix(top)
                if name in wanted and (file := archive.extractfile(member)):
                    self.originals[name] = file.read().decode()
                    if len(self.originals) == len(wanted):
                        break

    def _changed(self) -> set[str]:
        """Names of files of the kernel that the series changes."""
        patches = self.plan["patches"]
        own = {path for patch in patches for path in patch.get("texts", {})}
        edited = {edit["file"] for patch in patches for edit in patch.get("edits", [])}
        return (edited - own) | {MAINTAINERS, TC_YAML}

    def _touched(self) -> dict[str, str]:
        """The files of the kernel that the series changes, as they are."""
        names = self._changed()
        missing = names - set(self.originals)
        if missing:
            raise EngineError(f"Linux {self.source.version} has no {', '.join(sorted(missing))}")
        return {name: self.originals[name] for name in names}

    def _files_of(self, patch: dict[str, Any]) -> dict[str, str]:
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
            self._edit(files, edit)
        if entry := patch.get("maintainers"):
            self._list(files, entry.replace("@SIGNER@", _signer()))
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

    def _edit(self, files: dict[str, str], edit: dict[str, Any]) -> None:
        """Add text to a file of the kernel, in front of a line or behind it."""
        name = edit["file"]
        text = files.get(name, self.originals[name])
        match = re.search(edit.get("before") or edit["after"], text, re.M)
        if not match:
            raise EngineError(f"{name} of Linux {self.source.version} is not as expected")
        at = match.start() if "before" in edit else match.end()
        files[name] = self.originals[name] = text[:at] + edit["text"] + text[at:]

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
                raise EngineError(f"{TC_YAML} of Linux {self.source.version} has no {key}")
            end = match.start() + len(match[0].rstrip("\n")) + 1
            text = text[:end] + added + text[end:]
        files[TC_YAML] = text

    def _cover(self, made: str) -> str:
        """The cover letter, with what git wrote: the list of patches and of files."""
        letter = (HERE / "linux-cover.txt").read_text()
        letter = letter.replace("@VERSION@", self.source.version)
        subject, _, body = letter.partition("\n\n")
        return made.replace("*** SUBJECT HERE ***", subject).replace(
            "*** BLURB HERE ***", body.strip()
        )


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


def _git(*words: str, cwd: Path = fold.TOP) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def _signer() -> str:
    name, address = _git("config", "user.name"), _git("config", "user.email")
    return f"{name or NOBODY[0]} <{address or NOBODY[1]}>"


class _Repository:
    """A repository with nothing but the files of the series."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        name, _, address = _signer().rpartition(" ")
        date = _git("log", "-1", "--format=%cI") or "1970-01-01T00:00:00Z"
        self.env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        for role in ("AUTHOR", "COMMITTER"):
            self.env |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": address.strip("<>")}
            self.env[f"GIT_{role}_DATE"] = date
        self.run("init", "--quiet", "--initial-branch=series")
        self.run("config", "user.name", name)
        self.run("config", "user.email", address.strip("<>"))

    def run(self, *words: str, text: str | None = None) -> None:
        command = ["git", *words]
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, input=text, capture_output=True, text=True
        )
        if done.returncode:
            raise EngineError(f"{' '.join(command)} failed: {done.stderr.strip()}")

    def commit(self, message: str, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if name.endswith((".sh", ".py")):
                path.chmod(0o755)
        self.run("add", "--all")
        self.run("commit", "--quiet", "--file=-", text=message)

    def format(self, out: Path) -> None:
        root = _git("rev-list", "--max-parents=0", "HEAD", cwd=self.folder)
        self.run(
            "format-patch",
            "--quiet",
            "--cover-letter",
            "--no-signature",
            "--zero-commit",
            "--subject-prefix=PATCH net-next",
            f"--output-directory={out}",
            f"{root}..HEAD",
        )
