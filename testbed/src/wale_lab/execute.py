# SPDX-License-Identifier: GPL-2.0
"""`wale-lab exec`: run any command as root in a guest, with modules loaded."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from wale_lab.engines import get_engine
from wale_lab.engines.base import EXIT_TIMEOUT, EXIT_WARNING, EngineError, Job, Outcome
from wale_lab.engines.modules import find_modules, find_userspace, userspace_env
from wale_lab.errors import ScenarioError
from wale_lab.files import make_folder
from wale_lab.progress import Progress


def write_through(data: bytes) -> None:
    """Pass a guest's output on as it comes."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def tell(outcome: Outcome) -> int:
    """Report anything unusual on stderr; return the exit code of wale-lab."""
    if outcome.reason in ("panic", "timeout", "hung"):
        print(f"wale-lab: {outcome.describe()}\n{outcome.tail()}", file=sys.stderr)
    elif outcome.complaints:
        print(f"wale-lab: the kernel complained:\n{outcome.kernel_log}", file=sys.stderr)
        return outcome.exit_code or EXIT_WARNING
    elif outcome.kernel_log.strip():
        print(outcome.kernel_log, file=sys.stderr, end="")
    return outcome.exit_code


def environment_of(pairs: list[str]) -> dict[str, str]:
    """What `--env NAME=VALUE` sets."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise ScenarioError(f"--env {pair}: expected NAME=VALUE")
        found[name] = value
    return found


def exec_command(args: argparse.Namespace) -> int:
    """The subcommand."""
    own = environment_of(args.env)
    engine = get_engine(args.engine)
    out = None if args.out is None else Path(args.out)
    if out is not None:
        make_folder(out)
    with Progress(quiet=args.quiet) as progress:
        kernel = engine.prepare(args.kernel, progress)
        modules = find_modules(kernel, args.modules, progress, args.module_files)
        try:
            env = find_userspace(progress)
        except EngineError as error:  # the command may need neither tc's plugin nor wale
            progress(f"without tc's plugin and wale: {error}")
            env = userspace_env()
    env |= own
    job = Job(
        argv=args.argv,
        out=out,
        seed=args.seed,
        time="virtual" if args.virtual or (engine.virtual_time and not args.real) else "real",
        start=args.start,
        memory_mb=args.memory,
        wall_limit_s=args.wall_limit,
        env=env,
        cwd=str(Path.cwd()),
        modules=modules,
        interactive=args.interactive,
        on_output=write_through,
    )
    outcome = engine.run(kernel, job)
    code = tell(outcome)
    if args.verbose:
        print(f"wale-lab: {outcome.describe()}", file=sys.stderr)
    return EXIT_TIMEOUT if outcome.reason in ("timeout", "hung") else code


def kernel_command(args: argparse.Namespace) -> int:
    """`wale-lab kernel`: build or find the guest kernel, print where it is."""
    with Progress(quiet=args.quiet) as progress:
        kernel = get_engine(args.engine).prepare(args.kernel, progress)
    value = {
        "image": kernel.image,
        "tree": kernel.tree,
        "release": kernel.release,
        "modules": kernel.module_folder,
        "source": kernel.source,
    }[args.print]
    print("" if value is None else value)
    return 0
