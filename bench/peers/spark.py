"""Spark with Delta for the scripts beside this one: a session whose processor time and memory count for the script's process."""
import contextlib
import glob
import os
import sys

from pyspark import SparkContext
from pyspark.sql import SparkSession


@contextlib.contextmanager
def session(cores, **settings):
    """A session of so many tasks at once. At its end the JVM has ended and is waited for, so that the kernel adds its account to ours."""
    jars = glob.glob(os.path.join(os.path.dirname(sys.prefix), "jars", "*.jar"))
    builder = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.jars", ",".join(sorted(jars)))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.driver.memory", "3g").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", cores)
        .config("spark.databricks.delta.snapshotPartitions", "1"))
    for name, value in settings.items():
        builder = builder.config(name.replace("__", "."), value)
    spark = builder.getOrCreate()
    gateway = SparkContext._gateway
    try:
        yield spark
    finally:
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()


def processor_seconds():
    """User and system time of the JVM until now."""
    with open(f"/proc/{SparkContext._gateway.proc.pid}/stat") as f:
        fields = f.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
