#!/usr/bin/env python3
"""Appends an Arrow IPC stream from stdin to a Delta table with delta-rs, as one version; makes the table when missing.

  write_table.py TABLE [PARTITION_COLUMN...]
"""
import sys

import pyarrow as pa
from deltalake import write_deltalake


def main():
    table, partition_by = sys.argv[1], sys.argv[2:]
    write_deltalake(table, pa.ipc.open_stream(sys.stdin.buffer), mode="append", partition_by=partition_by or None)


if __name__ == "__main__":
    main()
