"""What `cmake --install` gives: built with it both ways, the C sample finds what Python finds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import foveal as fv
import numpy as np
import pytest
from foveal import _core, cli

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "samples" / "c"
# The tree in which `make test` built; FOVEAL_BUILD names another.
BUILD = Path(os.environ.get("FOVEAL_BUILD", ROOT / "build" / "dev"))


def tool(name: str) -> str | None:
    """A program of this environment, whether or not it is activated, or of the system."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which(name, path=path)


CMAKE, PKG_CONFIG = tool("cmake"), tool("pkg-config")
needs_pkg_config = pytest.mark.skipif(PKG_CONFIG is None, reason="needs pkg-config")
pytestmark = [
    pytest.mark.skipif(CMAKE is None or shutil.which("gcc") is None, reason="needs cmake and gcc"),
    pytest.mark.skipif(
        not (BUILD / "cmake_install.cmake").is_file(),
        reason="no build tree: run make, or name one in FOVEAL_BUILD",
    ),
]


def call(*command: object, **options: object) -> str:
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation, moved after the fact: nothing in it may know where it was made."""
    folder = tmp_path_factory.mktemp("install")
    call(CMAKE, "--install", BUILD, "--component", "sdk", "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved here")


@pytest.fixture(scope="session")
def by_cmake(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("cmake")
    call(
        CMAKE, "-S", SAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_C_FLAGS=-Werror", "-DCMAKE_BUILD_TYPE=Release",
    )  # fmt: skip
    call(CMAKE, "--build", build)
    return build / "face"


def make(prefix: Path, folder: Path, flags: str) -> Path:
    folder = Path(shutil.copytree(SAMPLE, folder / "c"))
    call(
        "make", "-C", folder, f"PKG_CONFIG={PKG_CONFIG}", f"CFLAGS={flags}",
        env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")},
    )  # fmt: skip
    return folder / "face"


@pytest.fixture(scope="session")
def sanitized(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the Makefile; ends with an error if it leaks or misuses memory."""
    flags = "-g -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
    return make(prefix, tmp_path_factory.mktemp("make"), flags)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "face.fvm"
    assert cli.main(["convert", "face", str(path)]) == 0
    return path


def write_ppm(path: Path, pixels: np.ndarray) -> Path:
    height, width, _ = pixels.shape
    path.write_bytes(b"P6\n# a comment\n%d %d\n255\n" % (width, height) + pixels.tobytes())
    return path


@pytest.fixture(scope="session")
def pixels() -> np.ndarray:
    from PIL import Image

    with Image.open(fv.zoo.photo("astronaut")) as image:
        return np.asarray(image.convert("RGB"))


@pytest.fixture(scope="session")
def picture(pixels: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_ppm(tmp_path_factory.mktemp("picture") / "astronaut.ppm", pixels)


def without_plugins() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("FOVEAL_")}


def check(lines: str, pixels: np.ndarray, model: str = "face") -> None:
    """The sample's lines are what the Python detector finds, to the last printed digit."""
    found = [[float(x) for x in line.split()] for line in lines.splitlines()]
    expected = fv.vision.Detector(model).detect(pixels)
    assert len(found) == len(expected) > 0
    for row, detection in zip(found, expected, strict=True):
        assert row[0] == 0
        assert row[1] == pytest.approx(detection.score, abs=1e-6)
        assert row[2:] == pytest.approx(detection.box, abs=1e-4)


def test_headers_and_libraries(prefix: Path) -> None:
    headers = {p.name for p in (prefix / "include" / "foveal").iterdir()}
    assert headers == {"foveal.h", "foveal.hpp", "imgproc.h", "plugin.h", "types.h"}
    files = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if p.is_file()}
    assert {
        "lib/libfoveal.so",
        "lib/libfoveal_imgproc.so",
        "lib/foveal/plugins/foveal_plugin_cpu.so",
        "lib/cmake/foveal/fovealConfig.cmake",
        "lib/cmake/foveal/fovealConfigVersion.cmake",
        "lib/pkgconfig/foveal.pc",
        "lib/pkgconfig/foveal_imgproc.pc",
    } <= files
    assert not [f for f in files if f.endswith((".py", ".pyi"))]


def test_no_file_names_the_place_it_was_made(prefix: Path) -> None:
    for path in [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]:
        text = path.read_text()
        assert "/first" not in text and str(BUILD) not in text and str(ROOT) not in text, path


def test_cmake(by_cmake: Path, model: Path, picture: Path, pixels: np.ndarray) -> None:
    check(call(by_cmake, model, picture, env=without_plugins()), pixels)


@needs_pkg_config
def test_model_with_open_sizes(
    sanitized: Path, picture: Path, pixels: np.ndarray, tmp_path: Path
) -> None:
    assert cli.main(["convert", "face-center", str(tmp_path / "center.fvm")]) == 0
    (shape,) = [i.shape for i in fv.load(tmp_path / "center.fvm").inputs]
    assert any(not isinstance(d, int) or d < 0 for d in shape)
    lines = call(sanitized, tmp_path / "center.fvm", picture, env=without_plugins())
    check(lines, pixels, "face-center")


@needs_pkg_config
def test_points_of_five_values(sanitized: Path, picture: Path, tmp_path: Path) -> None:
    """Landmarks have more than x and y: room for all of them, and nothing beside it."""
    decoder = {**json.loads(fv.load("face-mesh").meta["decoder"]), "min_score": 0.0}
    (tmp_path / "decoder.json").write_text(json.dumps(decoder))
    options = ["--decoder", str(tmp_path / "decoder.json")]
    assert cli.main(["convert", "face-mesh", str(tmp_path / "mesh.fvm"), *options]) == 0
    files = (tmp_path / "mesh.fvm", picture, tmp_path / "out.ppm")
    (line,) = call(sanitized, *files, env=without_plugins()).splitlines()
    assert line.startswith("0 0.")


def test_newer_version_is_refused(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(foveal 0.2 REQUIRED)\n"
    )
    done = subprocess.run(
        [str(CMAKE), "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "0.1.0" in done.stderr


@needs_pkg_config
def test_makefile(
    sanitized: Path, model: Path, picture: Path, pixels: np.ndarray, tmp_path: Path
) -> None:
    annotated = tmp_path / "annotated.ppm"
    check(call(sanitized, model, picture, annotated, env=without_plugins()), pixels)
    head, body = annotated.read_bytes().split(b"255\n", 1)
    height, width, _ = pixels.shape
    assert head == b"P6\n%d %d\n" % (width, height)
    drawn = np.frombuffer(body, np.uint8).reshape(pixels.shape)
    changed = (drawn != pixels).any(axis=2)
    x0, y0, _, y1 = fv.vision.Detector("face").detect(pixels)[0].box
    assert changed.any()
    assert changed[int(y0) : int(y1), round(x0)].mean() > 0.9  # the left edge of the box


BAD_PICTURES = {
    "no PPM": (b"\x89PNG....", "is not a binary PPM picture"),
    "empty": (b"", "is not a binary PPM picture"),
    "no size": (b"P6\n", "header says -1 x -1"),
    "16 bits": (b"P6 2 2 65535 " + bytes(24), "largest value"),
    "negative": (b"P6 -2 2 255 " + bytes(12), "header says -1"),
    "huge": (b"P6 99999999999 2 255 " + bytes(12), "expected sides of 1 to 32768"),
    "cut": (b"P6 2 2 255 " + bytes(11), "ends before its last pixel"),
}


def fails(program: Path, *arguments: object) -> str:
    done = subprocess.run(
        [program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=without_plugins(),
    )
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


@needs_pkg_config
@pytest.mark.parametrize("name", BAD_PICTURES)
def test_bad_pictures(sanitized: Path, model: Path, tmp_path: Path, name: str) -> None:
    content, text = BAD_PICTURES[name]
    path = tmp_path / "bad.ppm"
    path.write_bytes(content)
    assert text in fails(sanitized, model, path)


@needs_pkg_config
def test_bad_models(sanitized: Path, model: Path, picture: Path, tmp_path: Path) -> None:
    assert "cannot open" in fails(sanitized, tmp_path / "none.fvm", picture)
    assert "cannot open" in fails(sanitized, model, tmp_path / "none.ppm")
    assert "foveal" in fails(sanitized, picture, picture)
    cut = tmp_path / "cut.fvm"
    cut.write_bytes(model.read_bytes()[:-1000])
    assert fails(sanitized, cut, picture)
    graph = _core.GraphBuilder()
    x = graph.add_value("x", "float32", [1, 3, 8, 8], [])
    y = graph.add_value("y", "float32", [1, 3, 8, 8], [])
    graph.add_node("relu", "relu", [x], [y], {})
    graph.set_io([x], [y])
    graph.save(str(tmp_path / "bare.fvm"))
    assert "carries no pipeline" in fails(sanitized, tmp_path / "bare.fvm", picture)
    assert "cannot write" in fails(sanitized, model, picture, tmp_path / "no" / "folder.ppm")
