#!/usr/bin/env python3
"""Appends rows with delta-rs, some at a time: append_deltalake.py IN OUT COLUMNS ROWS APPENDS

Prints the seconds of each append, and the seconds of processor that it took.

DuckDB reads the NDJSON of the folder IN, all of it before the first append. Behind its last rows the first come again.
"""
import json
import sys
import time

import duckdb
from deltalake import DeltaTable, write_deltalake

folder, out, columns, rows, appends = sys.argv[1], sys.argv[2] + "/table", sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
duckdb.execute("set timezone='UTC'")
data = duckdb.sql(f"select * replace (ts::timestamptz as ts) from read_json('{folder}/*.ndjson', format='newline_delimited', columns={columns})").to_arrow_table()
DeltaTable.create(out, data.schema)
table = DeltaTable(out)
seconds, processor = [], []
for begin in range(0, appends * rows, rows):
    part = data.slice(begin % data.num_rows, rows)
    start, before = time.perf_counter(), time.process_time()
    write_deltalake(table, part, mode="append")
    seconds.append(time.perf_counter() - start)
    processor.append(time.process_time() - before)
print(json.dumps({"wall": seconds, "cpu": processor}))
