"""Tasks inside Ray Data and Dask on one machine: the results are those of a plain call."""

import subprocess
import sys
from pathlib import Path

import foveal as fv
import pytest
from PIL import Image

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="module")
def pictures(photo, tmp_path_factory):
    """A folder of pictures and the plain results of each path."""
    folder = tmp_path_factory.mktemp("pictures")
    for i, name in enumerate(("astronaut", "chelsea", "astronaut", "coffee")):
        pixels = photo(name)
        Image.fromarray(pixels[: pixels.shape[0] - 9 * i]).save(folder / f"{i}.png")
    face = fv.vision.Detector("face", threads=1)
    paths = sorted(str(p) for p in folder.iterdir())
    return folder, {path: face.plain(face.detect(path)) for path in paths}


def run(sample, folder):
    done = subprocess.run(
        [sys.executable, SAMPLES / sample / "main.py", str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_dask(pictures):
    bag = pytest.importorskip("dask.bag")
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    folder, expected = pictures
    face = fv.vision.Detector("face", threads=1)
    found = bag.from_sequence(list(expected), partition_size=3).map_partitions(face)
    for scheduler in ("threads", "processes"):
        results = found.compute(scheduler=scheduler)
        assert [face.plain(r) for r in results] == list(expected.values())
    table = frames.from_pandas(pandas.DataFrame({"image": list(expected), "id": 7}), npartitions=2)
    meta = {"image": "object", "id": "int64", "results": "object"}
    done = table.map_partitions(face, meta=meta).compute(scheduler="threads")
    assert list(done["results"]) == list(expected.values()) and list(done["image"]) == [*expected]
    lines = run("python_dask", folder)
    assert lines[: len(expected)] == [f"{path} {found}" for path, found in expected.items()]


@pytest.mark.slow
def test_ray(pictures):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    folder, expected = pictures
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        read = ray.data.read_images(str(folder), mode="RGB", include_paths=True)
        arguments = {"fn_constructor_args": ("face",), "concurrency": 1, "batch_size": 3}
        face = fv.vision.Detector("face", threads=1)
        paths = ray.data.from_items([{"image": path} for path in expected])
        for rows in (
            read.map_batches(fv.vision.Detector, **arguments).take_all(),
            read.map_batches(face, batch_size=2).take_all(),
            paths.map_batches(face).take_all(),
        ):
            assert {r.get("path", r.get("image")): r["results"] for r in rows} == expected
    finally:
        ray.shutdown()
    lines = run("python_ray", folder)
    assert [line for line in lines if line.startswith(str(folder))] == [
        f"{path} {found}" for path, found in expected.items()
    ]
