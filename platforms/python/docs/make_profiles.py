"""Makes the pictures of image_profiles.md and of the pipeline, and prints the table of mistakes.

python platforms/python/docs/make_profiles.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import foveal as fv
import numpy as np
from foveal.image import Bilinear, Letterbox, Nearest, Norm, Pipeline
from PIL import Image, ImageDraw, ImageFont

PICTURES = Path(__file__).parent / "pictures"
TILE, GAP, LINE = 190, 10, 20  # pixels: side of a tile, space, a line of text
SMALL = (140, 94)  # the photo reduced 3.2 times
PART = (52, 22, 92, 62)  # of it, shown
SEEN = Pipeline(
    size=SMALL, sample=Bilinear(antialias=True), profile="pillow", intermediate="u8"
)  # what the model was trained with


def tensor(spec: Pipeline, frame: fv.Frame) -> np.ndarray:
    """uint8 [height, width, 3]."""
    return spec.compile(dtype="uint8", layout="nhwc")(frame)[0][0]


def mistakes(photo: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """What a model was trained with, what is fed instead: name, and both tensors."""
    frame = fv.Frame.from_numpy(photo)
    height, width = (side // 2 * 2 for side in photo.shape[:2])
    nv12 = _nv12(photo[:height, :width])

    def camera(color: str) -> fv.Frame:
        return fv.Frame.from_buffer(nv12, "nv12", width, height, color=color)

    exact = replace(SEEN, profile="exact", sample=Bilinear())
    seen = tensor(SEEN, frame)
    return [
        ("cv2 for Pillow", seen, tensor(replace(exact, profile="cv2"), frame)),
        ("Pillow for cv2, when enlarging", *_enlarged(frame)),
        ("nearest for Pillow", seen, tensor(replace(exact, sample=Nearest()), frame)),
        (
            "corners aligned for half-pixel centres (both bilinear)", tensor(exact, frame),
            tensor(replace(exact, sample=Bilinear(grid="align_corners")), frame),
        ),
        ("BGR for RGB", seen, seen[..., ::-1]),
        (
            "a full-range camera frame taken as limited range",
            tensor(exact, camera("bt601-full")), tensor(exact, camera("bt601-limited")),
        ),
        (
            "BT.709 for BT.601",
            tensor(exact, camera("bt601-full")), tensor(exact, camera("bt709-full")),
        ),
        (
            "stretched instead of letterboxed",
            tensor(replace(SEEN, size=(128, 128), fit=Letterbox(pad=114)), frame),
            tensor(replace(SEEN, size=(128, 128)), frame),
        ),
    ]  # fmt: skip


def _enlarged(frame: fv.Frame) -> tuple[np.ndarray, np.ndarray]:
    size = (frame.width * 3 // 2, frame.height * 3 // 2)
    cv2 = replace(SEEN, size=size, profile="cv2", sample=Bilinear())
    return tensor(cv2, frame), tensor(replace(SEEN, size=size), frame)


def _nv12(rgb: np.ndarray) -> np.ndarray:
    """BT.601 full range, chroma the mean of four."""
    r, g, b = np.moveaxis(rgb.astype(np.float64), -1, 0)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    chroma = np.stack([(b - y) / 1.772 + 128, (r - y) / 1.402 + 128], -1)
    height, width = y.shape
    chroma = chroma.reshape(height // 2, 2, width // 2, 2, 2).mean((1, 3))
    planes = np.concatenate([y.reshape(height, width), chroma.reshape(height // 2, width)])
    return np.clip(np.rint(planes), 0, 255).astype(np.uint8)


def difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(a.astype(int) - b.astype(int))


def profiles(photo: np.ndarray) -> Image.Image:
    """Photo, what the model saw, and three others, with their differences below."""
    frame = fv.Frame.from_numpy(photo)
    exact = replace(SEEN, profile="exact", sample=Bilinear())
    seen = tensor(SEEN, frame)
    others = {
        "cv2.resize": tensor(replace(exact, profile="cv2"), frame),
        "nearest": tensor(replace(exact, sample=Nearest()), frame),
        "align_corners": tensor(replace(exact, sample=Bilinear(grid="align_corners")), frame),
    }
    scale = photo.shape[1] / SMALL[0]
    part = tuple(round(v * scale) for v in PART)
    top = [("photo", photo, part), ("Pillow: trained on", seen, PART)]
    top += [(name, pixels, PART) for name, pixels in others.items()]
    sheet = Image.new("RGB", (len(top) * (TILE + GAP) - GAP, 2 * (TILE + LINE)), "white")
    for column, (name, pixels, box) in enumerate(top):
        _put(sheet, column, 0, name, Image.fromarray(pixels).crop(box))
    for column, (_, pixels) in enumerate(others.items(), 2):
        apart = difference(pixels, seen)
        shown = Image.fromarray(np.minimum(4 * apart, 255).astype(np.uint8)).crop(PART)
        _put(sheet, column, 1, f"mean {apart.mean():.1f}, up to {apart.max()}", shown)
    return sheet


def _put(sheet: Image.Image, column: int, row: int, name: str, picture: Image.Image) -> None:
    x, y = column * (TILE + GAP), row * (TILE + LINE)
    sheet.paste(picture.resize((TILE, TILE), Image.Resampling.NEAREST), (x, y + LINE))
    font = ImageFont.load_default(14)
    ImageDraw.Draw(sheet).text((x + 2, y + 1), name, "black", font)


def stages(photo: Image.Image) -> Image.Image:
    """A camera's frame, what the model sees of it, and what it found, back in the frame."""
    upright = photo.resize((288, 288), Image.Resampling.LANCZOS).crop((24, 0, 264, 288))
    sensor = np.rot90(np.asarray(upright)).copy()  # a phone held upright: its sensor lies
    frame = fv.Frame.from_numpy(sensor, rotation=90)
    spec = Pipeline(size=(128, 128), fit=Letterbox(pad=114), norm=Norm(scale=1 / 255))
    values, transform = spec.compile()(frame)
    face = fv.vision.Detector("face")
    found = face(frame)
    shown = face.draw(frame)
    planes = [Image.fromarray(np.rint(255 * plane).astype(np.uint8)) for plane in values[0]]
    corners = transform.to_frame([[0, 0, 128, 128]])[0]
    steps: list[tuple[str, Sequence[Image.Image]]] = [
        ("frame: sensor order, rotation 90", [Image.fromarray(sensor)]),
        ("tensor [1, 3, 128, 128]: one pass", planes),
        (f"{len(found)} box, upright frame pixels", [shown]),
    ]
    height, arrow = 200, 40
    tiles = [(name, _row(pictures, height)) for name, pictures in steps]
    width = sum(tile.width for _, tile in tiles) + arrow * (len(tiles) - 1)
    sheet = Image.new("RGB", (width, height + 2 * LINE), "white")
    draw, font, x = ImageDraw.Draw(sheet), ImageFont.load_default(14), 0
    for index, (name, tile) in enumerate(tiles):
        draw.text((x + 2, 1), name, "black", font)
        sheet.paste(tile, (x, LINE))
        x += tile.width
        if index + 1 < len(tiles):
            middle = LINE + height // 2
            draw.line((x + 6, middle, x + arrow - 8, middle), "black", 3)
            tip = x + arrow - 6
            draw.polygon([(tip, middle), (tip - 9, middle - 6), (tip - 9, middle + 6)], "black")
            x += arrow
    note = "orient, region, letterbox, sample, colour, normalise, pack; the transform leads back"
    draw.text((2, LINE + height + 2), note, "black", font)
    assert corners[0] < 0  # the letterbox reaches beyond the frame
    return sheet


def _row(pictures: Sequence[Image.Image], height: int) -> Image.Image:
    """Side by side; several are stepped, as the planes of a tensor."""
    first = pictures[0]
    step = 14 if len(pictures) > 1 else 0
    side = height - step * (len(pictures) - 1)
    width = round(first.width * side / first.height)
    sheet = Image.new("RGB", (width + step * (len(pictures) - 1), height), "white")
    for index, picture in enumerate(pictures):
        small = picture.convert("RGB").resize((width, side), Image.Resampling.LANCZOS)
        sheet.paste(small, (index * step, index * step))
    return sheet


def main() -> None:
    """Writes the pictures, prints the table."""
    PICTURES.mkdir(exist_ok=True)
    photo = np.asarray(Image.open(fv.zoo.photo("chelsea")).convert("RGB"))
    palette = profiles(photo).quantize(128, dither=Image.Dither.NONE)
    palette.save(PICTURES / "profiles.png", optimize=True)
    astronaut = Image.open(fv.zoo.photo("astronaut")).convert("RGB")
    stages(astronaut).quantize(128).save(PICTURES / "pipeline.png", optimize=True)
    print("| mistake | mean | largest |\n|---|---|---|")
    for name, right, wrong in mistakes(photo):
        apart = difference(right, wrong)
        print(f"| {name} | {apart.mean():.1f} | {apart.max()} |")


if __name__ == "__main__":
    main()
