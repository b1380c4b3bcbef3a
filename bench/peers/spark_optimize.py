#!/usr/bin/env python3
"""Spark's OPTIMIZE of a Delta table, into files of BYTES: spark_optimize.py TABLE CORES BYTES"""
import sys

import spark

table, cores, size = sys.argv[1:]
with spark.session(cores, spark__databricks__delta__optimize__maxFileSize=size) as session:
    session.sql(f"optimize delta.`{table}`").collect()
