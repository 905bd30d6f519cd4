# SPDX-License-Identifier: GPL-2.0
"""The series for iproute2: tc that has the qdisc built in, from the sources of the plugin.

What the plugin declares of tc (tc_abi.h) comes from the headers of tc, and tc's Makefile lists the
files; nothing else differs.  The source is a package of Debian sid, which has the newest, or else
of the release that runs here; it is fetched once and stays in
${XDG_CACHE_HOME:-~/.cache}/wale/source/iproute2/VERSION.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

import fold
from series import Series
from wale_lab.engines import debian
from wale_lab.engines.base import EngineError, Log
from wale_lab.engines.kernel_build import locked
from wale_lab.engines.kernel_source import NEWEST_SUITE, version_key

#: tc's headers with what tc_abi.h declares, and the name of the one constant there.
_TC_HEADERS = '#include "utils.h"\n#include "tc_util.h"\n#include "tc_common.h"\n'
_CONSTANT = ("TC_REQUEST_MAX", "TCA_BUF_MAX")

#: What only a file that is loaded with dlopen() needs.
_OF_PLUGIN = (
    "/* Looked up by name in the plugin. */\nextern struct qdisc_util wale_qdisc_util;\n\n",
    '__attribute__((visibility("default"))) ',
)

#: In front of the name of a source in userspace/lib; not the folder of another path.
_OF_LIB = re.compile(r"(?<![\w/])lib/(?=\w+\.[ch]\b)")

#: How newer versions declare what is called.
_CONST = "const struct qdisc_util *qu"

_MAKEFILE = "tc/Makefile"


def at_hand(cache: Path) -> Path | None:
    """The newest source that need not be fetched."""
    found = (cache / "source/iproute2").glob("[0-9]*")
    return max(found, key=lambda path: version_key(path.name), default=None)


def find(cache: Path, log: Log) -> Path:
    """The source, fetched below `cache` if need be, by one process at a time."""
    with locked(cache / "source.lock", log):
        return at_hand(cache) or _fetch(cache, log)


def _fetch(cache: Path, log: Log) -> Path:
    """The newest source that can be fetched."""
    work = cache / "source/iproute2/.fetching"
    refused = []
    for name in (NEWEST_SUITE, debian.release()):
        suite = debian.Suite(name, cache / "apt" / f"{name}-sources", "deb-src")
        shutil.rmtree(work, ignore_errors=True)
        try:
            debian.update(suite, log)
            version = debian.fetch_source("iproute2", work, log, suite)
            return work.rename(work.with_name(version))
        except EngineError as error:
            refused.append(f"of {name}: {error}")
            log(f"no source of iproute2 {refused[-1]}")
        finally:
            shutil.rmtree(work, ignore_errors=True)
    raise EngineError(f"there is no source of iproute2 {'; '.join(refused)}")


class Iproute2Series(Series):
    """The patches of iproute2.yaml."""

    name = "iproute2"
    prefix = "PATCH iproute2-next"

    def __init__(self, source: Path, out: Path) -> None:
        super().__init__("iproute2", source.name, out)
        self.source = source
        self.headers = (source / "tc/tc_util.h").read_text()

    def read_originals(self) -> None:
        for name in self.changed():
            if (self.source / name).is_file():
                self.originals[name] = (self.source / name).read_text()

    def changed(self) -> set[str]:
        return super().changed() | {_MAKEFILE}

    def files_of(self, patch: dict[str, Any]) -> dict[str, str]:
        files: dict[str, str] = {}
        for name, path in patch["files"].items():
            text = (fold.TOP / name).read_text(encoding="utf-8")
            files[path] = self._in_tc(text) if path.endswith((".c", ".h")) else _plain(text)
        for edit in patch.get("edits", []):
            text = edit["text"].replace("@OPTIONS@", _completion())
            self.edit(files, {**edit, "text": text})
        self._list(files)
        return files

    def _in_tc(self, text: str) -> str:
        """A source of the plugin as a source of tc."""
        text = fold.fold(text, fold.Compat())
        for part in _OF_PLUGIN:
            text = text.replace(part, "")
        if _CONST in self.headers:
            text = text.replace("(struct qdisc_util *qu", f"({_CONST}")
        text = re.sub(r'^#include "tc_abi\.h"\n', _TC_HEADERS, text, flags=re.M)
        return _OF_LIB.sub("wale/", text).replace(*_CONSTANT)

    def _list(self, files: dict[str, str]) -> None:
        """Name new objects in the Makefile, behind the last of all."""
        new = [f"{path.removeprefix('tc/')[:-2]}.o" for path in files if path.endswith(".c")]
        if new:
            text = "".join(f"TCMODULES += {name}\n" for name in sorted(new))
            self.edit(files, {"file": _MAKEFILE, "after": r"(^TCMODULES \+= .*\n)+", "text": text})


def _plain(page: str) -> str:
    """A man page without the lines of its generator."""
    return re.sub(r'^\.\\" generated: .*\n', "", page, flags=re.M)


def _completion() -> str:
    """The options of the qdisc, as lines of a list in bash."""
    text = (fold.TOP / "userspace/completion/wale.bash").read_text()
    part = re.search(r"generated: options\n(.*?)# generated: end", text, re.S)
    words = re.findall(r"--(\w+)", part[1] if part else "")
    lines = textwrap.wrap(" ".join(words), 56)
    return " \\\n                ".join(lines)
