#!/usr/bin/env python3
"""Opens a table with delta-rs or with DuckDB and lists its files, and prints what that took: open_table.py ENGINE TABLE

What is printed is how many files there are, and the seconds of time and of processor, without those of starting Python.
"""
import importlib
import json
import os
import sys
import time

engine, table = sys.argv[1:]
if engine == "deltalake":
    from deltalake import DeltaTable
else:
    import duckdb
    extensions = os.path.dirname(importlib.import_module("duckdb_extension_delta").__file__)
    duckdb.execute(f"load '{extensions}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")

begun, before = time.perf_counter(), time.process_time()
if engine == "deltalake":
    files = len(DeltaTable(table).file_uris())
else:
    files = len(duckdb.execute(f"select * from delta_list_files('{table}')").fetchall())
print(json.dumps({"wall": time.perf_counter() - begun, "cpu": time.process_time() - before, "files": files}))
