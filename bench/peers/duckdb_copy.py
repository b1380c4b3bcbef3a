#!/usr/bin/env python3
"""DuckDB's COPY of a folder of NDJSON to Parquet: duckdb_copy.py IN OUT COLUMNS CODEC THREADS PARTITION_BY

COLUMNS is the parameter of read_json: typed columns, so that nothing is inferred. PARTITION_BY may be empty.
"""
import sys

import duckdb

folder, out, columns, codec, threads, partition_by = sys.argv[1:]
connection = duckdb.connect()
connection.execute(f"set threads={threads}")
target, options = out + "/out.parquet", f"format parquet, compression {codec}"
if partition_by:
    target, options = out, f"{options}, partition_by ({partition_by}), overwrite_or_ignore"
connection.execute(f"""
    copy (select * from read_json('{folder}/*.ndjson', format='newline_delimited', maximum_object_size=1048576, columns={columns}))
    to '{target}' ({options})""")
