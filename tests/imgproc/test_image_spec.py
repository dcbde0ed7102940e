"""Pipeline specifications: strict, canonical, stable."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import pickle
from typing import Any

import numpy as np
import pytest
from foveal import image
from foveal.errors import SpecError
from foveal.image import (
    Area,
    Bicubic,
    Bilinear,
    Constant,
    ConstantHard,
    Cover,
    Lanczos3,
    Letterbox,
    Matrix,
    Nearest,
    Norm,
    Pipeline,
    Reflect101,
    Replicate,
    Sides,
    Stretch,
    Strip,
    Yuv,
)

GOOD = {"imgproc": 1, "size": [320, 240]}

BAD: list[tuple[str, Any]] = [
    ('unknown key "sizes"', {**GOOD, "sizes": 1}),
    ('"size" is missing', {"imgproc": 1}),
    ('"imgproc"', {**GOOD, "imgproc": 2}),
    ('"imgproc"', {**GOOD, "imgproc": "1"}),
    ('"size"', {"size": 320}),
    ('"size"', {"size": [320]}),
    ('"size"', {"size": [320, 0]}),
    ('"size"', {"size": [320, 2**31]}),
    ('"size"', {"size": [320, 1.5]}),
    ('"size"', {"size": ["320", 240]}),
    ('size: key "k" is missing', {"size": {}}),
    ('size: key "k"', {"size": {"k": "fixed"}}),
    ('size: unknown key "height"', {"size": {"k": "sides", "max": 64, "height": 4}}),
    ('size: key "max" is missing', {"size": {"k": "sides"}}),
    ('size: key "max"', {"size": {"k": "sides", "max": 16385}}),
    ('size: key "max"', {"size": {"k": "sides", "max": 31, "multiple": 32}}),
    ('size: key "min"', {"size": {"k": "sides", "max": 64, "min": 65}}),
    ('size: key "min"', {"size": {"k": "sides", "max": 64, "min": 0}}),
    ('size: key "multiple"', {"size": {"k": "sides", "max": 64, "multiple": 0}}),
    ('size: key "multiple"', {"size": {"k": "sides", "max": 64, "multiple": 1.5}}),
    ('size: unknown key "min"', {"size": {"k": "strip", "height": 4, "width": [1, 2], "min": 1}}),
    ('size: key "height" is missing', {"size": {"k": "strip", "width": [1, 2]}}),
    ('size: key "height"', {"size": {"k": "strip", "height": 0, "width": [1, 2]}}),
    ('size: key "width" is missing', {"size": {"k": "strip", "height": 4}}),
    ('size: key "width"', {"size": {"k": "strip", "height": 4, "width": 8}}),
    ('size: key "width"', {"size": {"k": "strip", "height": 4, "width": [0, 8]}}),
    ('size: key "width"', {"size": {"k": "strip", "height": 4, "width": [9, 8]}}),
    ('size: key "width"', {"size": {"k": "strip", "height": 4, "width": [8, 20000]}}),
    (
        'size: key "width": expected [least, most] in order, multiples of 4, got [8, 18]',
        {"size": {"k": "strip", "height": 4, "width": [8, 18], "multiple": 4}},
    ),
    (
        'key "size": fit "matrix"',
        {"size": {"k": "sides", "max": 64}, "fit": {"k": "matrix", "m": [1] * 9}},
    ),
    ('"color"', {**GOOD, "color": "rgb"}),
    ('"color"', {**GOOD, "color": "HSV"}),
    ('"orient"', {**GOOD, "orient": 45}),
    ('"orient"', {**GOOD, "orient": "up"}),
    ('"roi"', {**GOOD, "roi": True}),
    ("fit", {**GOOD, "fit": "stretch"}),
    ('fit: key "k"', {**GOOD, "fit": {}}),
    ('fit: key "k"', {**GOOD, "fit": {"k": "letter"}}),
    ('fit: unknown key "pad"', {**GOOD, "fit": {"k": "stretch", "pad": 0}}),
    ('fit: key "policy"', {**GOOD, "fit": {"k": "letterbox", "policy": "yolo"}}),
    ('fit: key "pad"', {**GOOD, "fit": {"k": "letterbox", "pad": [1, 2]}}),
    ('fit: key "pad"', {**GOOD, "fit": {"k": "letterbox", "pad": 256}}),
    ('fit: key "pad"', {**GOOD, "fit": {"k": "letterbox", "pad": -1}}),
    ('key "pad"', {**GOOD, "fit": {"k": "letterbox", "policy": "mediapipe", "pad": 5}}),
    ('fit: key "m"', {**GOOD, "fit": {"k": "matrix"}}),
    ('fit: key "m"', {**GOOD, "fit": {"k": "matrix", "m": [1, 2]}}),
    ('key "roi"', {**GOOD, "roi": "per_call", "fit": {"k": "matrix", "m": [1] * 9}}),
    ('sample: key "k"', {**GOOD, "sample": {"k": "cubic"}}),
    ('sample: key "grid"', {**GOOD, "sample": {"k": "nearest", "grid": "half"}}),
    ('sample: unknown key "antialias"', {**GOOD, "sample": {"k": "nearest", "antialias": False}}),
    ('sample: key "antialias"', {**GOOD, "sample": {"k": "bilinear", "antialias": 1}}),
    ('"profile"', {**GOOD, "profile": "opencv"}),
    ('border: key "k"', {**GOOD, "border": {"k": "wrap"}}),
    ('border: unknown key "v"', {**GOOD, "border": {"k": "replicate", "v": 1}}),
    ('yuv: unknown key "m"', {**GOOD, "yuv": {"m": "bt601"}}),
    ('yuv: key "matrix"', {**GOOD, "yuv": {"matrix": "601"}}),
    ('norm: unknown key "sub"', {**GOOD, "norm": {"sub": 1}}),
    ('norm: key "std"', {**GOOD, "norm": {"std": 0}}),
    ('norm: key "std"', {**GOOD, "norm": {"std": [1, 0, 1]}}),
    ('norm: key "scale"', {**GOOD, "norm": {"scale": 1e300}}),
    ('norm: key "scale"', {**GOOD, "norm": {"scale": 1e300, "std": 1e300}}),
    ('norm: key "scale"', {**GOOD, "norm": {"scale": 0}}),
    ('norm: key "scale"', {**GOOD, "norm": {"scale": None}}),
    ('norm: key "mean"', {**GOOD, "norm": {"mean": 1e300}}),
    ('norm: key "std"', {**GOOD, "norm": {"std": 1e-300}}),
    ("numbers in 1..16384, got [320, 0]", {"size": [320, 0]}),
    ("got [320]", {"size": [320]}),
    ('got [320, 20, "x"]', {"size": [320, 20, "x"]}),
    ("got [1, [...]]", {"size": [[1, [2]], None]}),
    ("got [1, 1, 1, 1, 1, 1, 1, 1, 1, ... 99 in all]", {"size": [1] * 99}),
    ('norm: key "mean"', {**GOOD, "norm": {"mean": [1, 2]}}),
    ('norm: key "mean"', {**GOOD, "norm": {"mean": [1, 2, None]}}),
    ('"intermediate"', {**GOOD, "intermediate": "u16"}),
    ("expected an object", []),
    ("expected an object", 3),
]


@pytest.mark.parametrize(("text", "spec"), BAD)
def test_every_wrong_key_is_named(text: str, spec: Any) -> None:
    with pytest.raises(SpecError) as caught:
        Pipeline.from_json(json.dumps(spec))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"size":[1,1]',
        '{"size":[1,1]}}',
        '{"size":[1,1],}',
        '{"size":[01,1]}',
        '{"size":[1.,1]}',
        '{"size":[1e999,1]}',
        '{"size":[NaN,1]}',
        '{"size":[1,1],"size":[1,1]}',
        '{"size":[1,1],"color":"R\nB"}',
        '{"size":[1,1],"color":"\\x"}',
        '{"size":[1,1],"color":"\\ud800"}',
        "{'size':[1,1]}",
        "[" * 40 + "]" * 40,
        '{"size":' + "[" * 1000,
        "\x00",
    ],
)
def test_only_json_is_json(text: str) -> None:
    with pytest.raises(SpecError, match="pipeline spec"):
        Pipeline.from_json(text)


def test_position_of_a_syntax_error() -> None:
    with pytest.raises(SpecError, match=r"at byte 9: expected a value, got '\]'"):
        Pipeline.from_json('{"size": ]}')
    with pytest.raises(SpecError, match="at byte 8: expected a value, got end of text"):
        Pipeline.from_json('{"size":')


PIPELINES = [
    Pipeline(size=(320, 240)),
    Pipeline(size=(1, 1), color="GRAY", orient="none", norm=Norm(1 / 255, 0.5, 0.25)),
    Pipeline(size=(5, 6), orient=270, roi="per_call", fit=Letterbox(pad=(1, 2, 3.5))),
    Pipeline(size=(5, 6), fit=Letterbox(policy="mediapipe"), border=Constant((0, 9, 255))),
    Pipeline(size=(5, 6), fit=Cover(), sample=Nearest(grid="align_corners"), profile="fast"),
    Pipeline(size=(5, 6), fit=Matrix(np.eye(3) * 2), color="BGR", intermediate="u8"),
    Pipeline(size=(5, 6), sample=Bicubic(a=-0.75, antialias=True), yuv=Yuv("bt709", "full")),
    Pipeline(size=(5, 6), sample=Area(), profile="cv2", border=Replicate()),
    Pipeline(size=(5, 6), sample=Lanczos3(antialias=True), profile="pillow", fit=Stretch()),
    Pipeline(size=(5, 6), sample=Bilinear(antialias=True), norm=Norm(1e-5, (1, 2, 3), (4, 5, 6))),
    Pipeline(size=(5, 6), profile="cv2", intermediate="u8", border=Reflect101()),
    Pipeline(size=(5, 6), profile="cv2_4", border=ConstantHard((1, 2, 3))),
    Pipeline(size=Sides(736, 2000, 32)),
    Pipeline(size=Strip(48, (320, 3200)), roi="per_call", fit=Letterbox(127.5, "paddleocr")),
]


@pytest.mark.parametrize("spec", PIPELINES)
def test_round_trip(spec: Pipeline) -> None:
    again = Pipeline.from_json(spec.json())
    assert again.json() == spec.json()
    assert again == spec and hash(again) == hash(spec)
    assert again.digest() == spec.digest()
    assert hashlib.sha256(spec.json().encode()).hexdigest() == spec.digest()
    size = json.loads(spec.json())["size"]
    assert size == (list(spec.size) if isinstance(spec.size, tuple) else spec.size.to_spec())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"norm": Norm(1, 0, 1)}, {"norm": Norm(1.0, (0, 0, 0), [1, 1, 1])}),
        ({"norm": Norm(mean=np.float32(2))}, {"norm": Norm(mean=np.array([2, 2, 2]))}),
        ({"fit": Letterbox()}, {"fit": Letterbox(pad=114)}),
        ({"fit": Letterbox(pad=(114, 114, 114))}, {"fit": Letterbox(pad=[114.0] * 3)}),
        ({"fit": Matrix(np.eye(3))}, {"fit": Matrix()}),
        ({"border": Constant(7)}, {"border": Constant(np.array([7, 7, 7]))}),
        ({"orient": 90}, {"orient": 90.0}),
        ({"size": (8, 6)}, {"size": np.array([8, 6])}),
        ({"size": Sides(1, 64)}, {"size": Sides(np.int64(1), 64.0, np.float32(1))}),
        ({"size": Strip(4, (8, 16))}, {"size": Strip(4, np.array([8, 16]), 1)}),
    ],
)
def test_pipelines_that_mean_the_same_are_equal(one: Any, other: Any) -> None:
    a, b = Pipeline(**{"size": (8, 6), **one}), Pipeline(**{"size": [8, 6], **other})
    assert a == b and hash(a) == hash(b) and repr(a) == repr(b)
    assert a != Pipeline(size=(8, 6), norm=Norm(mean=3))


@pytest.mark.parametrize("spec", PIPELINES)
def test_pipelines_can_be_copied_and_varied(spec: Pipeline) -> None:
    assert copy.deepcopy(spec) == spec == pickle.loads(pickle.dumps(spec))
    assert dataclasses.replace(spec) == spec
    assert dataclasses.replace(spec, size=(7, 3)).size == (7, 3)


def test_levels_that_agree_suit_any_color() -> None:
    spec = Pipeline(
        size=(8, 6),
        fit=Letterbox(pad=(9, 9, 9)),
        border=Constant((1, 1, 1)),
        norm=Norm(1 / 255, (2, 2, 2), [3, 3, 3]),
    )
    assert (spec.fit, spec.border) == (Letterbox(pad=9.0), Constant(1.0))
    assert spec.norm == Norm(1 / 255, 2.0, 3.0)
    assert json.loads(dataclasses.replace(spec, color="GRAY").json())["norm"]["std"] == [3]


@pytest.mark.parametrize("field", ["size", "norm", "fit", "border", "color", "yuv", "orient"])
@pytest.mark.parametrize("value", [float("nan"), object(), Norm, Norm(float("inf")), [[1j]]])
def test_values_that_json_cannot_say_are_named(field: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f'key "{field}"'):
        Pipeline(**{"size": (8, 6), field: value})


@pytest.mark.parametrize("text", [None, 5, b"{}", ["{}"], {"size": [1, 1]}, "\ud800"])
def test_only_text_is_read(text: Any) -> None:
    with pytest.raises(SpecError, match="pipeline spec"):
        Pipeline.from_json(text)
    with pytest.raises(SpecError, match="transform"):
        image.Transform.from_json(text)
    with pytest.raises(SpecError, match="decoder spec"):
        image.Decoder.from_json(text)


def test_canonical_text_is_stable() -> None:
    text = (
        '{"imgproc":1,"size":[320,240],"color":"RGB","orient":"frame","roi":"full",'
        '"fit":{"k":"letterbox","pad":[114,114,114],"policy":"ultralytics"},'
        '"sample":{"k":"bilinear","antialias":false,"grid":"half_pixel"},"profile":"exact",'
        '"border":{"k":"replicate"},"yuv":{"matrix":"frame","range":"frame","chroma":"replicate",'
        '"siting":"frame"},"norm":{"scale":0.00392156862745098,"mean":[0,0,0],"std":[1,1,1]},'
        '"intermediate":"f32"}'
    )
    spec = Pipeline(size=(320, 240), fit=Letterbox(), norm=Norm(scale=1 / 255))
    assert spec.json() == text
    shuffled = dict(reversed(list(json.loads(text).items())))
    assert Pipeline.from_json(json.dumps(shuffled, indent=2)).digest() == spec.digest()
    assert len({p.digest() for p in PIPELINES}) == len(PIPELINES)


def test_long_texts_hash_like_hashlib() -> None:
    # The canonical text crosses every block boundary of SHA-256 as the matrix grows.
    for digits in range(1, 70):
        m = [float("0." + "1" * min(digits, 15)), 0, digits, 0, 1, 0, 0, 0, 1]
        spec = Pipeline(size=(digits, 7), fit=Matrix(m))
        assert hashlib.sha256(spec.json().encode()).hexdigest() == spec.digest()


def test_objects_refuse_what_json_cannot_say() -> None:
    for bad in (float("nan"), float("inf"), object(), None, 0, 1e300, 10**400, "1", [1], True):
        with pytest.raises(SpecError):
            Pipeline(size=(4, 4), norm=Norm(scale=bad))  # type: ignore[arg-type]
    for bad in ("abc", [["x"]], {"m": 1}):
        with pytest.raises(SpecError, match='"m"'):
            Pipeline(size=(4, 4), fit=Matrix(bad))  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        Pipeline(size=(4, 4)).color = "BGR"  # type: ignore[misc]
    assert image.Pipeline(size=(4, 4)) == Pipeline(size=(4, 4))
