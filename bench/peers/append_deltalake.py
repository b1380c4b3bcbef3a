#!/usr/bin/env python3
"""Appends rows with delta-rs, some at a time: append_deltalake.py IN OUT COLUMNS ROWS

Prints the seconds of each append, and the seconds of processor that all of them took.

DuckDB reads the NDJSON of the folder IN, all of it before the first append.
"""
import json
import sys
import time

import duckdb
from deltalake import DeltaTable, write_deltalake

folder, out, columns, rows = sys.argv[1], sys.argv[2] + "/table", sys.argv[3], int(sys.argv[4])
duckdb.execute("set timezone='UTC'")
data = duckdb.sql(f"select * replace (ts::timestamptz as ts) from read_json('{folder}/*.ndjson', format='newline_delimited', columns={columns})").to_arrow_table()
DeltaTable.create(out, data.schema)
table = DeltaTable(out)
seconds, before = [], time.process_time()
for begin in range(0, data.num_rows, rows):
    part = data.slice(begin, rows)
    start = time.perf_counter()
    write_deltalake(table, part, mode="append")
    seconds.append(time.perf_counter() - start)
print(json.dumps({"wall": seconds, "cpu": time.process_time() - before}))
