"""Every function of the C headers with NULL, for everything and for each pointer by itself, and
with negative numbers.

An error with a text or a plain answer is right; each call has a process of its own.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

foveal = pytest.importorskip("foveal")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# Behind every pointer that is given and no handle.
_zeros = ctypes.create_string_buffer(1 << 16)
ZEROS = ctypes.addressof(_zeros)

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(foveal.__file__).parent
HEADERS = {
    "libfoveal.so": ROOT / "sdk_core/include/foveal/foveal.h",
    "libfoveal_imgproc.so": ROOT / "imgproc/include/foveal/imgproc.h",
}
SPECS = {
    "fv_image_spec": b'{"size":[8,8]}',
    "fv_roi_rule": b'{"roi":1,"hull":"box","scale":[1.5,1.5],"square":"long"}',
    "fv_decoder": b'{"decoder":1,"kind":"mask","output":"o","channel":0,"layout":"nchw"}',
}


class Tensor(ctypes.Structure):
    """fv_tensor: a description of a float32 tensor with open dimensions."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32), ("abi_major", ctypes.c_uint16),
        ("abi_minor", ctypes.c_uint16), ("name", ctypes.c_char_p), ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
        ("dims", ctypes.c_int64 * 8), ("layout", ctypes.c_int32 * 2),
    )  # fmt: skip


class Function:
    def __init__(self, library: str, result: str, name: str, arguments: str) -> None:
        self.library, self.name = library, name
        self.gives_error = "fv_status*" in result and name != "fv_status_new"
        listed = re.split(r",(?![^()]*\))", arguments)
        self.arguments = [] if arguments.strip() == "void" else [a.strip() for a in listed]

    def is_pointer(self, i: int) -> bool:
        a = self.arguments[i]
        return any(mark in a for mark in ("*", "[", "fv_task ", "fv_log_sink "))


def functions() -> Iterator[Function]:
    for library, header in HEADERS.items():
        text = re.sub(r"/\*.*?\*/", "", header.read_text("utf-8"), flags=re.DOTALL)
        pattern = r"FV_(?:IMAGE_)?API\s+([\w\s]+?[\s*]+)(\w+)\(((?:[^()]|\([^()]*\))*)\);"
        for result, name, arguments in re.findall(pattern, text):
            yield Function(library, result, name, arguments)


FUNCTIONS = list(functions())


def load(name: str) -> Any:
    if not (FOLDER / name).exists():
        pytest.skip(f"no {name} beside the package")
    return ctypes.CDLL(str(FOLDER / name), mode=ctypes.RTLD_GLOBAL)


@pytest.fixture(scope="module")
def handles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """One valid object of every type that the functions take by handle."""
    core, image = load("libfoveal.so"), load("libfoveal_imgproc.so")
    graph = foveal.Graph()
    graph.outputs.append(graph.add("relu", [graph.input("x", "float32", [1, 3])]))
    path = tmp_path_factory.mktemp("c") / "m.fvm"
    graph.save(path)
    made: dict[str, int] = {}

    def make(kind: str, function: Any, *arguments: Any) -> None:
        out = ctypes.c_void_p()
        function.restype = ctypes.c_void_p
        assert function(*arguments, ctypes.byref(out)) is None, kind
        assert out.value
        made[kind] = out.value

    core.fv_plugin_add.restype = ctypes.c_void_p
    assert core.fv_plugin_add(os.fsencode(FOLDER / "foveal_plugin_cpu.so")) is None
    made["fv_status"] = core.fv_plugin_add(None)
    assert made["fv_status"]
    make("fv_model", core.fv_model_open, os.fsencode(path))
    make("fv_session", core.fv_session_new, ctypes.c_void_p(made["fv_model"]), None)
    make("fv_graph", core.fv_graph_from_model, ctypes.c_void_p(made["fv_model"]))
    make("fv_pool", core.fv_pool_new, ctypes.c_int32(1))
    for kind, text in SPECS.items():
        make(kind, getattr(image, f"{kind}_from_json"), text, ctypes.c_size_t(len(text)))
    tensor = Tensor(ctypes.sizeof(Tensor), 1, 0, rank=4, dtype=1, dims=(-1,) * 8)
    make("fv_image_plan", image.fv_image_plan_create, ctypes.c_void_p(made["fv_image_spec"]),
         ctypes.byref(tensor), ctypes.c_int32(0))  # fmt: skip
    return made


def survives(call: Callable[[], None]) -> str | None:
    """What killed a process that makes the call; None: nothing."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            call()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return f"wait status {status}" if status else None


def call(f: Function, arguments: list[Any]) -> None:
    function = getattr(load(f.library), f.name)
    function.restype = ctypes.c_void_p
    result = function(*arguments)
    if f.gives_error and result is not None:
        core = load("libfoveal.so")
        core.fv_status_text.restype = ctypes.c_char_p
        assert core.fv_status_text(ctypes.c_void_p(result))
        assert core.fv_status_code(ctypes.c_void_p(result)) in range(1, 12)  # none of ours


def test_headers_are_read() -> None:
    names = {f.name for f in FUNCTIONS}
    assert {"fv_version", "fv_plugin_add_static", "fv_image_plan_run", "fv_draw_text"} <= names
    for library, header in HEADERS.items():
        found = sum(f.library == library for f in FUNCTIONS)
        assert found == len(re.findall(r"^FV_(?:IMAGE_)?API ", header.read_text("utf-8"), re.M))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_nonsense(f: Function, handles: dict[str, int]) -> None:
    def value(i: int, given: bool, number: int) -> Any:
        a = f.arguments[i]
        if f.is_pointer(i):
            kind = re.sub(r"const |\*.*", "", a).strip()
            return ctypes.c_void_p(handles.get(kind, ZEROS) if given else None)
        if "double" in a:
            return ctypes.c_double(number if number == 0 else float("nan"))
        return ctypes.c_uint64(0) if "size_t" in a or "64" in a else ctypes.c_int32(number)

    def check(what: str, given: Callable[[int], bool], number: int = 0) -> None:
        arguments = [value(i, given(i), number) for i in range(len(f.arguments))]
        problem = survives(lambda: call(f, arguments))
        assert problem is None, f"{f.name} with {what}: {problem}"

    check("NULL for everything", lambda i: False)
    if f.name in ("fv_parallel_for", "fv_plugin_add_static"):
        return  # zeros are no function
    for missing in filter(f.is_pointer, range(len(f.arguments))):
        check(f"NULL for {f.arguments[missing]}", lambda i, missing=missing: i != missing)
    for number in (-1, -(2**31)):
        check(f"numbers of {number}", lambda i: True, number)
