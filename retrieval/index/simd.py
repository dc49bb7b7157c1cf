"""Vector operations on 32 bytes at once, and memory prefetching, generated as LLVM code.

The compiler leaves registers unused if the same operations are written as loops over lanes.  All arguments are
addresses, and nothing checks bounds: only kernels.py may call these functions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 32
_operation: Any = intrinsic  # its annotations omit the first argument, which numba passes
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)


def _load(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.align = 1  # the only alignment that numpy guarantees
    return value


def _byte_vector(builder: Any) -> Any:
    allocate: Any = cgutils.alloca_once
    return allocate(builder, _BYTES)


def _maximum(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_unsigned(">", one, other), one, other)


@_operation
def prefetch(typing: Any, address: Any) -> Any:
    """Start loading the cache line at an address; any address is safe."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        integer = ir.IntType(32)
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, integer, integer, integer])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(fetch, [pointer, integer(0), integer(3), integer(1)])  # for reading, high locality, data cache
        return context.get_dummy_value()

    return types.void(types.intp), build


@_operation
def max_over_codes(typing: Any, table: Any, codes: Any, first: Any, last: Any, best: Any) -> Any:
    """Write the largest byte per lane over the table rows of the codes first..last to `best`, LANES bytes."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = builder.inttoptr(args[0], _BYTES.as_pointer())
        numbers = builder.inttoptr(args[1], ir.IntType(16).as_pointer())
        index = ir.IntType(64)
        largest = _byte_vector(builder)
        builder.store(ir.Constant(_BYTES, [0] * LANES), largest)
        with cgutils.for_range_slice(builder, args[2], args[3], ir.Constant(index, 1), inc=True) as (position, _):
            row = builder.zext(builder.load(builder.gep(numbers, [position])), index)
            value = _load(builder, builder.gep(rows, [row]))
            builder.store(_maximum(builder, value, builder.load(largest)), largest)
        stored = builder.store(builder.load(largest), builder.inttoptr(args[4], _BYTES.as_pointer()))
        stored.align = 1
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp, types.intp, types.intp), build


@_operation
def max_into(typing: Any, best: Any, other: Any) -> Any:
    """Set each lane of `best` to the larger of both."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to = builder.inttoptr(args[0], _BYTES.as_pointer())
        other = _load(builder, builder.inttoptr(args[1], _BYTES.as_pointer()))
        stored = builder.store(_maximum(builder, _load(builder, to), other), to)
        stored.align = 1
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), build


@_operation
def weighted_sum(typing: Any, weights: Any, values: Any) -> Any:
    """Return the sum of LANES bytes times LANES float weights."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        factors = _load(builder, builder.inttoptr(args[0], _FLOATS.as_pointer()))
        bytes_ = _load(builder, builder.inttoptr(args[1], _BYTES.as_pointer()))
        wide = builder.zext(bytes_, ir.VectorType(ir.IntType(32), LANES))
        total = builder.fmul(builder.sitofp(wide, _FLOATS), factors)
        width = LANES
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(
                    total,
                    ir.Constant(total.type, ir.Undefined),
                    ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(start, start + width))),
                )
                for start in (0, width)
            ]
            total = builder.fadd(*halves)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return types.float32(types.intp, types.intp), build
