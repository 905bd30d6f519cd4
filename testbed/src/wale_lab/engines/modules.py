# SPDX-License-Identifier: GPL-2.0
"""Finds the products of `make modules` and `make userspace`, and builds them if not up to date.

What another checkout has built from the same sources is copied from the cache (products.py).
Modules that are built elsewhere are files given by the user.

The KUnit tests, which take as long to build as the modules, are built when one of them is wanted,
or with WALE_KUNIT=y in the environment.

With WALE_NO_BUILD in the environment existing files are used as they are.  An installed package
builds in the user's cache; if the tools were installed with it (testbed/setup/install-lab), it
uses those.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from wale_lab.engines.base import EngineError, Kernel, Log
from wale_lab.engines.kernel_build import cache_root, locked
from wale_lab.engines.processes import for_kbuild, run_make, without_make
from wale_lab.engines.products import fill, key_of
from wale_lab.tree import IN_CHECKOUT, INSTALLED_PROGRAMS, PACKAGE, SOURCES

#: How a user starts it: at the top of the tree, or installed.
LAB = "testbed/wale-lab" if IN_CHECKOUT else "wale-lab"
_MODULE_SOURCES = (
    "kmod",
    "tcp_ratcp",
    "testbed/setup/Kbuild",
    "testbed/setup/build-modules",
    "Makefile",
)
_USERSPACE_SOURCES = ("userspace", "kmod/include", "Makefile")

#: What the tools are linked with, and the packages of Debian that have it.
_LIBRARIES = {
    "libnl-3.0": "libnl-3-dev",
    "libnl-genl-3.0": "libnl-genl-3-dev",
    "libnl-route-3.0": "libnl-route-3-dev",
    "nettle": "nettle-dev",
}


def _build_folder() -> Path:
    """Where products go; an installed copy has one for each state of its sources."""
    if IN_CHECKOUT:
        return SOURCES / "build"
    digest = hashlib.sha256()
    for path in sorted(p for p in SOURCES.rglob("*") if p.is_file()):
        digest.update(f"{path.relative_to(SOURCES)}\0".encode() + path.read_bytes())
    return cache_root() / f"build-{digest.hexdigest()[:12]}"


BUILD = _build_folder()


def check_places() -> None:
    """EngineError if make cannot build in the cache, or in the checkout."""
    script = SOURCES / "testbed/setup/plain-path"
    for path in (cache_root(), *([SOURCES] if IN_CHECKOUT else [])):
        command = [str(script), "make cannot build in ", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise EngineError(done.stdout.strip())


def _writable(folder: Path) -> bool:
    """Whether we may write to it, or make it."""
    return os.access(next(p for p in (folder, *folder.parents) if p.exists()), os.W_OK)


def _files(sources: Iterable[str]) -> list[Path]:
    """These files, and the sources in these folders."""
    found = [SOURCES / name for name in sources]
    for folder in tuple(found):
        for base, _, files in os.walk(folder):
            ends = (".c", ".h", ".mk", "Kbuild", "Makefile")
            found += [Path(base) / name for name in files if name.endswith(ends)]
    return [path for path in found if path.is_file()]


def _newest(sources: Iterable[str]) -> float:
    """When the newest of these was changed."""
    return max((path.stat().st_mtime for path in _files(sources)), default=0.0)


def _build(log: Log, name: str, command: Sequence[str | Path], **env: str) -> None:
    """Run what builds; `name` is what a person would have typed."""
    env = {**without_make(), "WALE_BUILD": str(BUILD), **env}
    log(f"running {name}")
    with tempfile.TemporaryFile("w+", errors="replace") as said:  # a pipe to us ends too early
        code = run_make(command, stdout=said, stderr=said, env=env)
        if code:
            said.seek(0)
            raise EngineError(f"{name} failed:\n{said.read()[-3000:].strip()}")


def _mark_current(products: Iterable[Path], began: float) -> None:
    """Of the time when make began: it leaves alone what has not changed, and did not see what
    changed later."""
    for path in products:
        os.utime(path, (began, began))


def _stale(products: Sequence[Path], sources: Iterable[str]) -> bool:
    if not products or not all(p.exists() for p in products):
        return True
    if os.environ.get("WALE_NO_BUILD"):
        return False
    older = min(p.stat().st_mtime for p in products) < _newest(sources)
    if older and not os.access(BUILD, os.W_OK):
        _say_once(
            f"{products[0].parent} is older than its sources, and {BUILD} is not writable: "
            "what is there is taken"
        )
        return False
    return older


@functools.cache
def _say_once(text: str) -> None:
    print(f"wale-lab: {text}", file=sys.stderr)


def _field(module: bytes, name: str) -> str:
    """What a .ko file says of itself, such as depends or vermagic."""
    found = re.search(rb"(?:^|\0)" + name.encode() + rb"=([^\0]*)\0", module)
    return found[1].decode() if found else ""


def needs(module: bytes) -> list[str]:
    """The modules that a .ko file names as those it needs."""
    return [name for name in _field(module, "depends").split(",") if name]


def in_load_order(names: Iterable[str], have: dict[str, Path]) -> list[Path]:
    """What there is of these modules, and of those they need, each after what it needs."""
    order: list[Path] = []
    for name in names:
        if name in have and have[name] not in order:
            wanted = in_load_order(needs(have[name].read_bytes()), have)
            order += [path for path in [*wanted, have[name]] if path not in order]
    return order


def check_file(kernel: Kernel, file: Path) -> Path:
    """A module that is built elsewhere, as a whole path; EngineError if it cannot be loaded."""
    try:
        release = _field(file.read_bytes(), "vermagic").partition(" ")[0]
    except OSError as error:
        raise EngineError(f"--module {file}: {error.strerror}") from None
    if not release:
        raise EngineError(f"--module {file}: this is no kernel module")
    if release != kernel.release:
        raise EngineError(f"--module {file}: it is built for {release}, not for {kernel.release}")
    return file.resolve()


def find_modules(
    kernel: Kernel, names: Sequence[str], log: Log, files: Sequence[Path] = ()
) -> list[Path]:
    """The .ko files of these modules for this kernel, and of those they need, to load in order.

    `files` are modules that are built elsewhere; they are loaded last, in their order.
    """
    own = [check_file(kernel, file) for file in files]
    wanted = [name for file in own for name in needs(file.read_bytes())]
    here = {file.stem.replace("-", "_") for file in own}
    return [*_of_tree(kernel, [*names, *(n for n in wanted if n not in here)], log), *own]


def _of_tree(kernel: Kernel, names: Sequence[str], log: Log) -> list[Path]:
    """Those of this tree, built if need be."""
    if not names:
        return []
    _check_names(names)
    folder = BUILD / "modules" / kernel.module_folder
    tree = kernel.tree or Path("/lib/modules") / kernel.release / "build"

    def built() -> list[Path]:
        have = {p.stem: p for p in folder.rglob("*.ko")} if of_this_kernel() else {}
        return in_load_order(names, have)

    def of_this_kernel() -> bool:
        """Kernels of one release may have other configurations."""
        config, built_for = tree / "include/generated/autoconf.h", folder / "config"
        if not config.exists():
            return folder.exists()
        return built_for.exists() and built_for.read_text().strip() == _digest(config)

    def current() -> bool:
        paths = built()
        return set(names) <= {p.stem for p in paths} and not _stale(paths, _MODULE_SOURCES)

    if not current():
        if not _writable(BUILD):
            raise EngineError(
                f"no modules for {kernel.release} in {folder}, and {BUILD} is not writable: "
                "let its owner run `make modules` for this kernel first"
            )
        if not tree.exists():
            raise EngineError(
                f"no modules for kernel {kernel.release}, and nothing to build them against: "
                f"{tree} does not exist"
            )
        with locked(BUILD / "modules.lock", log):
            if not current():
                began = time.time()
                tests = os.environ.get("WALE_KUNIT") == "y" or any(map(_is_test, names))
                key = _modules_key(kernel, tree, tests)
                fill(
                    folder, key, lambda: _make_modules(kernel, tree, folder, tests, began, log), log
                )
                _mark_current(_made(folder, tests), began)
    missing = set(names) - {p.stem for p in built()}
    if missing:
        raise EngineError(f"`make modules` built no {', '.join(sorted(missing))} in {folder}")
    return built()


def _check_names(names: Sequence[str]) -> None:
    """Refuse modules that this tree does not have, before anything is built."""
    kbuilds = [path for path in _files(_MODULE_SOURCES) if path.name == "Kbuild"]
    lines = [line for path in kbuilds for line in path.read_text().splitlines()]
    objects = " ".join(line for line in lines if line.startswith("obj-m"))
    has = set(re.findall(r"(\w+)\.o\b", objects))
    unknown = sorted(set(names) - has) if has else []  # without sources, nobody knows
    if unknown:
        known = ", ".join(sorted(name for name in has if not _is_test(name)))
        raise EngineError(f"there is no module {unknown[0]} in this tree; expected one of {known}")


def _is_test(name: str) -> bool:
    """Whether a module is one of KUnit tests."""
    return name.endswith("_kunit")


def _made(folder: Path, tests: bool) -> list[Path]:
    """The modules that a build with or without the tests makes."""
    return sorted(path for path in folder.rglob("*.ko") if tests or not _is_test(path.stem))


def _make_modules(
    kernel: Kernel, tree: Path, folder: Path, tests: bool, began: float, log: Log
) -> Sequence[Path]:
    """Build the modules of the tree; return what other checkouts may have of them."""
    words = [str(tree)] + ([kernel.arch] if kernel.arch else [])
    script = SOURCES / "testbed/setup/build-modules"
    name = f"make modules KDIR={' ARCH='.join(words)}"
    _build(log, name, [script, *words], WALE_KUNIT="y" if tests else "n")
    made = [*_made(folder, tests), folder / "config"]
    return made if _newest(_MODULE_SOURCES) < began else []


def _modules_key(kernel: Kernel, tree: Path, tests: bool) -> str | None:
    """The name of the modules for this kernel; none if gcov's notes belong to them."""
    if kernel.flavour == "coverage":
        return None
    of_kernel = [kernel.image, tree / "include/generated/autoconf.h", tree / "Module.symvers"]
    against = [_digest(path) for path in of_kernel if path and path.exists()]
    against += [kernel.module_folder, kernel.source, "tests" if tests else ""]
    return key_of(_files(_MODULE_SOURCES), SOURCES, against)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build_folder(kernel: Kernel, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run kbuild in a folder with its own sources and Kbuild; the products are put there."""
    tree = kernel.tree or Path("/lib/modules") / kernel.release / "build"
    words = ["make", "-s", "-C", str(tree), f"M={folder}", *flags, "modules"]
    words += [f"ARCH={kernel.arch}"] if kernel.arch else []
    return subprocess.run(
        words,
        env=for_kbuild(),
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def find_userspace(log: Log) -> dict[str, str]:
    """The environment in which `tc` knows wale and `wale` is found; built if need be."""
    env = userspace_env()
    plugin = Path(env["TC_LIB_DIR"], "q_wale.so")
    program = Path(env["PATH"].split(":")[0], "wale")
    if INSTALLED_PROGRAMS:
        for path in (plugin, program):
            if not path.exists():
                raise EngineError(f"{path} is not there: install the tools of WALE (wale-tools)")
        return env
    products = [plugin, program, BUILD / "userspace/wale/wale"]  # the last is the user's
    if _stale(products, _USERSPACE_SOURCES):
        if not _writable(BUILD):
            raise EngineError(
                f"{plugin.name} and wale are not built, and {BUILD} is not writable: "
                "let its owner run `make userspace` first"
            )
        with locked(BUILD / "userspace.lock", log):
            if _stale(products, _USERSPACE_SOURCES):
                began = time.time()

                def build() -> list[Path]:
                    _build(log, "make userspace", _make_userspace())
                    return products if _newest(_USERSPACE_SOURCES) < began else []

                fill(BUILD / "userspace", _userspace_key(), build, log)
                _mark_current([p for p in products if p.exists()], began)
    return env


def _userspace_key() -> str | None:
    """The name of the plugin and the program; none if a library is missing."""
    if not shutil.which("pkg-config"):
        return None
    asked = ["pkg-config", "--modversion", *_LIBRARIES]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    return key_of(_files(_USERSPACE_SOURCES), SOURCES, [done.stdout])


def _make_userspace() -> list[str]:
    """What builds the plugin and the program; in a checkout it installs what that takes, too."""
    make = ["make", "-s", "--no-print-directory", "-C"]
    if IN_CHECKOUT:
        return [*make, str(SOURCES), "userspace"]
    _need_libraries()
    return [*make, str(SOURCES / "userspace"), f"BUILD={BUILD}/userspace"]


def _need_libraries() -> None:
    """EngineError that names the packages of Debian which are missing to build the tools."""
    tools = {"gcc": "gcc", "make": "make", "pkg-config": "pkg-config"}
    missing = [package for tool, package in tools.items() if not shutil.which(tool)]
    for library, package in _LIBRARIES.items():
        asked = ["pkg-config", "--exists", library]
        if "pkg-config" in missing or subprocess.run(asked, check=False).returncode:
            missing.append(package)
    if missing:
        raise EngineError(
            "to build tc's plugin and wale, install: sudo apt-get install " + " ".join(missing)
        )


@functools.cache
def _tool_folders() -> tuple[str, str]:
    """The folder of the program wale, and that of the plugin."""
    if not INSTALLED_PROGRAMS:
        return f"{BUILD}/userspace/guest", f"{BUILD}/userspace/tc"
    asked = subprocess.run(
        [SOURCES / "userspace/tc/plugin-dir"], capture_output=True, text=True, check=False
    )
    return str(INSTALLED_PROGRAMS), asked.stdout.strip() or "/usr/lib/tc"


def userspace_env() -> dict[str, str]:
    """The environment for programs inside, without building anything."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    programs, plugins = _tool_folders()
    built = cache_root() / "programs/bin"  # testbed/setup/build-programs
    path = f"{programs}:{path}:{built}" if built.is_dir() else f"{programs}:{path}"
    ours = {"WALE_PYTHON": sys.executable, "WALE_LIBRARY": str(PACKAGE.parent)}
    return {"PATH": path, "TC_LIB_DIR": plugins, **ours}
