# SPDX-License-Identifier: GPL-2.0
"""Makes the patches of a series, as a list in YAML has them."""

from __future__ import annotations

import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import yaml

from repository import Repository, signer
from wale_lab.engines.base import EngineError

HERE = Path(__file__).resolve().parent


class Series(ABC):
    """The patches of NAME.yaml, for the source of a project; NAME-cover.txt is the letter."""

    #: Of the two files.
    name: str
    #: What is in front of the number in a subject.
    prefix: str

    def __init__(self, project: str, version: str, out: Path) -> None:
        self.project, self.version, self.out = project, version, out
        self.plan: dict[str, Any] = yaml.safe_load((HERE / f"{self.name}.yaml").read_text())
        #: Files of the project: first as they are, then as the patches so far leave them.
        self.originals: dict[str, str] = {}
        self.unchanged: dict[str, str] = {}

    def write(self) -> list[Path]:
        """Write all patches and the cover letter; the paths."""
        self.read_originals()
        self.unchanged = self._touched()
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        with tempfile.TemporaryDirectory(prefix="upstream-") as folder:
            repository = Repository(Path(folder))
            repository.commit("base", self.unchanged)
            for patch in self.plan["patches"]:
                message = f"{patch['subject']}\n\n{patch['body']}\nSigned-off-by: {signer()}\n"
                repository.commit(message, self.files_of(patch))
            repository.format(self.out, self.prefix)
        cover = self.out / "0000-cover-letter.patch"
        cover.write_text(self._cover(cover.read_text()))
        return sorted(self.out.glob("*.patch"))

    def base(self, folder: Path) -> None:
        """Make a repository of those files that the series changes, unchanged."""
        folder.mkdir(parents=True, exist_ok=True)
        Repository(folder).commit("base", self.unchanged)

    @abstractmethod
    def read_originals(self) -> None:
        """Read those files of the project that are needed."""

    @abstractmethod
    def files_of(self, patch: dict[str, Any]) -> dict[str, str]:
        """What a patch writes: path in the project, and text."""

    def changed(self) -> set[str]:
        """Names of files of the project that the series changes."""
        patches = self.plan["patches"]
        own = {path for patch in patches for path in patch.get("texts", {})}
        return {edit["file"] for patch in patches for edit in patch.get("edits", [])} - own

    def _touched(self) -> dict[str, str]:
        """The files of the project that the series changes, as they are."""
        names = self.changed()
        missing = names - set(self.originals)
        if missing:
            raise EngineError(f"{self.project} {self.version} has no {', '.join(sorted(missing))}")
        return {name: self.originals[name] for name in names}

    def edit(self, files: dict[str, str], edit: dict[str, Any]) -> None:
        """Add text to a file of the project, in front of a line or behind it."""
        name = edit["file"]
        text = files.get(name, self.originals[name])
        match = re.search(edit.get("before") or edit["after"], text, re.M)
        if not match:
            raise EngineError(f"{name} of {self.project} {self.version} is not as expected")
        at = match.start() if "before" in edit else match.end()
        files[name] = self.originals[name] = text[:at] + edit["text"] + text[at:]

    def _cover(self, made: str) -> str:
        """The cover letter, with what git wrote: the list of patches and of files."""
        letter = (HERE / f"{self.name}-cover.txt").read_text()
        letter = letter.replace("@VERSION@", self.version)
        subject, _, body = letter.partition("\n\n")
        return made.replace("*** SUBJECT HERE ***", subject).replace(
            "*** BLURB HERE ***", body.strip()
        )
