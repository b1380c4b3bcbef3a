"""JSON by Python's own json module, strictly, and where asked for with the text that each value was written as."""
import json
import re
from decimal import Decimal


def reject(constant):
    raise ValueError(f"{constant} is not JSON")


QUICK = json.JSONDecoder(parse_float=Decimal, parse_constant=reject)
SPACE = re.compile(r"[ \t\r\n]*")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
LITERALS = {"true": True, "false": False, "null": None}


def parse(text):
    return QUICK.decode(text)


def is_json(data):
    try:
        QUICK.decode(data.decode("utf-8"))
    except ValueError:
        return False
    return True


def elements(data):
    """Yields (line, bytes) of each element of an array, or of the one document that is something else."""
    text = data.decode("utf-8")
    at = skip(text, 0)
    if text[at] != "[":
        yield text.count("\n", 0, at) + 1, text.strip(" \t\r\n").encode()
        return
    line, counted = 1, 0
    at = skip(text, at + 1)
    while text[at] != "]":
        _, end = QUICK.raw_decode(text, at)
        line += text.count("\n", counted, at)
        counted = at
        yield line, text[at:end].encode()
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


class Object(dict):
    pass


class Array(list):
    pass


class Integer(int):
    pass


class Real(Decimal):
    pass


def parse_with_text(text):
    """The same values as parse gives, where numbers, arrays and objects have their text in the attribute text."""
    value, end = value_at(text, skip(text, 0))
    if skip(text, end) != len(text):
        raise ValueError("text behind the value")
    return value


def skip(text, at):
    return SPACE.match(text, at).end()


def value_at(text, at):
    c = text[at:at + 1]
    if c == "{":
        value, end = object_at(text, at)
    elif c == "[":
        value, end = array_at(text, at)
    elif c == '"':
        return json.decoder.scanstring(text, at + 1, True)
    else:
        return scalar_at(text, at)
    value.text = text[at:end]
    return value, end


def scalar_at(text, at):
    for word, value in LITERALS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    m = NUMBER.match(text, at)
    if not m:
        raise ValueError(f"no JSON value at character {at}")
    value = Real(m[0]) if m[2] or m[3] else Integer(m[0])
    value.text = m[0]
    return value, m.end()


def object_at(text, at):
    out, at = Object(), skip(text, at + 1)
    while text[at:at + 1] != "}":
        if out:
            at = expect(text, at, ",")
        if text[at:at + 1] != '"':
            raise ValueError(f"no name at character {at}")
        name, at = json.decoder.scanstring(text, at + 1, True)
        at = expect(text, skip(text, at), ":")
        out[name], at = value_at(text, at)
        at = skip(text, at)
    return out, at + 1


def array_at(text, at):
    out, at = Array(), skip(text, at + 1)
    while text[at:at + 1] != "]":
        if out:
            at = expect(text, at, ",")
        value, at = value_at(text, at)
        out.append(value)
        at = skip(text, at)
    return out, at + 1


def expect(text, at, c):
    if text[at:at + 1] != c:
        raise ValueError(f"no {c} at character {at}")
    return skip(text, at + 1)
