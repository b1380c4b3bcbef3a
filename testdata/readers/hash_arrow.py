#!/usr/bin/env python3
"""Hashes an Arrow IPC stream from stdin and prints {"count":…,"schema":…,"hash":…}: the way to hold rowhash.py to Go's."""
import json
import sys

import pyarrow as pa

import rowhash


def main():
    reader = pa.ipc.open_stream(sys.stdin.buffer)
    total = rowhash.Sum()
    for batch in reader:
        total.add_batch(batch)
    print(json.dumps({"count": total.rows, "schema": rowhash.schema_names(reader.schema), "hash": total.hash()}))


if __name__ == "__main__":
    main()
