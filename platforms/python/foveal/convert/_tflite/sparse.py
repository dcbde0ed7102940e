"""Dense arrays from TFLite's sparse tensors.

The format walks the dimensions in `traversal order`; each is either dense (every position is
there) or compressed (segments and indices, as in CSR). Dimensions may be cut into blocks, whose
inner positions are further dimensions at the end of the order.
"""

from __future__ import annotations

import numpy as np

from foveal.convert._tflite.schema import INDEX_VECTORS, DimMetadata, Sparsity
from foveal.convert.flatbuffer import Table
from foveal.errors import ModelError


def _indices(meta: Table, kind: int, field: int, name: str) -> np.ndarray:
    dtype = INDEX_VECTORS.get(meta.i8(kind))
    vector = meta.table(field)
    if dtype is None or vector is None:
        raise ModelError(f"sparse tensor '{name}' lacks its segments or indices")
    return vector.array(0, dtype).astype(np.int64)


def densify(name: str, shape: list[int], values: np.ndarray, sparsity: Table) -> np.ndarray:
    """The dense array of `shape`, whose size the caller has checked.

    Raises ModelError when the description contradicts itself.
    """
    order = sparsity.array(Sparsity.TRAVERSAL_ORDER, "i4").tolist()
    blocks = sparsity.array(Sparsity.BLOCK_MAP, "i4").tolist()
    metas = list(sparsity.tables(Sparsity.DIM_METADATA))
    rank = len(shape)
    total = rank + len(blocks)
    bad = ModelError(f"sparse tensor '{name}' describes itself inconsistently")
    if sorted(order) != list(range(total)) or len(metas) != total:
        raise bad
    if sorted(order[rank:]) != list(range(rank, total)) or any(not 0 <= b < rank for b in blocks):
        raise bad
    sizes = list(shape)
    for i, original in enumerate(blocks):
        block = metas[order.index(rank + i)].i32(DimMetadata.DENSE_SIZE)
        if block <= 0 or sizes[original] % block:
            raise bad
        sizes[original] //= block
        sizes.append(block)

    compressed = [
        None
        if meta.i8(DimMetadata.FORMAT) == 0
        else (
            _indices(meta, DimMetadata.SEGMENTS_TYPE, DimMetadata.SEGMENTS, name),
            _indices(meta, DimMetadata.INDICES_TYPE, DimMetadata.INDICES, name),
        )
        for meta in metas
    ]
    # How many paths may leave a level: each goes on in a segment or ends in a value of the file.
    room = [values.size]
    for level in reversed(compressed[1:]):
        room.append(room[-1] if level is None else level[0].size)

    position = np.zeros(1, np.int64)  # of each path through the levels so far
    coords: dict[int, np.ndarray] = {}
    for dim, meta, level, most in zip(order, metas, compressed, reversed(room), strict=True):
        if level is None:
            n = sizes[dim]
            if meta.i32(DimMetadata.DENSE_SIZE) != n or position.size * n > most:
                raise bad
            take = np.repeat(np.arange(position.size), n)
            own = np.tile(np.arange(n), position.size)
            position = position[take] * n + own
        else:
            segments, indices = level
            if position.size and position.max() + 1 >= segments.size:
                raise bad
            first, last = segments[position], segments[position + 1]
            counts = last - first
            if (counts < 0).any() or (first < 0).any() or (last > indices.size).any():
                raise bad
            if counts.sum() > min(most, indices.size):
                raise bad
            take = np.repeat(np.arange(position.size), counts)
            offset = np.arange(take.size) - np.repeat(np.cumsum(counts) - counts, counts)
            position = first[take] + offset
            own = indices[position]
        if ((own < 0) | (own >= sizes[dim])).any():
            raise bad
        coords = {d: c[take] for d, c in coords.items()}
        coords[dim] = own
    if position.size and position.max() >= values.size:
        raise ModelError(f"sparse tensor '{name}' has {values.size} values, more are described")

    where = [coords[d] for d in range(rank)]
    for i, original in enumerate(blocks):
        where[original] = where[original] * sizes[rank + i] + coords[rank + i]
    dense = np.zeros(shape, values.dtype)
    dense[tuple(where)] = values[position]
    return dense
