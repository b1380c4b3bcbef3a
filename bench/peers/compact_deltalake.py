#!/usr/bin/env python3
"""delta-rs' OPTIMIZE of a table, into files of BYTES: compact_deltalake.py TABLE BYTES"""
import sys

from deltalake import DeltaTable

DeltaTable(sys.argv[1]).optimize.compact(target_size=int(sys.argv[2]))
