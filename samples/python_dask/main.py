"""Finds things in all pictures of a folder, on all workers of a Dask cluster (or this machine).

python main.py FOLDER [MODEL]
"""

import sys
from pathlib import Path

import dask.bag
import dask.dataframe
import foveal as fv
import pandas as pd


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python main.py FOLDER [MODEL]")
    folder, model = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "face"
    paths = sorted(str(p) for p in folder.iterdir() if p.suffix.lower() in (".png", ".jpg"))
    task = fv.vision.task(model, threads=1)

    # Lists of pictures: a bag of results.
    results = dask.bag.from_sequence(paths, partition_size=8).map_partitions(task)
    for path, found in zip(paths, results.compute(scheduler="threads"), strict=True):
        print(path, task.plain(found))

    # Tables: the column "image" (paths here), and a new column "results".
    table = dask.dataframe.from_pandas(pd.DataFrame({"image": paths}), npartitions=2)
    table = table.map_partitions(task, meta={"image": "object", "results": "object"})
    print(table.compute(scheduler="threads"))


if __name__ == "__main__":
    try:
        main()
    except (fv.FovealError, OSError) as error:
        sys.exit(f"error: {error}")
