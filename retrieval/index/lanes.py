"""Operations on thirty-two bytes at once, written for the compiler as vectors: loops over lanes leave registers unused;
and memory asked for before it is needed.

Each takes addresses.  What reads past an array is the caller's fault, so only kernels.py uses them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 32
_operation: Any = intrinsic  # its own types leave out that the first argument is numba's
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)


def _read(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.align = 1  # numpy promises no more
    return value


def _variable(builder: Any) -> Any:
    allocate: Any = cgutils.alloca_once
    return allocate(builder, _BYTES)


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_unsigned(">", one, other), one, other)


@_operation
def ask_ahead(typing: Any, place: Any) -> Any:
    """Have the line of memory at an address brought near while other work goes on; any address will do."""

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number = ir.IntType(32)
        pointer = builder.inttoptr(given[0], ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(fetch, [pointer, number(0), number(3), number(1)])  # to be read, kept near, data
        return context.get_dummy_value()

    return types.void(types.intp), build


@_operation
def best_run(typing: Any, table: Any, codes: Any, first: Any, last: Any, best: Any) -> Any:
    """The largest byte a lane over the table's rows that the codes of a run name.  -> best, LANES bytes"""

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        rows, numbers = given[0], given[1]
        rows = builder.inttoptr(rows, _BYTES.as_pointer())
        numbers = builder.inttoptr(numbers, ir.IntType(16).as_pointer())
        index = ir.IntType(64)
        largest = _variable(builder)
        builder.store(ir.Constant(_BYTES, [0] * LANES), largest)
        with cgutils.for_range_slice(builder, given[2], given[3], ir.Constant(index, 1), inc=True) as (place, _):
            row = builder.zext(builder.load(builder.gep(numbers, [place])), index)
            value = _read(builder, builder.gep(rows, [row]))
            builder.store(_larger(builder, value, builder.load(largest)), largest)
        stored = builder.store(builder.load(largest), builder.inttoptr(given[4], _BYTES.as_pointer()))
        stored.align = 1
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp, types.intp, types.intp), build


@_operation
def raise_to(typing: Any, best: Any, other: Any) -> Any:
    """Each lane of `best` becomes the larger of both."""

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        to = builder.inttoptr(given[0], _BYTES.as_pointer())
        other = _read(builder, builder.inttoptr(given[1], _BYTES.as_pointer()))
        stored = builder.store(_larger(builder, _read(builder, to), other), to)
        stored.align = 1
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), build


@_operation
def weighted(typing: Any, weights: Any, values: Any) -> Any:
    """The sum of LANES bytes by LANES float weights."""

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        by = _read(builder, builder.inttoptr(given[0], _FLOATS.as_pointer()))
        bytes_ = _read(builder, builder.inttoptr(given[1], _BYTES.as_pointer()))
        wide = builder.zext(bytes_, ir.VectorType(ir.IntType(32), LANES))
        total = builder.fmul(builder.sitofp(wide, _FLOATS), by)
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
