# SPDX-License-Identifier: GPL-2.0
"""`wale-lab point`: one run of a study or of a sweep, into its file; or why it failed."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from wale_lab.engines.base import EngineError
from wale_lab.errors import ScenarioError
from wale_lab.files import write_whole
from wale_lab.studies.schedule import failure_of


def point_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    if args.study.endswith(".json"):
        from wale_lab.sweeps.points import make_point
    else:
        from wale_lab.studies.command import make_point
    failure = Path(args.failure) if args.failure else failure_of(Path(args.out))
    try:
        make_point(args)
    except Exception as error:
        expected = isinstance(error, EngineError | ScenarioError | ValueError | OSError)
        with suppress(OSError):
            write_whole(failure, f"{error if expected else repr(error)}\n")
        if expected:
            raise EngineError(str(error)) from None
        raise
    failure.unlink(missing_ok=True)
    return 0
