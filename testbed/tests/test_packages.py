# SPDX-License-Identifier: GPL-2.0
"""The Debian packages (`make deb`): installed, used, and purged in a clean Debian.

`make check-deb` runs this; it takes minutes, and root.  The tests share one system and follow
each other.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clean_debian import CleanDebian, output
from wale_lab.engines.kernel_source import version_key
from wale_lab.tree import version

TOP = Path(__file__).resolve().parents[2]
LAB = TOP / "testbed/wale-lab"
NAMES = ("wale-dkms", "wale-tools", "wale-dev", "python3-wale-lab")
MODULES = {"rate_feedback", "sch_wale", "tcp_ratcp"}

pytestmark = pytest.mark.deb


@pytest.fixture(scope="module")
def packages() -> Path:
    """The folder with the packages, built from the tree as it is."""
    if not shutil.which("dpkg-buildpackage"):
        pytest.skip("dpkg-buildpackage is missing (make packages-deb)")
    # a maintainer with an address that may be one, or Debian's checker speaks of nothing else
    env = {**os.environ, "DEBEMAIL": os.environ.get("DEBEMAIL", "wale@packages.debian.org")}
    subprocess.run(["make", "-C", TOP, "deb"], check=True, env=env)
    return TOP / "build/deb"


@pytest.fixture(scope="module")
def debian(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanDebian]:
    """A clean Debian with the headers of its kernel, then the packages; `before` is in between."""
    if os.geteuid() != 0:
        pytest.skip("a clean Debian is made, and entered, by root")
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is missing (make packages-deb)")
    system = CleanDebian(tmp_path_factory.mktemp("debian") / "root")
    debs = {name: next(packages.glob(f"{name}_*.deb")) for name in NAMES}
    depends = ", ".join(output("dpkg-deb", "-f", deb, "Depends").strip() for deb in debs.values())
    others = [word for word in depends.split(", ") if not word.startswith("wale-")]
    system.install(first_headers(system), "man-db", "openssl")
    system.run("apt-get", "-q", "-y", "--no-install-recommends", "satisfy", *others)
    system.run("useradd", "--create-home", "someone")
    system.before = system.files()
    system.binds[packages] = "/mnt"
    system.install(*(f"/mnt/{deb.name}" for deb in debs.values()))
    yield system
    shutil.rmtree(system.root)


def architecture(system: CleanDebian) -> str:
    return system.run("dpkg", "--print-architecture").strip()


def first_headers(system: CleanDebian) -> str:
    """The headers of the kernel that this Debian has if nobody chooses."""
    return f"linux-headers-{architecture(system)}"


def built(system: CleanDebian) -> set[str]:
    """The kernels for which DKMS says that the modules are installed."""
    lines = system.run("dkms", "status").splitlines()
    return {line.split(", ")[1] for line in lines if line.endswith(": installed")}


def check_modules(system: CleanDebian, release: str) -> None:
    """All modules are there for a kernel, found by name, made for it, of this tree, signed."""
    for module in sorted(MODULES):
        about = system.run("modinfo", "-k", release, module)
        assert re.search(rf"^vermagic: +{re.escape(release)} ", about, re.M), about
        assert re.search(rf"^version: +{re.escape(version())}$", about, re.M), about
        assert re.search(r"^signer: +DKMS module signing key$", about, re.M), about
    folder = system.root / "lib/modules" / release / "updates/dkms"
    assert {path.name.split(".")[0] for path in folder.iterdir()} == MODULES


def test_lintian(packages: Path) -> None:
    """Debian's checker has nothing to complain of."""
    if not shutil.which("lintian"):
        pytest.skip("lintian is missing (make packages-deb)")
    changes = next(packages.glob("*.changes"))
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on=error,warning", "-i", "-E", "--pedantic", changes],
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout)
    assert not re.search(r"^[EW]: ", done.stdout, re.M), done.stdout
    assert done.returncode == 0, done.stderr


def test_tools(debian: CleanDebian) -> None:
    """tc finds the plugin, wale runs, pages and completion are where they are looked for."""
    assert debian.run("wale", "--version") == f"wale {version()}\n"
    said = debian.run("sh", "-c", "tc qdisc add dev lo root wale help 2>&1 || true")
    assert "One direction of a wide-area link" in said
    for page in sorted((TOP / "userspace/man").glob("*.[1-8]")):
        assert page.name in debian.run("man", "-w", page.stem)
    load = ". /usr/share/bash-completion/completions/wale && complete -p wale"
    assert "-F" in debian.run("bash", "-c", load)


def test_contracts(debian: CleanDebian) -> None:
    """Headers are where a compiler looks, the specifications where ynl does."""
    headers = sorted((TOP / "kmod/include/uapi/linux").glob("*.h"))
    includes = "".join(f"#include <linux/{path.name}>\n" for path in headers)
    debian.run("sh", "-c", f"printf '{includes}' | gcc -xc -Wall -Werror -fsyntax-only -")
    for source in (TOP / "Documentation/netlink/specs").glob("*.yaml"):
        installed = debian.root / "usr/share/ynl/specs" / source.name
        assert installed.read_bytes() == source.read_bytes()


def test_documents(debian: CleanDebian) -> None:
    """All pages are there, also those below a folder."""
    pages = debian.root / "usr/share/doc/wale-tools"
    there = {str(path.relative_to(pages)).removesuffix(".gz") for path in pages.rglob("*.rst*")}
    source = TOP / "Documentation"
    assert {str(path.relative_to(source)) for path in source.rglob("*.rst")} <= there


def test_modules_follow_the_kernel(debian: CleanDebian) -> None:
    """DKMS builds for the kernel at hand, for its successor when that comes, and cleans up."""
    (first,) = built(debian)
    check_modules(debian, first)

    names = debian.run("apt-cache", "pkgnames", "linux-headers-").split()
    series = [re.fullmatch(rf"linux-headers-([0-9.]+)-{architecture(debian)}", n) for n in names]
    versions = sorted({m[1] for m in series if m and m[1].count(".") == 1}, key=version_key)
    versions = [v for v in versions if not first.startswith(f"{v}.")]
    if not versions:
        pytest.skip("this Debian offers the headers of one kernel only: no upgrade to test")
    earlier = debian.files()
    debian.install(f"linux-headers-{versions[-1]}-{architecture(debian)}")
    # what came with that kernel may stay; what DKMS made for it may not
    debian.before |= {path for path in debian.files() - earlier if "dkms" not in path}
    assert built(debian) > {first}
    (second,) = built(debian) - {first}
    check_modules(debian, second)
    check_modules(debian, first)

    # what the package of a kernel does when it is removed
    debian.run("run-parts", f"--arg={first}", "/etc/kernel/prerm.d")
    assert built(debian) == {second}
    assert not (debian.root / "lib/modules" / first / "updates/dkms/sch_wale.ko").exists()
    check_modules(debian, second)


def test_lab(debian: CleanDebian) -> None:
    """A user runs the demo with the installed testbed, the same bytes each time.

    The guest kernel and the Python packages of the tree's own cache do for it.
    """
    image = Path(output(LAB, "kernel", "--quiet").strip())
    cache = debian.root / "home/someone/.cache/wale"
    binds = {}
    for folder, inside in ((image.parent, "kernel/"), (Path(sys.prefix), "")):
        name = f"{inside}{folder.name}"
        (cache / name).mkdir(parents=True)
        binds[folder] = f"/home/someone/.cache/wale/{name}"
    debian.run("chown", "-R", "someone:", "/home/someone")
    script = "cd && wale-lab run demo --quiet --json --set flows.0.size=100kB --out out"
    runs = [json.loads(debian.run("sh", "-c", script, user="someone", binds=binds)) for _ in "12"]
    assert runs[0]["digest"] == runs[1]["digest"]
    assert [flow["completed"] for flow in runs[0]["flows"]] == [True, True, True]
    tool = hashlib.sha256((debian.root / "usr/bin/wale").read_bytes()).hexdigest()
    assert runs[0]["versions"]["wale"] == f"sha256:{tool[:16]}"


def test_purge_leaves_nothing(debian: CleanDebian) -> None:
    debian.run("apt-get", "-q", "-y", "purge", *NAMES)
    shutil.rmtree(debian.root / "home/someone")  # what a user made is the user's
    # depmod's tables are of depmod, the key is of DKMS
    others = re.compile(r"usr/lib/modules/[^/]+/modules\.[\w.]+|var/lib/dkms/mok\.\w+")
    new = debian.files() - debian.before
    assert sorted(path for path in new if not others.fullmatch(path)) == []
    states = debian.run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n").splitlines()
    assert [line for line in states if "wale" in line] == []
