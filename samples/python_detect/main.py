"""Finds things in a picture and saves it with boxes drawn in.

python main.py                       # the zoo's astronaut, faces
python main.py photo.jpg objects     # your picture, another zoo model or a file
"""

import sys
from pathlib import Path

import foveal as fv


def main() -> None:
    photo = sys.argv[1] if len(sys.argv) > 1 else fv.zoo.photo("astronaut")
    model = sys.argv[2] if len(sys.argv) > 2 else "face"

    detector = fv.vision.Detector(model, threads=2)
    found = detector.detect(photo)
    for detection in found:
        print(detection)
    print(", ".join(f"{step} {ms:.1f} ms" for step, ms in detector.timings.items()))

    target = Path(f"{Path(photo).stem}-detected.png")
    detector.draw(photo, found).save(target)
    print(f"annotated picture: {target.resolve()}")


if __name__ == "__main__":
    try:
        main()
    except fv.FovealError as error:
        sys.exit(f"error: {error}\n{error.hint}")
