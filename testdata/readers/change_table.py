#!/usr/bin/env python3
"""Changes a Delta table with delta-rs, as another engine does beside a pipeline.

  change_table.py TABLE

Reads one change a line from stdin and answers each with a line: {"version":7}, the newest version that has it, or
{"error":"…"}. The table has a column id, and columns part and text of strings; rows that are appended have negative ids.

  append       adds ten rows
  delete       deletes the rows with a negative, even id
  optimize     compacts files
  add-column   adds a nullable column
  checkpoint   writes a log checkpoint
  drop-column  writes the table anew without the column text
"""
import itertools
import json
import re
import sys

import pyarrow as pa
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType


class Changes:
    def __init__(self, path):
        self.path = path
        self.ids = itertools.count(1)
        self.columns = itertools.count(1)

    def table(self):
        return DeltaTable(self.path)

    def append(self):
        ids = [-next(self.ids) for _ in range(10)]
        write_deltalake(self.path, pa.table({"id": ids, "part": ["foreign"] * 10, "text": [str(i) for i in ids]}), mode="append", schema_mode="merge")

    def delete(self):
        self.table().delete("id < 0 and id % 2 = 0")

    def optimize(self):
        self.table().optimize.compact()

    def add_column(self):
        self.table().alter.add_columns([Field(f"added_{next(self.columns)}", PrimitiveType("string"), nullable=True)])

    def checkpoint(self):
        self.table().create_checkpoint()

    def drop_column(self):
        write_deltalake(self.path, self.table().to_pyarrow_table(columns=["id", "part"]), mode="overwrite", schema_mode="overwrite")


def main():
    changes = Changes(sys.argv[1])
    for line in sys.stdin:
        try:
            getattr(changes, line.strip().replace("-", "_"))()
            answer = {"version": changes.table().version()}
        except Exception as e:
            answer = {"error": type(e).__name__ + ": " + re.sub(r"\s+", " ", str(e)).strip()[:1000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
