"""torchvision: the transforms of its weights, and `Compose`s of the usual classes.

Known by their attributes and class names, so that any version will do, v2 too, or none. Pillow
pictures are resized by Pillow, always antialiased; tensors by torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from foveal.errors import NotFoundError
from foveal.image import Area, Bicubic, Bilinear, Lanczos3, Nearest, Norm, Pipeline
from foveal.recipes._recipe import (
    Recipe,
    levels,
    names,
    open_size,
    pair,
    refuse,
    resized_then_cropped,
)

NAME = "torchvision"

Sample = Bilinear | Bicubic | Lanczos3 | Area | Nearest


def recipe(transforms: Any, *, tensors: bool = False, labels: Sequence[str] = ()) -> Recipe:
    """The pipeline of a weights' `transforms()` or of a `Compose`.

    tensors: pictures come as uint8 tensors, not as Pillow images: torch resizes them.

    Raises SpecError for a transform that is unknown or random, or that a pipeline cannot say.
    """
    parts = getattr(transforms, "transforms", None)
    if isinstance(parts, (list, tuple)):
        pipeline = _compose(list(parts), tensors)
    elif hasattr(transforms, "resize_size") and hasattr(transforms, "mean"):
        pipeline = _preset(transforms, tensors)
    else:
        raise refuse(
            NAME,
            f"expected a weights' transforms or a Compose, got {type(transforms).__name__}",
            "pass weights.transforms(), called",
        )
    return Recipe(pipeline, tuple(str(v) for v in labels))


def read(text: str) -> Recipe:
    """A name of weights, for instance "ResNet50_Weights.DEFAULT", from torchvision itself."""
    try:
        get_weight = import_module("torchvision.models").get_weight
    except ImportError:
        raise NotFoundError(
            "torchvision recipe: torchvision is not installed",
            hint="pip install torchvision, or write the recipe in Python: "
            "foveal.recipes.torchvision.recipe(transforms)",
        ) from None
    try:
        weights = get_weight(text)
    except (ValueError, AttributeError, KeyError) as error:
        raise NotFoundError(f"torchvision recipe: {error}") from None
    found = weights.meta.get("categories", ())
    return recipe(weights.transforms(), labels=names(NAME, found))


def _preset(t: Any, tensors: bool) -> Pipeline:
    resize, crop = t.resize_size, getattr(t, "crop_size", None)
    if crop is None:
        raise open_size(NAME, f"resize_size {resize!r} without crop_size")
    sample, profile, rounded = _sample(
        getattr(t, "interpolation", "bilinear"), getattr(t, "antialias", True), tensors, False
    )
    return _pipeline(resize, crop, sample, profile, rounded, t.mean, t.std)


def _compose(parts: list[Any], tensors: bool) -> Pipeline:
    resize: Any = None
    crop: Any = None
    sampled: tuple[Sample, str, str] | None = None
    scaled, mean, std = False, None, None
    for part in parts:
        kind = type(part).__name__
        if mean is not None:
            raise refuse(NAME, f"{kind} after Normalize")
        if kind == "Resize":
            if resize is not None or crop is not None:
                raise refuse(NAME, "a second Resize, or one after CenterCrop")
            if getattr(part, "max_size", None) is not None:
                raise open_size(NAME, "Resize with max_size")
            resize = part.size
            sampled = _sample(part.interpolation, part.antialias, tensors, scaled)
        elif kind == "CenterCrop":
            if resize is None:
                raise refuse(NAME, "CenterCrop without Resize before it")
            if crop is not None:
                raise refuse(NAME, "a second CenterCrop")
            crop = part.size
        elif kind in ("ToTensor", "PILToTensor", "ToImage", "ConvertImageDtype", "ToDtype"):
            tensors = True
            scaled = scaled or _scales(kind, part)
        elif kind == "Normalize":
            if not scaled:
                raise refuse(NAME, "Normalize of pixels that are no floats yet")
            mean, std = part.mean, part.std
        else:
            raise refuse(NAME, f"{kind} has no counterpart in a pipeline")
    if sampled is None:
        raise open_size(NAME, "a Compose without Resize")
    if not scaled:
        raise refuse(NAME, "nothing makes floats of the pixels (ToTensor, ToDtype with scale)")
    if crop is None:
        crop = resize
        if not isinstance(resize, (list, tuple)) or len(resize) != 2:
            raise open_size(NAME, f"Resize({resize!r}) without CenterCrop")
    return _pipeline(resize, crop, *sampled, 0.0 if mean is None else mean, std or 1.0)


def _scales(kind: str, part: Any) -> bool:
    """Whether a conversion gives floats in 0..1. Refuses other element types."""
    if kind in ("PILToTensor", "ToImage"):
        return False
    if kind == "ToTensor":
        return True
    name = str(part.dtype).rpartition(".")[2]
    if name == "uint8":
        return False
    if name != "float32" or (kind == "ToDtype" and not part.scale):
        raise refuse(NAME, f"{kind} to {name}{'' if kind != 'ToDtype' else ' without scale'}")
    return True


def _sample(
    interpolation: Any, antialias: Any, tensors: bool, scaled: bool
) -> tuple[Sample, str, str]:
    """Sampler, profile and intermediate of a resize."""
    kind = str(getattr(interpolation, "value", interpolation)).lower()
    if not tensors:
        known: dict[str, Sample] = {
            "bilinear": Bilinear(antialias=True),
            "bicubic": Bicubic(antialias=True),
            "lanczos": Lanczos3(antialias=True),
            "box": Area(),
            "nearest": Nearest(),
        }
        if kind not in known:
            raise refuse(NAME, f"interpolation {kind!r} of Pillow pictures")
        return known[kind], "pillow", "u8"
    rounded = "f32" if scaled else "u8"
    if kind == "nearest-exact":
        return Nearest(), "torch", rounded
    if kind not in ("bilinear", "bicubic") or antialias not in (True, False):
        raise refuse(NAME, f"interpolation {kind!r} (antialias {antialias!r}) of tensors")
    if kind == "bilinear":
        return Bilinear(antialias=antialias), "torch", rounded
    # torch's cubic is another one where it does not antialias.
    return Bicubic(-0.5 if antialias else -0.75, antialias), "torch", rounded


def _pipeline(
    resize: Any, crop: Any, sample: Sample, profile: str, rounded: str, mean: Any, std: Any
) -> Pipeline:
    short = isinstance(resize, int) or len(resize) == 1
    resized, cropped = pair(NAME, "resize", resize), pair(NAME, "crop", crop)
    fit = resized_then_cropped(NAME, resized[0] if short else None, resized, cropped, "torchvision")
    return Pipeline(
        size=(cropped[1], cropped[0]),
        fit=fit,
        sample=sample,
        profile=profile,
        norm=Norm(1 / 255, levels(NAME, "mean", mean), levels(NAME, "std", std)),
        intermediate=rounded,
    )
