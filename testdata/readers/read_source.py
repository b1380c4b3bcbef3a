#!/usr/bin/env python3
"""Reads JSON source files on its own, without Sluice or Arrow, and prints the row hash that their table must have.

  read_source.py --columns COLUMNS FILE...

COLUMNS is a JSON array, or @FILE with one: [{"name":"ts","type":"timestamp","from":"meta.producer.timestamp"}]. A type is
in DDL. "from" is a path (a.b, tags[0], [3]), or the same as an array of names and numbers for names with other characters,
or "$" for the whole record; without it the field called like the column is meant. A file is one JSON array, one object,
or lines; *.gz is decompressed. The answer is

  {"count":99,"bad":1,"faults":["web.ndjson:17: ts: …"],"schema":["ts:timestamp"],"hash":"…"}

where the hash is that of rowhash.py over the good records. Python's json module reads the records, numbers as exact
integers and decimals; a record that is not JSON, or a value that its column cannot hold exactly, makes the record bad.
"""
import argparse
import gzip
import hashlib
import json
import re

import columns
import jsontext

ARRAY = re.compile(rb"\[\s*\{")  # lines that are arrays hold plain values
MAX_FAULTS = 100
MASK = (1 << 128) - 1


def open_file(name):
    return gzip.open(name, "rb") if name.endswith(".gz") else open(name, "rb")


def records(name):
    """Yields (position, bytes) for every record: the line it begins on, counted from 1."""
    with open_file(name) as f:
        head = f.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")
        f.seek(0)
        first = head.split(b"\n", 1)[0]
        if ARRAY.match(head) or not jsontext.is_json(first):
            whole = f.read().removeprefix(b"\xef\xbb\xbf")
            if jsontext.is_json(whole):
                yield from jsontext.elements(whole)
                return
            f.seek(0)
        for position, line in enumerate(f, 1):
            if position == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.strip(b" \t\r\n"):
                yield position, line


def row_text(render, record):
    """The canonical text of a record. The quick parser keeps no text of what is not a string; when a column wants that,
    the slow one is asked."""
    text = record.decode("utf-8")
    try:
        return render(jsontext.parse(text))
    except columns.WantsText:
        return render(jsontext.parse_with_text(text))


def read(names, wanted):
    render = columns.row_renderer(wanted)
    count = bad = total = 0
    faults = []
    for name in names:
        for position, record in records(name):
            try:
                text = row_text(render, record)
            except (ValueError, ArithmeticError, RecursionError) as e:
                bad += 1
                if len(faults) < MAX_FAULTS:
                    faults.append(f"{name}:{position}: {e}")
                continue
            count += 1
            total += int.from_bytes(hashlib.sha256(text).digest()[:16], "little")
    return {"count": count, "bad": bad, "faults": faults, "schema": [f"{c.name}:{c.type}" for c in wanted],
            "hash": f"{total & MASK:032x}"}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--columns", required=True)
    p.add_argument("files", nargs="+")
    a = p.parse_args()
    spec = open(a.columns[1:], encoding="utf-8").read() if a.columns.startswith("@") else a.columns
    wanted = [columns.Column(**c) for c in json.loads(spec)]
    print(json.dumps(read(a.files, wanted), ensure_ascii=False))


if __name__ == "__main__":
    main()
