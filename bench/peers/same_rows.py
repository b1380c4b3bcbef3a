#!/usr/bin/env python3
"""Prints count and order-free hash of the rows in each folder, a Delta table or Parquet files: same_rows.py COLUMNS FOLDER...

COLUMNS, as for duckdb_copy.py, are the columns and the types to which they are cast before they are hashed.
"""
import ast
import importlib
import json
import os
import sys

import duckdb


def rows(connection, folder, columns):
    table = os.path.join(folder, "table")
    source = f"delta_scan('{table}')" if os.path.isdir(table) else f"read_parquet('{folder}/**/*.parquet')"
    values = ", ".join(f'"{name}"::{kind}' for name, kind in columns.items())
    count, total = connection.execute(f"select count(*), sum(hash({values})::hugeint) from {source}").fetchone()
    return {"count": count, "hash": str(total)}


connection = duckdb.connect()
connection.execute("set timezone='UTC'")
extensions = os.path.dirname(importlib.import_module("duckdb_extension_delta").__file__)
connection.execute(f"load '{extensions}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
columns = ast.literal_eval(sys.argv[1])
print(json.dumps([rows(connection, folder, columns) for folder in sys.argv[2:]]))
