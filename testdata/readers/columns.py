"""Typed columns of JSON records: Delta types in DDL, and the canonical text of rowhash.py for values of them."""
import base64
import binascii
import datetime
import json
import re
import struct
from decimal import Decimal
from fractions import Fraction

NULL = b"~"
WIDTHS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
ALIASES = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long", "real": "float", "dec": "decimal",
           "numeric": "decimal"}
NOT_NULL = re.compile(r"\s*not null\s*$", re.IGNORECASE)
EPOCH = datetime.datetime(1970, 1, 1)
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)?)?")


class WantsText(Exception):
    """A string column met a value that is not a string, whose JSON text is wanted."""


class Column:
    def __init__(self, name, type, **more):
        source = more.pop("from", None)
        if more:
            raise TypeError(f"column {name}: unknown keys {sorted(more)}")
        self.name, self.type = name, parse_type(type)
        self.path = [name] if source is None else source if isinstance(source, list) else parse_path(source)


def parse_path(text):
    if text == "$":
        return []
    return [int(index) if index else name for index, name in re.findall(r"\[(\d+)\]|([^.\[\]]+)", text)]


def lookup(record, path):
    """The value at a path; None where the way there ends in null or in nothing."""
    value = record
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
        if value is None:
            return None
    return value


def row_renderer(columns):
    """A function from a parsed record to the canonical text of its row."""
    renderers = [(c, renderer(c.type)) for c in sorted(columns, key=lambda c: c.name.encode())]
    container = list if all(c.path and isinstance(c.path[0], int) for c in columns) else dict
    whole = any(not c.path for c in columns)

    def render(record):
        if not whole and not isinstance(record, container):
            raise ValueError(f"the record is not {'an array' if container is list else 'an object'}")
        texts = []
        for column, text in renderers:
            try:
                texts.append(text(lookup(record, column.path)))
            except ValueError as e:
                raise ValueError(f"{column.name}: {e}") from None
        return b"\x1f".join(texts)

    return render


class Type:
    """A Delta type: kind is the outermost constructor, parts the types within."""

    def __init__(self, kind, parts=(), names=(), precision=0, scale=0):
        self.kind, self.parts, self.names, self.precision, self.scale = kind, parts, names, precision, scale

    def __str__(self):
        if self.kind == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.kind == "struct":
            return "struct<" + ",".join(f"{n}:{t}" for n, t in zip(self.names, self.parts)) + ">"
        if self.parts:
            return f"{self.kind}<{','.join(map(str, self.parts))}>"
        return self.kind


def parse_type(text):
    tokens = re.findall(r"`[^`]*`|[\w$ ]*[\w$]|[<>(),:]", text.strip())
    t = take_type(tokens)
    if tokens:
        raise ValueError(f"type {text}: nothing may follow {t}")
    return t


def take_type(tokens):
    kind = NOT_NULL.sub("", tokens.pop(0).strip().lower())
    kind = ALIASES.get(kind, kind)
    if kind == "decimal":
        return take_decimal(tokens)
    if kind == "struct":
        return take_struct(tokens)
    if kind in ("array", "map"):
        expect(tokens, "<")
        parts = [take_type(tokens)]
        if kind == "map":
            expect(tokens, ",")
            parts.append(take_type(tokens))
        expect(tokens, ">")
        return Type(kind, parts)
    if kind not in SCALARS:
        raise ValueError(f"no such type: {kind}")
    return Type(kind)


def take_decimal(tokens):
    if tokens[:1] != ["("]:
        return Type("decimal", precision=10)
    expect(tokens, "(")
    precision, scale = int(tokens.pop(0)), 0
    if tokens[0] == ",":
        tokens.pop(0)
        scale = int(tokens.pop(0))
    expect(tokens, ")")
    return Type("decimal", precision=precision, scale=scale)


def take_struct(tokens):
    expect(tokens, "<")
    names, parts = [], []
    while tokens[0] != ">":
        if names:
            expect(tokens, ",")
        names.append(tokens.pop(0).strip().strip("`"))
        expect(tokens, ":")
        parts.append(take_type(tokens))
        if NOT_NULL.fullmatch(tokens[0]):
            tokens.pop(0)
    expect(tokens, ">")
    return Type("struct", parts, names)


def expect(tokens, token):
    if not tokens or tokens.pop(0) != token:
        raise ValueError(f"type: {token} expected")


def renderer(t):
    """A function from a parsed JSON value to its canonical text. It raises ValueError for what the type cannot hold."""
    inner = {"array": array, "map": mapping, "struct": structure, "decimal": decimal}.get(t.kind)
    text = inner(t) if inner else SCALARS[t.kind]
    return lambda v: NULL if v is None else text(v)


def number(v, what):
    if isinstance(v, bool) or not isinstance(v, (int, Decimal)):
        raise ValueError(f"{type(v).__name__} where a {what} is expected")
    return v


def integer(kind):
    limit = 1 << (WIDTHS[kind] - 1)

    def text(v):
        v = number(v, kind)
        if isinstance(v, Decimal):
            # a huge exponent makes no huge integer
            if v and v.adjusted() > 20 or v != v.to_integral_value():
                raise ValueError(f"{v} is no {kind}")
        v = int(v)
        if not -limit <= v < limit:
            raise ValueError(f"{v} does not fit {kind}")
        return b"%d" % v

    return text


def boolean(v):
    if not isinstance(v, bool):
        raise ValueError(f"{type(v).__name__} where a boolean is expected")
    return b"true" if v else b"false"


def nearest_double(v):
    d = float(v)
    if d in (float("inf"), float("-inf")):
        raise ValueError(f"{v} does not fit double")
    return d


def double(v):
    return b"%d" % struct.unpack("<q", struct.pack("<d", nearest_double(signed(number(v, "double")))))


def single(v):
    """The float nearest to the digits; by way of a double alone it would be rounded twice."""
    v = signed(number(v, "float"))
    bits = struct.unpack("<i", struct.pack("<f", nearest_double(v)))[0]
    best = min((bits - 1, bits, bits + 1), key=lambda b: (distance(b, v), b & 1)) if v else bits
    return b"%d" % best


def signed(v):
    """JSON's -0 is read as the integer 0, but as a double it has a sign, which only the text shows."""
    if v != 0 or isinstance(v, Decimal):
        return v
    if not hasattr(v, "text"):
        raise WantsText
    return Decimal(v.text)


def distance(bits, v):
    if bits & 0x7FFFFFFF >= 0x7F800000:
        return float("inf")
    try:
        return abs(Fraction(struct.unpack("<f", struct.pack("<i", bits))[0]) - Fraction(v))
    except struct.error:
        return float("inf")


def decimal(t):
    limit = 10 ** t.precision

    def text(v):
        if isinstance(v, str):
            if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", v):
                raise ValueError(f"{v!r} is no decimal")
            v = Decimal(v)
        sign, digits, exponent = Decimal(number(v, "decimal")).as_tuple()
        coefficient, shift = int("".join(map(str, digits))), exponent + t.scale
        if coefficient and shift > 38:
            raise ValueError(f"{v} does not fit {t}")
        if shift >= 0:
            unscaled = coefficient * 10 ** min(shift, 38)
        else:
            unscaled, rest = divmod(coefficient, 10 ** min(-shift, len(digits) + 1))
            if rest:
                raise ValueError(f"{v} has more digits than {t}")
        if unscaled >= limit:
            raise ValueError(f"{v} does not fit {t}")
        return b"%ds%d" % (-unscaled if sign else unscaled, t.scale)

    return text


def string(v):
    if isinstance(v, bool):
        v = "true" if v else "false"
    elif not isinstance(v, str):
        if not hasattr(v, "text"):
            raise WantsText
        v = v.text
    b = v.encode("utf-8")  # a lone surrogate is a ValueError
    return b"%d:%s" % (len(b), b)


def binary(v):
    if not isinstance(v, str):
        raise ValueError(f"{type(v).__name__} where base64 text is expected")
    try:
        b = base64.b64decode(v, validate=True)
    except binascii.Error as e:
        raise ValueError(f"{v!r} is not base64: {e}") from None
    return b"%d:%s" % (len(b), b)


def clock(v, zone):
    """Microseconds since the epoch of a timestamp's text; zone says whether one is allowed."""
    m = TIME.fullmatch(v) if isinstance(v, str) else None
    if not m or m[4] is None or (m[8] and not zone):
        raise ValueError(f"{v!r} is no timestamp")
    return micros(m)


def micros(m):
    fraction = (m[7] or "").ljust(9, "0")
    if fraction[6:] != "000":
        raise ValueError(f"{m[0]} is finer than microseconds")
    at = datetime.datetime(*(int(g) for g in m.groups()[:6]), int(fraction[:6]))
    if m[8] and m[8] not in "Zz":
        hours, minutes = int(m[8][1:3]), int(m[8][4:6])
        if hours > 23 or minutes > 59:
            raise ValueError(f"{m[0]} has no valid offset")
        offset = datetime.timedelta(hours=hours, minutes=minutes)
        try:
            at += -offset if m[8][0] == "+" else offset
        except OverflowError:
            raise ValueError(f"{m[0]} is out of the range of years") from None
    return (at - EPOCH) // datetime.timedelta(microseconds=1)


def timestamp(v):
    return b"%d" % clock(v, zone=True)


def timestamp_ntz(v):
    return b"%d" % clock(v, zone=False)


def date(v):
    m = TIME.fullmatch(v) if isinstance(v, str) else None
    if not m:
        raise ValueError(f"{v!r} is no date")
    if m[4] is None:
        day = datetime.datetime(int(m[1]), int(m[2]), int(m[3]))
        return b"%d" % (day - EPOCH).days
    return b"%d" % (micros(m) // 86_400_000_000)


def array(t):
    elem = renderer(t.parts[0])

    def text(v):
        if not isinstance(v, list):
            raise ValueError(f"{type(v).__name__} where an array is expected")
        return b"[" + b",".join([elem(e) for e in v]) + b"]"

    return text


def structure(t):
    fields = [(n, renderer(p)) for n, p in zip(t.names, t.parts)]

    def text(v):
        if not isinstance(v, dict):
            raise ValueError(f"{type(v).__name__} where an object is expected")
        return b"{" + b",".join([f(v.get(n)) for n, f in fields]) + b"}"

    return text


def mapping(t):
    key_type, item = t.parts[0], renderer(t.parts[1])
    key = string if key_type.kind == "string" else None
    other = renderer(key_type)

    def text(v):
        if not isinstance(v, dict):
            raise ValueError(f"{type(v).__name__} where an object is expected")
        entries = [(key(k) if key else other(key_value(key_type, k))) + b"=" + item(e) for k, e in v.items()]
        return b"<" + b",".join(sorted(entries)) + b">"

    return text


def key_value(t, key):
    """A key is text; the value that it stands for in a key type of numbers or booleans."""
    if t.kind in WIDTHS or t.kind in ("float", "double", "decimal", "boolean"):
        return json.loads(key, parse_float=Decimal)
    return key


SCALARS = {kind: integer(kind) for kind in WIDTHS} | {
    "boolean": boolean, "float": single, "double": double, "string": string, "binary": binary, "date": date,
    "timestamp": timestamp, "timestamp_ntz": timestamp_ntz,
}
