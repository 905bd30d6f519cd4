# SPDX-License-Identifier: GPL-2.0
"""A repository in which the patches of a series are made, one commit after the other."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from fold import TOP
from wale_lab.engines.base import EngineError

#: Who signs, where git knows nobody.
NOBODY = ("WALE maintainers", "maintainers@wale.invalid")


def _git(*words: str, cwd: Path = TOP) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def signer() -> str:
    name, address = _git("config", "user.name"), _git("config", "user.email")
    return f"{name or NOBODY[0]} <{address or NOBODY[1]}>"


class Repository:
    """A repository with nothing but the files of the series."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        name, _, address = signer().rpartition(" ")
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

    def format(self, out: Path, prefix: str) -> None:
        root = _git("rev-list", "--max-parents=0", "HEAD", cwd=self.folder)
        self.run(
            "format-patch",
            "--quiet",
            "--cover-letter",
            "--no-signature",
            "--zero-commit",
            f"--subject-prefix={prefix}",
            f"--output-directory={out}",
            f"{root}..HEAD",
        )
