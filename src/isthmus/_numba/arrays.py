"""Elements and views of arrays in compiled code.

Kernels index an array by integers, which must not be negative, and by slices without a step; and
they read its shape. An index that leaves out an axis gives a view, as in NumPy.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    models,
    register_model,
    type_callable,
)

from isthmus._numba import index_checks
from isthmus._numba.addresses import INTEGER, ArrayType, constant, load_step


class ViewType(types.Type):
    """A part of an array."""

    def __init__(self, dtype: Any, ndim: int, *, is_contiguous: bool) -> None:
        self.dtype = dtype
        self.ndim = ndim
        self.is_contiguous = is_contiguous
        super().__init__(f"View({dtype}, {ndim}, {is_contiguous})")


@register_model(ViewType)
class _ViewModel(models.StructModel):
    """The address of its first element, its shape, and its strides, counted in elements."""

    def __init__(self, manager: Any, view_type: ViewType) -> None:
        lengths = types.UniTuple(types.int64, view_type.ndim)
        members = [("first", types.CPointer(view_type.dtype)), ("shape", lengths)]
        if not view_type.is_contiguous:
            members.append(("strides", lengths))
        super().__init__(manager, view_type, members)


class Elements:
    """Emits loading and storing the elements of an array or a view.

    Indices are counted over all rows: offset() tells how.

    Attributes
    ----------
    kind : LLVM type of an element
    """

    def __init__(self, context: Any, builder: Any, array_type: Any, array: Any) -> None:
        self._context = context
        self._builder = builder
        self._type = array_type
        self._array = array
        self.kind = context.get_data_type(array_type.dtype)
        # Where indices are checked: whether all so far were in the array.
        self.fits: Any = ir.Constant(ir.IntType(1), 1)
        if isinstance(array_type, ArrayType):
            self._first = load_step(builder, array, 0, self.kind.as_pointer())
        else:
            self._first = builder.extract_value(array, 0)

    def length(self, axis: int) -> Any:
        """Return the length of an axis."""
        return self._part(1, axis)

    def _part(self, part: int, axis: int) -> Any:
        """Return a number of the shape, part 1, or of the strides, part 2."""
        if isinstance(self._type, ViewType):
            return self._builder.extract_value(self._array, [part, axis])
        step = 1 + (part - 1) * self._type.ndim + axis
        return load_step(self._builder, self._array, step, INTEGER)

    def stride(self, axis: int) -> Any:
        """Return how many elements lie between neighbours along an axis."""
        if not self._type.is_contiguous:
            return self._part(2, axis)
        lengths = map(self.length, range(axis + 1, self._type.ndim))
        return functools.reduce(self._builder.mul, lengths, constant(1))

    def offset(self, indices: list[Any]) -> Any:
        """Return where the element at an index, or what comes first there, stands."""
        builder = self._builder
        terms = [builder.mul(index, self.stride(axis)) for axis, index in enumerate(indices)]
        return functools.reduce(builder.add, terms)

    def address(self, index: Any) -> Any:
        """Return the address of an element."""
        index = constant(index) if isinstance(index, int) else index
        return self._builder.gep(self._first, [index], source_etype=self.kind)

    def checked(self, axis: int, index: Any) -> Any:
        """Return an index of an axis; where indices are checked, 0 for one that is outside."""
        if not index_checks.are_checked():
            return index
        fits = index_checks.check(self._builder, index, 1, self.length(axis))
        self.fits = self._builder.and_(self.fits, fits)
        return self._builder.select(fits, index, constant(0))

    def _checked_address(self, index: Any, count: int) -> Any:
        """Return the address of count elements; where that is checked, of others if they are out.

        Indices of arrays that are not contiguous are checked axis by axis, and by that alone.
        """
        address = self.address(index)
        if not index_checks.are_checked():
            return address
        builder, fits = self._builder, self.fits
        if self._type.is_contiguous:
            index = constant(index) if isinstance(index, int) else index
            size = functools.reduce(builder.mul, map(self.length, range(self._type.ndim)))
            fits = builder.and_(fits, index_checks.check(builder, index, count, size))
        others = cgutils.alloca_once(builder, ir.ArrayType(self.kind, count), zfill=True)
        return builder.select(fits, address, builder.bitcast(others, address.type))

    def load(self, index: Any) -> Any:
        """Return an element."""
        address = self._checked_address(index, 1)
        return self._context.unpack_value(self._builder, self._type.dtype, address)

    def store(self, value: Any, index: Any) -> None:
        """Set an element."""
        address = self._checked_address(index, 1)
        self._context.pack_value(self._builder, self._type.dtype, value, address)

    def load_vector(self, index: Any, length: int) -> Any:
        """Return a vector of neighbouring elements."""
        vector = ir.VectorType(self.kind, length)
        address = self._checked_address(index, length)
        address = self._builder.bitcast(address, vector.as_pointer())
        return self._builder.load(address, align=self._size, typ=vector)

    def store_vector(self, vector: Any, index: Any) -> None:
        """Set as many neighbouring elements as a vector has."""
        address = self._checked_address(index, vector.type.count)
        address = self._builder.bitcast(address, vector.type.as_pointer())
        self._builder.store(vector, address, align=self._size)

    @property
    def _size(self) -> int:
        return int(self._context.get_abi_sizeof(self.kind))


def _is_array(kind: Any) -> bool:
    return isinstance(kind, ArrayType | ViewType)


class _Attributes(AttributeTemplate):
    def generic_resolve(self, array_type: Any, name: str) -> Any:
        return types.UniTuple(types.int64, array_type.ndim) if name == "shape" else None


def _shape(context, builder, array_type, array, name):  # type: ignore[no-untyped-def]
    elements = Elements(context, builder, array_type, array)
    lengths = [elements.length(axis) for axis in range(array_type.ndim)]
    return context.make_tuple(builder, types.UniTuple(types.int64, array_type.ndim), lengths)


def _kinds(index_type: Any) -> list[Any]:
    """Return the types of the integers and slices of an index."""
    return list(index_type.types) if isinstance(index_type, types.BaseTuple) else [index_type]


def _type_at(array_type: Any, index_type: Any) -> Any:
    """Return the type of what stands at an index: a number or a view; None for no such index."""
    kinds = _kinds(index_type)
    n_integers = sum(isinstance(kind, types.Integer) for kind in kinds)
    n_slices = sum(isinstance(kind, types.SliceType) and not kind.has_step for kind in kinds)
    if n_integers + n_slices != len(kinds) or len(kinds) > array_type.ndim:
        return None
    if n_integers == array_type.ndim:
        return array_type.dtype
    # With integers first, then a slice at most, what is left of an array lies side by side.
    is_contiguous = array_type.is_contiguous and not any(
        isinstance(kind, types.SliceType) for kind in kinds[:-1]
    )
    return ViewType(array_type.dtype, array_type.ndim - n_integers, is_contiguous=is_contiguous)


@type_callable(operator.getitem)
def _type_of_getitem(_: Any) -> Any:
    def type_of(array, index):  # type: ignore[no-untyped-def]
        return _type_at(array, index) if _is_array(array) else None

    return type_of


@type_callable(operator.setitem)
def _type_of_setitem(_: Any) -> Any:
    def type_of(array, index, value):  # type: ignore[no-untyped-def]
        if _is_array(array) and _type_at(array, index) == array.dtype:
            return types.none
        return None

    return type_of


def _axes(context: Any, builder: Any, elements: Elements, index_type: Any, index: Any) -> list[Any]:
    """Return, for each axis of an index, where it begins and its length; None for an integer."""
    axes = []
    for axis, kind in enumerate(_kinds(index_type)):
        here = index
        if isinstance(index_type, types.BaseTuple):
            here = builder.extract_value(index, axis)
        if isinstance(kind, types.Integer):
            here = context.cast(builder, here, kind, types.int64)
            axes.append((elements.checked(axis, here), None))
            continue
        part = context.make_helper(builder, kind, here)
        stop = elements.length(axis)
        stop = builder.select(builder.icmp_signed("<", part.stop, stop), part.stop, stop)
        length = builder.sub(stop, part.start)
        is_empty = builder.icmp_signed("<", length, constant(0))
        axes.append((part.start, builder.select(is_empty, constant(0), length)))
    return axes


def _getitem(context, builder, signature, args):  # type: ignore[no-untyped-def]
    array_type, index_type = signature.args
    elements = Elements(context, builder, array_type, args[0])
    axes = _axes(context, builder, elements, index_type, args[1])
    offset = elements.offset([begin for begin, _ in axes])
    view_type = signature.return_type
    if not isinstance(view_type, ViewType):
        return elements.load(offset)
    kept = [(axis, length) for axis, (_, length) in enumerate(axes) if length is not None]
    kept += [(axis, elements.length(axis)) for axis in range(len(axes), array_type.ndim)]
    parts = [elements.address(offset), [length for _, length in kept]]
    if index_checks.are_checked():  # nothing is left of what lies outside
        zero = constant(0)
        parts[1] = [builder.select(elements.fits, length, zero) for length in parts[1]]
    if not view_type.is_contiguous:
        parts.append([elements.stride(axis) for axis, _ in kept])
    view = ir.Constant(context.get_value_type(view_type), ir.Undefined)
    view = builder.insert_value(view, parts[0], 0)
    for i, lengths in enumerate(parts[1:], 1):
        for axis, length in enumerate(lengths):
            view = builder.insert_value(view, length, [i, axis])
    return view


def _setitem(context, builder, signature, args):  # type: ignore[no-untyped-def]
    array_type, index_type, kind = signature.args
    elements = Elements(context, builder, array_type, args[0])
    axes = _axes(context, builder, elements, index_type, args[1])
    value = context.cast(builder, args[2], kind, array_type.dtype)
    elements.store(value, elements.offset([begin for begin, _ in axes]))
    return context.get_dummy_value()


for _type in (ArrayType, ViewType):
    infer_getattr(type("_Attributes", (_Attributes,), {"key": _type}))
    lower_getattr_generic(_type)(_shape)
    lower_builtin(operator.getitem, _type, types.Any)(_getitem)
    lower_builtin(operator.setitem, _type, types.Any, types.Any)(_setitem)
