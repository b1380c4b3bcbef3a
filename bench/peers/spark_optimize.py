#!/usr/bin/env python3
"""Spark's OPTIMIZE of a Delta table, into files of BYTES, in Z-order if there are COLUMNS: spark_optimize.py TABLE CORES BYTES [COLUMNS]"""
import sys

import spark

table, cores, size, *columns = sys.argv[1:]
order = f" zorder by ({columns[0]})" if columns else ""
with spark.session(cores, spark__databricks__delta__optimize__maxFileSize=size) as session:
    session.sql(f"optimize delta.`{table}`{order}").collect()
