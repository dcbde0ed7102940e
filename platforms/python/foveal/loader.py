"""`foveal.load`: a model from a path or a zoo name, imported once and cached."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foveal import progress
from foveal.cache import cache_dir, is_device, lock, make_dir, sha256_file, trim
from foveal.errors import ArgumentError, FovealError, IOFailure, ModelError, NotFoundError

if TYPE_CHECKING:
    from foveal._core import Model

log = logging.getLogger("foveal.loader")

# First bytes of files that people hand over by mistake. The last column says what to do about it.
_NOT_MODELS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture", "the model comes first, pictures after it"),
    (b"\xff\xd8\xff", "a JPEG picture", "the model comes first, pictures after it"),
    (b"GIF8", "a GIF picture", "the model comes first, pictures after it"),
    (b"RIFF", "a WebP picture, sound or video", "the model comes first, pictures after it"),
    (b"BM", "a BMP picture", "the model comes first, pictures after it"),
    (b"PK\x03\x04", "a zip archive (or a PyTorch file)", "unpack it, or export the model to ONNX"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"\x80\x02", "a Python pickle (PyTorch)", "export the model to ONNX"),
    (b"\x89HDF\r\n", "an HDF5 file (Keras)", "convert the model to TFLite or ONNX"),
    (b"%PDF", "a PDF", ""),
    (b"\x7fELF", "a program or library", "plugins are loaded with FOVEAL_PLUGIN_PATH"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself", "run: git lfs pull"),
    (b"<!DOCTYPE", "a web page", "fetch the raw file, not the page about it"),
    (b"<html", "a web page", "fetch the raw file, not the page about it"),
)
_SUFFIXES = {".fvm", ".onnx", ".tflite"}
_CACHE_BYTES = 2 << 30


def load(
    model: str | os.PathLike[str] | Model,
    *,
    input_shapes: Mapping[str, Sequence[int | str]] | None = None,
) -> Model:
    """Opens a model.

    `model` is a zoo name ("face", see `foveal.zoo.names`), a path, or a Model, which is returned as
    it is. A .fvm file is opened as it
    is, memory-mapped; other formats are imported, optimised and kept in the cache as .fvm, keyed by
    content, converter and options. Any number of processes may load the same model at once.

    `input_shapes` overrides what the file declares: input name → ints or names of symbolic
    dimensions. It does not apply to .fvm files and Models.

    Raises ArgumentError (neither a name, a path nor a Model), NotFoundError (no such file or zoo
    name), ModelError (damaged, or no model: says what it looks like), UnsupportedOpError (lists
    everything missing), FetchError (zoo).
    """
    from foveal import zoo
    from foveal._core import Model

    if isinstance(model, Model):
        if input_shapes:
            raise ArgumentError(
                "load: input_shapes cannot change a Model", hint="load the file with input_shapes"
            )
        return model
    text = path_text(model)
    if text in zoo.names():
        entry = zoo.find(text)
        shapes = {**entry.input_shapes, **(input_shapes or {})}
        return _imported(zoo.get(text), shapes, zoo.metadata(entry), label=text)
    path = Path(text).expanduser()
    head = read_head(path, text)
    if is_fvm(head):
        if input_shapes:
            raise ModelError(
                f"{path}: input_shapes cannot change a .fvm file",
                hint="give them when converting: foveal convert --input-shape",
            )
        return _open(path)
    refuse_other_files(path, head)
    return _imported(path, dict(input_shapes or {}), {}, label=path.name)


def path_text(model: object) -> str:
    """A path or a zoo name as text. ArgumentError for what cannot be one."""
    try:
        text = os.fsdecode(model)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(
            f"load: expected a path, a zoo name or a Model, got {type(model).__name__}",
            hint="for example foveal.load('model.onnx') or foveal.load('face')",
        ) from None
    try:
        possible = text != "" and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ArgumentError(f"load: {text!a} cannot be the name of a file", hint="check the path")
    return text


def is_fvm(head: bytes) -> bool:
    """Whether a file that begins with `head` (8 bytes or more) is a .fvm file."""
    return head.startswith(b"FOVEALM")


def refuse_other_files(path: Path, head: bytes) -> None:
    """ModelError when the file is plainly no model, saying what it looks like.

    Formats that an importer recognises by content pass, and unknown binary data does too: the
    importer chosen by the suffix then says what is wrong with it.
    """
    expected = "expected a model (.fvm, .onnx, .tflite)"
    if not head:
        raise ModelError(f"{path}: {expected}, got an empty file", hint="fetch it again")
    from foveal.convert import importers

    if any(importer.sniff(head) for importer in importers().values()):
        return
    for magic, what, hint in _NOT_MODELS:
        if head.startswith(magic):
            raise ModelError(f"{path}: {expected}, got {what}", hint=hint)
    if _is_text(head):
        raise ModelError(
            f"{path}: {expected}, got a text file", hint="check the path, or fetch the file again"
        )
    suffixes = {s for importer in importers().values() for s in importer.SUFFIXES}
    if path.suffix.lower() == ".fvm" or path.suffix.lower() not in suffixes:
        raise ModelError(
            f"{path}: {expected}, got unknown data beginning {head[:8].hex(' ')}",
            hint="the file is damaged or of a format that no importer here reads",
        )


def read_head(path: Path, given: str) -> bytes:
    """The first 512 bytes, or the error a user needs."""
    if is_device(path):
        raise ModelError(
            f"{path}: expected a model file, got a device or a pipe",
            hint="copy the data to a file first",
        )
    try:
        with path.open("rb") as file:
            return file.read(512)
    except FileNotFoundError:
        from difflib import get_close_matches

        from foveal import zoo

        near = get_close_matches(given, zoo.names(), n=1, cutoff=0.5)
        hint = f"did you mean the zoo's '{near[0]}'?" if near else "see: foveal zoo list"
        if path.suffix.lower() in _SUFFIXES or len(path.parts) > 1:
            raise NotFoundError(
                f"there is no model file '{given}'", hint="check the path"
            ) from None
        raise NotFoundError(
            f"'{given}' is neither a model file nor a zoo name ({', '.join(zoo.names())})",
            hint=hint,
        ) from None
    except IsADirectoryError:
        raise ModelError(
            f"{path}: expected a model file, got a folder", hint="name a file inside it"
        ) from None
    except OSError as error:
        raise IOFailure(f"{path}: cannot be read: {error.strerror or error}") from error


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
        text = head[: error.start].decode("utf-8")
    return all(c.isprintable() or c in "\r\n\t\f" for c in text)


def _open(path: Path) -> Model:
    from foveal._core import Model

    return Model.open(path)


def _imported(
    source: Path, shapes: Mapping[str, Sequence[int | str]], meta: Mapping[str, str], *, label: str
) -> Model:
    """The model imported from `source`, out of the cache when it is there and unharmed."""
    from foveal.convert import convert

    def build(target: Path) -> None:
        convert(source, input_shapes=shapes or None, meta=meta).save(target)

    try:
        content = source.read_bytes()
    except OSError as error:
        raise IOFailure(f"{source}: cannot be read: {error.strerror or error}") from error
    # ONNX weights outside the file are not part of `content`: such a model is imported every time.
    cacheable = b"\n\x08location" not in content
    options = json.dumps([_converter(), {k: list(v) for k, v in shapes.items()}, dict(meta)])
    key = hashlib.sha256(hashlib.sha256(content).digest() + options.encode()).hexdigest()[:24]
    del content
    with progress.on_terminal(f"importing {label}"):
        if cacheable:
            try:
                return _cached(make_dir(cache_dir("models")), key, build)
            except (OSError, IOFailure) as error:
                log.warning("the cache cannot be used, importing without it: %s", error)
        with tempfile.TemporaryDirectory(prefix="foveal-") as folder:
            path = Path(folder) / "model.fvm"
            build(path)
            from foveal._core import Model

            return Model.from_bytes(path.read_bytes())


def _cached(folder: Path, key: str, build: Callable[[Path], None]) -> Model:
    """Entries are called <key>-<sha256 of the file>.fvm, so one rename publishes both."""
    if (found := _find(folder, key)) is not None:
        return found
    with lock(folder / ".lock"):
        if (found := _find(folder, key)) is not None:
            return found
        temporary = folder / f".{key}-{os.getpid()}.fvm"
        try:
            build(temporary)
            final = folder / f"{key}-{sha256_file(temporary)}.fvm"
            temporary.replace(final)
        finally:
            temporary.unlink(missing_ok=True)
        trim(folder, "*.fvm", _CACHE_BYTES, keep=final)
        return _open(final)


def _find(folder: Path, key: str) -> Model | None:
    for path in folder.glob(f"{key}-*.fvm"):
        try:
            if sha256_file(path) == path.stem.rpartition("-")[2]:
                with contextlib.suppress(OSError):
                    os.utime(path)  # used now: others make room first
                return _open(path)
            reason = "its contents changed"
        except FileNotFoundError:  # another process made room
            continue
        except (OSError, FovealError) as error:
            reason = getattr(error, "message", str(error))
        log.warning("%s: damaged (%s), importing the model again", path, reason)
        path.unlink(missing_ok=True)
    return None


@functools.cache
def _converter() -> str:
    """Identifies the code whose result the cache keeps: any change of it makes new entries."""
    import foveal

    digest = hashlib.sha256(foveal.__version__.encode())
    root = Path(__file__).parent
    folders = ("convert", "optimize", "recipes")
    files = [root / "graph.py", *(f for name in folders for f in root.glob(f"{name}/**/*.py"))]
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()
