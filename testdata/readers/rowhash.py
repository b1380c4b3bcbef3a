"""The canonical text of a row, and an order-free hash over rows.

The same form as Go's internal/interop/rowhash, whose package comment defines the bytes; a test holds the two together.
Columns of the common types are rendered by Arrow's kernels, whole batches at a time.
"""
import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NULL = b"~"
SEPARATOR = b"\x1f"
MASK = (1 << 128) - 1


class Sum:
    """The hash of a multiset of rows."""

    def __init__(self):
        self.rows = 0
        self.total = 0

    def add(self, texts):
        """Counts rows in, given the canonical text of each as bytes."""
        if not texts:
            return
        sha = hashlib.sha256
        digests = b"".join([sha(t).digest()[:16] for t in texts])
        lanes = np.frombuffer(digests, dtype="<u4").reshape(-1, 4).sum(axis=0, dtype=np.uint64)
        self.total += sum(int(lane) << (32 * i) for i, lane in enumerate(lanes))
        self.rows += len(texts)

    def add_batch(self, batch):
        """Counts in every row of a pyarrow.RecordBatch."""
        if batch.num_rows == 0:
            return
        order = sorted(range(batch.num_columns), key=lambda i: batch.schema.field(i).name.encode())
        columns = [fill(render(batch.column(i))) for i in order]
        self.add(pc.binary_join_element_wise(*columns, scalar(SEPARATOR)).to_pylist())

    def hash(self):
        return f"{self.total & MASK:032x}"


def scalar(b):
    return pa.scalar(b, pa.large_binary())


def fill(texts):
    return pc.fill_null(texts, scalar(NULL))


def texts_of(values):
    return pa.array(values, pa.large_binary())


def numbers(arr):
    return pc.cast(pc.cast(arr, pa.large_string()), pa.large_binary())


def wrap(opening, inner, closing):
    return pc.binary_join_element_wise(scalar(opening), inner, scalar(closing), scalar(b""))


def render(arr):
    """One text for each element, null for null, as large_binary."""
    t = arr.type
    if pa.types.is_dictionary(t) or pa.types.is_run_end_encoded(t):
        return render(arr.cast(t.value_type))
    if pa.types.is_null(t):
        return texts_of([None] * len(arr))
    if pa.types.is_boolean(t) or pa.types.is_integer(t):
        return numbers(arr)
    if pa.types.is_floating(t):
        return render_float(arr)
    if pa.types.is_decimal(t):
        return render_decimal(arr)
    if pa.types.is_date(t):
        return numbers(arr.cast(pa.date32()).cast(pa.int32()))
    if pa.types.is_timestamp(t):
        return numbers(arr.cast(pa.timestamp("us", t.tz)).cast(pa.int64()))
    if is_text(t):
        return render_text(arr)
    return render_nested(arr)


def is_text(t):
    return t in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()) \
        or pa.types.is_fixed_size_binary(t)


def render_text(arr):
    arr = arr.cast(pa.large_binary())
    return pc.binary_join_element_wise(numbers(pc.binary_length(arr)), arr, scalar(b":"))


def render_float(arr):
    width = arr.type.bit_width
    ints, floats, quiet = (np.int64, np.float64, 0x7FF8000000000000) if width == 64 else (np.int32, np.float32, 0x7FC00000)
    values = pc.fill_null(arr, 0).to_numpy(zero_copy_only=False).astype(floats, copy=False)
    bits = np.where(np.isnan(values), ints(quiet), values.view(ints))
    return numbers(pa.array(bits, mask=pc.is_null(arr).to_numpy(zero_copy_only=False)))


def render_decimal(arr):
    scale = arr.type.scale
    out = []
    for v in arr.to_pylist():
        if v is None:
            out.append(None)
            continue
        sign, digits, exponent = v.as_tuple()
        unscaled = int("".join(map(str, digits)) or "0") * 10 ** (exponent + scale)
        out.append(b"%ds%d" % (-unscaled if sign else unscaled, scale))
    return texts_of(out)


def is_entries(t):
    """list<struct<key,value>> is how engines without a map type give a map."""
    if not (pa.types.is_list(t) or pa.types.is_large_list(t)):
        return False
    v = t.value_type
    return pa.types.is_struct(v) and [f.name for f in v] == ["key", "value"]


def render_nested(arr):
    t = arr.type
    if pa.types.is_fixed_size_list(t):
        return render_nested(arr.cast(pa.list_(t.value_type)))
    if pa.types.is_map(t):
        return render_map(arr, arr.keys, arr.items)
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return render_list(arr)
    if pa.types.is_struct(t):
        return render_struct(arr)
    raise ValueError(f"Arrow type {t} has no canonical text")


def render_list(arr):
    """The offsets count from the start of the values, which a sliced array shares with its neighbours."""
    offsets = arr.offsets.cast(pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, fill(render(arr.values)))
    joined = pc.binary_join(lists, scalar(b","))
    return pc.if_else(arr.is_valid(), wrap(b"[", joined, b"]"), pa.scalar(None, pa.large_binary()))


def render_struct(arr):
    # flatten: a null parent makes null children
    fields = [fill(render(f)) for f in arr.flatten()]
    inner = pc.binary_join_element_wise(*fields, scalar(b","))
    return pc.if_else(arr.is_valid(), wrap(b"{", inner, b"}"), pa.scalar(None, pa.large_binary()))


def render_map(arr, keys, items):
    keys, items = fill(render(keys)).to_pylist(), fill(render(items)).to_pylist()
    offsets, out = arr.offsets.to_pylist(), []
    for i, valid in enumerate(arr.is_valid().to_pylist()):
        entries = sorted(keys[j] + b"=" + items[j] for j in range(offsets[i], offsets[i + 1])) if valid else []
        out.append(b"<" + b",".join(entries) + b">" if valid else None)
    return texts_of(out)


NAMES = {
    pa.int8(): "byte", pa.int16(): "short", pa.int32(): "integer", pa.int64(): "long", pa.float32(): "float",
    pa.float64(): "double", pa.bool_(): "boolean", pa.date32(): "date", pa.null(): "void",
}


def type_name(t):
    """Delta's name of an Arrow type, as Go's rowhash.Schema spells it."""
    if pa.types.is_dictionary(t):
        return type_name(t.value_type)
    if pa.types.is_decimal(t):
        return f"decimal({t.precision},{t.scale})"
    if pa.types.is_timestamp(t):
        return "timestamp" if t.tz else "timestamp_ntz"
    if t in (pa.string(), pa.large_string(), pa.string_view()):
        return "string"
    if is_text(t):
        return "binary"
    if pa.types.is_map(t):
        return f"map<{type_name(t.key_type)},{type_name(t.item_type)}>"
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return f"array<{type_name(t.value_type)}>"
    if pa.types.is_struct(t):
        return "struct<" + ",".join(f"{f.name}:{type_name(f.type)}" for f in t) + ">"
    return NAMES.get(t, str(t))


def schema_names(schema):
    return [f"{f.name}:{type_name(f.type)}" for f in schema]
