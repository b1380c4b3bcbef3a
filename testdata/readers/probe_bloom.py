"""Asks DuckDB what the Bloom filters of a Parquet file exclude.

    probe_bloom.py FILE COLUMN VALUE ...

Prints a JSON array: for each value, whether all row groups are excluded by the filters alone.
"""

import json
import sys

import duckdb

file, column, *values = sys.argv[1:]
answers = []
for value in values:
    rows = duckdb.execute(
        "SELECT bool_and(bloom_filter_excludes) FROM parquet_bloom_probe(?, ?, ?)", [file, column, value]
    ).fetchone()
    answers.append(rows[0])
print(json.dumps(answers))
