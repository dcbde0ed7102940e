"""Makes the pictures of the README with the product itself.

    python platforms/python/docs/make_pictures.py

Fetches the models and photos that it needs. The profile's page is photographed by hand:
`foveal profile objects --html page.html`, then a headless browser's screenshot.
"""

from __future__ import annotations

from pathlib import Path

import foveal as fv
from PIL import Image

PICTURES = Path(__file__).parent / "pictures"
HEIGHT = 200  # pixels

# name of the picture: model, photo, part of it that is shown (None: all)
GALLERY = {
    "detector": ("objects", "chelsea", None),
    "face": ("face", "astronaut", (100, 10, 340, 250)),
    "face-mesh": ("face-mesh", "astronaut", (145, 40, 305, 200)),
    "iris": ("iris", "astronaut", (175, 65, 275, 140)),
    "pose": ("pose", "astronaut", None),
    "selfie": ("selfie", "astronaut", None),
    "text": ("text", "page", None),
}


def main() -> None:
    """Writes one JPEG per entry and the memory plan."""
    PICTURES.mkdir(exist_ok=True)
    for name, (model, photo, part) in GALLERY.items():
        picture = Image.open(fv.zoo.photo(photo)).convert("RGB")
        scale = 1
        if part:  # drawn at twice the size, so that lines are fine
            scale = 4
            picture = picture.crop(part).resize(
                ((part[2] - part[0]) * scale, (part[3] - part[1]) * scale), Image.Resampling.LANCZOS
            )
        task = fv.vision.task(model)
        drawn = task.draw(picture)
        width = round(drawn.width * HEIGHT / drawn.height)
        small = drawn.resize((width, HEIGHT), Image.Resampling.LANCZOS)
        small.save(PICTURES / f"{name}.jpg", quality=82, optimize=True)


if __name__ == "__main__":
    main()
