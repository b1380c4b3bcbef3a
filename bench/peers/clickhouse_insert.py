#!/usr/bin/env python3
"""ClickHouse's (chdb) NDJSON of a folder to a Parquet file: clickhouse_insert.py IN OUT COLUMNS CODEC THREADS

COLUMNS is the structure of the file function: typed columns, so that nothing is inferred.
"""
import os
import sys

import chdb

folder, out, columns, codec, threads = sys.argv[1:]
os.chdir("/")  # it denies files outside of the working folder
columns = columns.replace("'", "\\'")
chdb.query(f"""
    insert into function file('{out}/out.parquet', 'Parquet') select * from file('{folder}/*.ndjson', 'JSONEachRow', '{columns}')
    settings max_threads={threads}, date_time_input_format='best_effort', session_timezone='UTC',
        output_format_parquet_compression_method='{codec}', output_format_parquet_string_as_string=1, engine_file_truncate_on_insert=1""")
