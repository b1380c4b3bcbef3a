#!/usr/bin/env python3
"""delta-rs' Z-order of a table by COLUMNS, into files of BYTES: zorder_deltalake.py TABLE BYTES COLUMNS"""
import sys

from deltalake import DeltaTable

DeltaTable(sys.argv[1]).optimize.z_order(sys.argv[3].split(","), target_size=int(sys.argv[2]))
