"""Finds things in all pictures of a folder, on all workers of a Ray cluster (or this machine).

python main.py FOLDER [MODEL]
"""

import sys

import foveal as fv
import ray


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python main.py FOLDER [MODEL]")
    folder, model = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "face"

    pictures = ray.data.read_images(folder, mode="RGB", include_paths=True)
    found = pictures.map_batches(
        fv.vision.task_class(model),  # Detector, Classifier, Landmarker, Segmenter or TextReader
        fn_constructor_kwargs={"model": model, "threads": 1},
        concurrency=(1, 8),  # actors; at least one CPU must be left to read the pictures
        batch_size=8,
    )
    for row in sorted(found.take_all(), key=lambda row: row["path"]):
        print(row["path"], row["results"])


if __name__ == "__main__":
    try:
        main()
    except (fv.FovealError, OSError) as error:
        sys.exit(f"error: {error}")
