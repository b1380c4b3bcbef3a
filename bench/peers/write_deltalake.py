#!/usr/bin/env python3
"""Writes rows with delta-rs as one version of many small files: write_deltalake.py IN TABLE COLUMNS BYTES

DuckDB reads the NDJSON of the folder IN. delta-rs ends a file behind the 1,024 rows with which it has BYTES.
"""
import sys

import duckdb
from deltalake import WriterProperties, write_deltalake

folder, table, columns, size = sys.argv[1:]
duckdb.execute("set timezone='UTC'")
data = duckdb.sql(f"select * replace (ts::timestamptz as ts) from read_json('{folder}/*.ndjson', format='newline_delimited', columns={columns})").to_arrow_table()
write_deltalake(table, data, target_file_size=int(size), writer_properties=WriterProperties(compression="SNAPPY"))
