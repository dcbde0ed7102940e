"""Recipes that models come with, as pipelines: how their own programs prepare a picture.

    recipe = foveal.recipes.hugging_face.recipe("preprocessor_config.json")
    recipe.pipeline.compile(...)

One module per source, imported when it is first used, with `NAME`, `recipe(...)` and `read(text)`,
which takes what follows the colon of `foveal convert --recipe NAME:TEXT`. None of the libraries
need be installed.

A recipe becomes exactly what it says, or a SpecError that names what cannot be said. Samplers and
numeric contracts follow the library that the recipe is for (Pillow, OpenCV, torch): whether this
build has them is for `Pipeline.compile` to say.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from foveal.errors import ArgumentError
from foveal.recipes._recipe import Recipe

__all__ = ["Recipe", "read", "sources"]

_MODULES = sorted(info.name for info in iter_modules(__path__) if not info.name.startswith("_"))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])


def sources() -> dict[str, Any]:
    """Name → module, of every source there is."""
    modules = [import_module(f"{__name__}.{name}") for name in _MODULES]
    return {module.NAME: module for module in modules}


def read(text: str) -> Recipe:
    """The recipe that "NAME:TEXT" names, for instance "hf:preprocessor_config.json".

    Raises ArgumentError for a name that is unknown, NotFoundError or IOFailure for a file that
    cannot be read, SpecError for a recipe that a pipeline cannot say exactly.
    """
    name, colon, rest = str(text).partition(":")
    known = sources()
    if name not in known or not colon or not rest:
        raise ArgumentError(
            f"recipe: expected NAME:TEXT with one of {', '.join(known)}, got '{text}'",
            hint="for example hf:preprocessor_config.json or ultralytics:640",
        )
    recipe: Recipe = known[name].read(rest)
    return recipe
