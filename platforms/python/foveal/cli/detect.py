"""`foveal detect IMAGE...`, and VIDEO"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foveal.cli import _results, _video, console, options
from foveal.errors import ArgumentError, FovealError, NotFoundError

if TYPE_CHECKING:
    from foveal.vision import Task

NAME = "detect"
HELP = "find faces, things, landmarks, masks or text in pictures and videos"

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")


def configure(parser: argparse.ArgumentParser) -> None:
    """Images, model, device and where the results go."""
    parser.add_argument(
        "images",
        nargs="*",
        metavar="IMAGE",
        help="picture files, or folders of them; or one video file, stream or camera number",
    )
    parser.add_argument(
        "--model",
        default="face",
        help="zoo name or model file with a pipeline and a decoder, which say what is looked for "
        "(default: face)",
    )
    options.add_device(parser)
    parser.add_argument(
        "--min-score", type=options.fraction, metavar="S", help="drop what scores below S (0..1)"
    )
    parser.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help="write JSON to FILE.json, or with no FILE to stdout and nothing else there; "
        "of a video, one line per frame (FILE.jsonl)",
    )
    parser.add_argument(
        "--out",
        metavar="PATH",
        help="annotated picture (a file), or a folder for several "
        "(default: NAME-detected.png here; none with --json), or annotated video",
    )
    _video.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Detects in every image. A bad image among several is reported and the others still done."""
    images = _images(args)
    if args.json not in (None, "-"):
        options.check_output("--json", args.json, images)
    if _video.is_video(args, images):
        return _video.run_video(args, images, lambda: _task(args))
    if not images:
        args.parser.error("the following arguments are required: IMAGE")
    several = len(images) > 1 or Path(images[0]).is_dir()
    images = [picture for image in images for picture in _pictures(image)]
    from foveal import progress

    outputs = _outputs(images, args.out, pictures=bool(args.out) or not args.json)
    task = _task(args)
    to_stdout = args.json == "-"
    results: list[dict[str, Any]] = []
    failed = 0
    for path, output in zip(images, outputs, strict=True):
        try:
            with progress.show(f"looking at {path}"):
                result, found, frame = _look(task, path)
            if output is not None:
                _save(task.draw(frame, found), output)
        except (FovealError, OSError) as error:
            if not several:
                raise
            failed += 1
            console.error(*console.describe(error))
            continue
        results.append(result)
        if not args.json:
            _print(task.kind, result, output)
        elif output is not None:
            console.note(f"annotated picture: {output}")
    if args.json:
        data = results if several else results[0]
        if to_stdout:
            console.print_json(data)
        else:
            from foveal.cache import write_text

            write_text(args.json, console.as_json(data) + "\n")
            console.note(f"results: {args.json}")
    return 2 if failed else 0


def _task(args: argparse.Namespace) -> Task:
    from foveal import progress, vision

    with progress.show(f"loading {args.model}"):
        return vision.task(
            args.model,
            device=options.device(args),
            threads=args.threads or 0,
            min_score=args.min_score,
        )


def _images(args: argparse.Namespace) -> list[str]:
    """The images in the order typed. `--json a.png` means stdout and one more image: a picture must
    never be overwritten by results."""
    images: list[str] = args.images
    if args.json not in (None, "-") and not args.json.lower().endswith((".json", ".jsonl")):
        images = sorted([args.json, *images], key=args.arguments.index)
        args.json = "-"
    return images


def _outputs(images: list[str], out: str | None, *, pictures: bool) -> list[Path | None]:
    """One picture path per image; names that collide, also with a picture to read, get a number."""
    if not pictures:
        return [None] * len(images)
    target = Path(out) if out else Path()
    as_file = out and not target.is_dir() and not out.endswith(("/", os.sep)) and target.suffix
    if as_file and len(images) > 1:
        raise ArgumentError(
            f"--out: {len(images)} images cannot go into one file '{out}'", hint="name a folder"
        )
    if as_file:
        if target.suffix.lower() not in _SUFFIXES:
            raise ArgumentError(
                f"--out: no picture format for '{target.name}'",
                hint=f"end it with {', '.join(_SUFFIXES)}, or with / for a folder",
            )
        options.refuse_input("--out", target, images)
        return [target]
    taken = {os.path.realpath(image) for image in images}
    outputs: list[Path | None] = []
    for image in images:
        stem, number = f"{Path(image).stem}-detected", 1
        output = target / f"{stem}.png"
        while os.path.realpath(output) in taken:
            number += 1
            output = target / f"{stem}-{number}.png"
        taken.add(os.path.realpath(output))
        outputs.append(output)
    return outputs


def _pictures(path: str) -> list[str]:
    """The pictures of a folder by name, or what is no folder itself."""
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    found = sorted(str(p) for p in folder.iterdir() if p.suffix.lower() in _SUFFIXES)
    if not found:
        raise NotFoundError(
            f"{path}: the folder has no pictures", hint=f"their names end in {', '.join(_SUFFIXES)}"
        )
    return found


def _look(task: Task, path: str) -> tuple[dict[str, Any], Any, Any]:
    from foveal.vision import open_image

    frame = open_image(path)
    found = task(frame)
    result = {
        "image": path,
        "size": list(frame.upright_size),
        _results.KEYS[task.kind]: task.plain(found),
        "timing_ms": {step: round(ms, 3) for step, ms in task.timings.items()},
    }
    return result, found, frame


def _save(picture: Any, path: Path) -> None:
    from foveal.cache import atomic_path, output_dir

    output_dir(path.parent)
    with atomic_path(path) as temporary:
        picture.save(temporary)


def _print(kind: str, result: dict[str, Any], output: Path | None) -> None:
    width, height = result["size"]
    found = result[_results.KEYS[kind]]
    console.title(f"{result['image']}  {width} x {height}: {_results.summary(kind, found)}")
    _results.show(kind, found)
    times = ", ".join(f"{name} {ms:.1f} ms" for name, ms in result["timing_ms"].items())
    print(console.paint(times, "2"))
    if output is not None:
        print(f"annotated picture: {output}")
