#!/usr/bin/env python3
"""Has delta-rs write a log checkpoint of a table's newest version: checkpoint_deltalake.py TABLE"""
import sys

from deltalake import DeltaTable

DeltaTable(sys.argv[1]).create_checkpoint()
