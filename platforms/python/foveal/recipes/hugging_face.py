"""Hugging Face: `preprocessor_config.json` of image processors.

The plain processors resize Pillow pictures, those whose names end in "Fast" uint8 tensors. Their
classes give the same keys different meanings: only those whose geometry is known are taken.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from foveal.errors import ArgumentError
from foveal.image import (
    Area,
    Bicubic,
    Bilinear,
    Crop,
    Lanczos3,
    Nearest,
    Norm,
    Pipeline,
    Stretch,
)
from foveal.recipes._recipe import (
    Recipe,
    json_object,
    levels,
    number,
    open_size,
    pair,
    read_file,
    refuse,
    resized_then_cropped,
    whole,
)

NAME = "hf"

# Class (without its ending) -> whether one number as `size` is both sides, not the short one.
_CLASSES = {
    "": None,
    "Beit": True,
    "Bit": False,
    "Blip": True,
    "CLIP": False,
    "ChineseCLIP": False,
    "ConvNext": False,
    "DeiT": True,
    "MobileNetV1": False,
    "MobileNetV2": False,
    "MobileViT": False,
    "Segformer": True,
    "Siglip": True,
    "ViT": True,
}
_KEYS = {
    "size",
    "resample",
    "crop_size",
    "crop_pct",
    "rescale_factor",
    "image_mean",
    "image_std",
    "do_resize",
    "do_center_crop",
    "do_rescale",
    "do_normalize",
    "do_flip_channel_order",
    "do_convert_rgb",
    "default_to_square",
    "image_processor_type",
    "feature_extractor_type",
}
# Of training, of text, of how arrays lie: nothing that one picture would notice.
_IGNORED = {
    "_processor_class",
    "_valid_processor_keys",
    "auto_map",
    "data_format",
    "device",
    "disable_grouping",
    "do_reduce_labels",
    "image_seq_length",
    "input_data_format",
    "num_labels",
    "processor_class",
    "reduce_labels",
    "return_tensors",
}


def recipe(
    config: Mapping[str, Any] | str | os.PathLike[str], *, fast: bool | None = None
) -> Recipe:
    """The pipeline of an image processor.

    config: the object, or the path of its file. fast: whether tensors are resized (torch) or
    Pillow pictures; None goes by the processor's name.

    Raises SpecError for what a pipeline cannot say, or is not known to mean.
    """
    if isinstance(config, (str, os.PathLike)):
        config = json_object(NAME, read_file(NAME, os.fspath(config)))
    if not isinstance(config, Mapping):
        raise ArgumentError(f"hf recipe: expected an object or a path, got {type(config).__name__}")
    return Recipe(_Processor(config, fast).pipeline())


def read(text: str) -> Recipe:
    """The path of a preprocessor_config.json."""
    return recipe(text)


class _Processor:
    def __init__(self, config: Mapping[str, Any], fast: bool | None) -> None:
        self.config = config
        name = config.get("image_processor_type") or config.get("feature_extractor_type") or ""
        if not isinstance(name, str):
            raise refuse(NAME, f"image_processor_type: expected text, got {name!r:.80}")
        own = name.removesuffix("Fast")
        for ending in ("ImageProcessor", "FeatureExtractor"):
            own = own.removesuffix(ending)
        if own not in _CLASSES:
            raise refuse(
                NAME,
                f"{name}: what its keys mean is not known",
                f"known: {', '.join(c for c in _CLASSES if c)}",
            )
        self.name, self.kind = name, own
        self.fast = name.endswith("Fast") if fast is None else bool(fast)
        for key, value in config.items():
            if key not in _KEYS | _IGNORED and value not in (None, False):
                raise refuse(NAME, f"key {key!r} has no counterpart in a pipeline")

    def flag(self, key: str, default: bool) -> bool:
        value = self.config.get(key)
        if value is not None and not isinstance(value, bool):
            raise refuse(NAME, f"{key}: expected true or false, got {value!r:.80}")
        return default if value is None else value

    def pipeline(self) -> Pipeline:
        if not self.flag("do_resize", True):
            raise open_size(NAME, "a processor without do_resize")
        size, fit = self._geometry()
        scale, mean, std = 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        if self.flag("do_rescale", True):
            scale = number(NAME, "rescale_factor", self.config.get("rescale_factor", 1 / 255))
        if self.flag("do_normalize", self.kind != "MobileViT"):
            mean = levels(NAME, "image_mean", self.config.get("image_mean"))
            std = levels(NAME, "image_std", self.config.get("image_std"))
        flip = self.flag("do_flip_channel_order", self.kind == "MobileViT")
        return Pipeline(
            size=size,
            color="BGR" if flip else "RGB",
            fit=fit,
            sample=self._sample(),
            profile="torch" if self.fast else "pillow",
            norm=Norm(scale, mean, std),
            intermediate="u8",
        )

    def _sample(self) -> Bilinear | Bicubic | Lanczos3 | Area | Nearest:
        code = self.config.get("resample")
        if code is None or isinstance(code, bool):
            raise refuse(NAME, "key 'resample' is missing: every class has its own default")
        if code == 2:
            return Bilinear(antialias=True)
        if code == 3:
            return Bicubic(antialias=True)
        if code == 1 and not self.fast:
            return Lanczos3(antialias=True)
        if code == 4 and not self.fast:
            return Area()
        if code == 0 and not self.fast:
            return Nearest()
        raise refuse(
            NAME,
            f"resample {code!r:.80} of {'tensors' if self.fast else 'Pillow pictures'}",
            "0 nearest, 1 Lanczos, 4 box (all Pillow only), 2 bilinear, 3 bicubic",
        )

    def _geometry(self) -> tuple[tuple[int, int], Crop | Stretch]:
        short, resized = self._size()
        policy = "torchvision" if self.fast else "huggingface"
        if self.kind == "ConvNext":
            return self._conv_next(short, resized, policy)
        cropping = self.config.get("do_center_crop")
        if cropping is None and "crop_size" in self.config:
            raise refuse(NAME, "crop_size without do_center_crop: every class has its own default")
        if not self.flag("do_center_crop", False):
            if short:
                raise open_size(NAME, f"shortest_edge {short} without a crop")
            return (resized[1], resized[0]), Stretch()
        crop = pair(NAME, "crop_size", self.config.get("crop_size"))
        return (crop[1], crop[0]), resized_then_cropped(NAME, short, resized, crop, policy)

    def _size(self) -> tuple[int | None, tuple[int, int]]:
        """The short side, if that is what `size` gives; else (height, width)."""
        size = self.config.get("size")
        if isinstance(size, Mapping):
            if set(size) == {"shortest_edge"}:
                short = whole(NAME, "size", size["shortest_edge"])
                return short, (short, short)
            if set(size) != {"height", "width"}:
                raise open_size(NAME, f"size with {', '.join(map(str, size)) or 'nothing'}")
            return None, pair(NAME, "size", size)
        if isinstance(size, (list, tuple)):
            raise refuse(NAME, "size: which of a list's numbers is the width is not known")
        square = self.config.get("default_to_square", _CLASSES[self.kind])
        side = whole(NAME, "size", size)
        if not isinstance(square, bool):
            raise refuse(NAME, "size: one number, and nothing says if it is the short side")
        return None if square else side, (side, side)

    def _conv_next(
        self, short: int | None, resized: tuple[int, int], policy: str
    ) -> tuple[tuple[int, int], Crop | Stretch]:
        """Below 384 a larger picture is cropped, from there on stretched."""
        if not short:
            raise refuse(NAME, "size: ConvNext expects shortest_edge")
        if short >= 384:
            return (short, short), Stretch()
        part = number(NAME, "crop_pct", self.config.get("crop_pct", 224 / 256))
        if not 0 < part <= 1:
            raise refuse(NAME, f"crop_pct: expected above 0, to 1, got {part:g}")
        before = whole(NAME, "size / crop_pct", int(short / part))
        return (short, short), resized_then_cropped(
            NAME, before, (before, before), (short, short), policy
        )
