#!/usr/bin/env python3
"""Reads Delta tables with a foreign engine and prints one JSON line for each, to compare between engines and with Go.

  read_table.py ENGINE TABLE [--version N] [--columns a,b]
  read_table.py ENGINE --list FILE      one job a line, {"table":…,"version":…,"columns":[…]}, in one process; - is stdin,
                                        whose jobs are answered as they come

ENGINE is deltalake, duckdb, chdb, polars or spark. A line of the answer is

  {"engine":"duckdb","table":"lake/t","version":3,"count":5,"schema":["id:long"],"hash":"…"}
  {"engine":"duckdb","table":"lake/t","version":3,"error":"…"}

and the exit status 1 when there was an error among them. The hash is that of rowhash.py. Without a version the newest is
read; only deltalake tells which that was, the others leave null.

delta-rs is asked through its query engine, since its way through pyarrow datasets answers wrongly for some tables.
DuckDB's extension comes from its own package, so that nothing is fetched at run time. ClickHouse tells
strings as binary, has no null arrays, maps and structs, and misreads some decimals that are partition values: where a
table holds such, its answer differs.
"""
import argparse
import glob
import importlib
import json
import os
import re
import sys

import pyarrow as pa

import rowhash


FOLDER = os.getcwd()  # which an engine may leave


def place(table):
    """A folder's absolute path, since some engines want that; a URL, which only some engines read, as it is."""
    return table if "://" in table else os.path.normpath(os.path.join(FOLDER, table))


def quoted(columns, quote='"'):
    return ",".join(quote + c.replace(quote, quote * 2) + quote for c in columns) if columns else "*"


class Deltalake:
    def read(self, path, version, columns):
        from deltalake import DeltaTable, QueryBuilder
        table = DeltaTable(path, version=version)
        rows = QueryBuilder().register("t", table).execute(f"select {quoted(columns)} from t")
        return table.version(), pa.RecordBatchReader.from_stream(rows)


class Duckdb:
    def __init__(self):
        import duckdb
        self.connection = duckdb.connect()
        self.connection.execute("set TimeZone='UTC'")
        self.connection.execute("set enable_external_file_cache=false")  # a test may change a file behind its back
        folder = os.path.dirname(importlib.import_module("duckdb_extension_delta").__file__)
        self.connection.execute(f"load '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")

    def read(self, path, version, columns):
        at = "" if version is None else f", version={version}"
        path = path.replace("'", "''")
        rows = self.connection.sql(f"select {quoted(columns)} from delta_scan('{path}'{at})")
        return version, rows.to_arrow_reader(65536)


class Chdb:
    SETTINGS = ("session_timezone='UTC'", "output_format_arrow_string_as_string=0",
                "output_format_arrow_low_cardinality_as_dictionary=0", "output_format_arrow_compression_method='none'")

    def __init__(self):
        import tempfile
        from chdb import session
        os.chdir("/")  # it denies files outside of the working folder
        self.scratch = tempfile.TemporaryDirectory(prefix="readers-chdb-")
        self.session = session.Session(self.scratch.name)
        for setting in self.SETTINGS:
            self.session.query("set " + setting)

    def read(self, path, version, columns):
        path = path.replace("\\", "\\\\").replace("'", "\\'")
        at = "" if version is None else f" settings delta_lake_snapshot_version={version}"
        raw = self.session.query(f"select {quoted(columns, '`')} from deltaLakeLocal('{path}'){at}", "ArrowStream").bytes()
        if not raw:
            return version, pa.RecordBatchReader.from_batches(pa.schema([]), [])
        return version, pa.ipc.open_stream(raw)


class Polars:
    def read(self, path, version, columns):
        import polars
        rows = polars.read_delta(path, version=version, columns=columns).to_arrow()
        return version, pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(max_chunksize=65536))


def spark_session(settings=()):
    """Spark with Delta Lake in this process, for many small tables, with further settings."""
    from pyspark.sql import SparkSession
    jars = glob.glob(os.path.join(os.path.dirname(sys.prefix), "jars", "*.jar"))
    if not jars:
        raise FileNotFoundError("no jars for Spark; run install.sh spark")
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(sorted(jars)))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN").config("spark.sql.codegen.wholeStage", "false")  # for so little, compiling takes longer
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "1")
        .config("spark.databricks.delta.snapshotPartitions", "1").config("spark.driver.maxResultSize", "0")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1"))
    for key, value in dict(settings).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


class Spark:
    def __init__(self):
        self.session = spark_session()

    def read(self, path, version, columns):
        reader = self.session.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        rows = reader.load(path)
        if columns:
            rows = rows.select(*[quoted([c], "`") for c in columns])
        table = rows.toArrow()
        return version, pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=65536))


ENGINES = {"deltalake": Deltalake, "duckdb": Duckdb, "chdb": Chdb, "polars": Polars, "spark": Spark}


def answer(engine, path, version, columns):
    got, reader = engine.read(path, version, columns)
    total = rowhash.Sum()
    for batch in reader:
        total.add_batch(batch)
    return {"version": got, "count": total.rows, "schema": rowhash.schema_names(reader.schema), "hash": total.hash()}


def run(name, jobs):
    """Prints an answer for each job; after an error goes on with a new engine, since the old one may be dead."""
    engine, failed = None, 0
    for job in jobs:
        path, version = place(job["table"]), job.get("version")
        line = {"engine": name, "table": job["table"], "version": version}
        try:
            engine = engine or ENGINES[name]()
            line.update(answer(engine, path, version, job.get("columns")))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as e:  # a panic in an engine's native code is not an Exception
            line["error"] = type(e).__name__ + ": " + re.sub(r"\s+", " ", str(e)).strip()[:1000]
            engine, failed = None, failed + 1
        print(json.dumps(line, ensure_ascii=False), flush=True)
    return failed


def read_list(name):
    with (sys.stdin if name == "-" else open(name, encoding="utf-8")) as f:
        yield from (json.loads(line) for line in f if line.strip())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("engine", choices=sorted(ENGINES))
    p.add_argument("table", nargs="?")
    p.add_argument("--version", type=int)
    p.add_argument("--columns", type=lambda s: s.split(","))
    p.add_argument("--list")
    a = p.parse_args()
    if bool(a.table) == bool(a.list):
        p.error("give a TABLE or --list FILE")
    jobs = read_list(a.list) if a.list else [{"table": a.table, "version": a.version, "columns": a.columns}]
    sys.exit(1 if run(a.engine, jobs) else 0)


if __name__ == "__main__":
    main()
