#!/usr/bin/env python3
"""Spark Structured Streaming of JSON into a Delta table, to the end of what is there: spark_stream.py FROM OUT COLUMNS CODEC CORES RECORDS

FROM is a folder of NDJSON, each file of which is a batch, or kafka://HOST:PORT/TOPIC, with at most RECORDS of it a batch. COLUMNS is a struct
in Spark's spelling. Prints a list with an object for each batch that had records: their number, and wall and processor seconds from the end
of the batch before.
"""
import json
import sys
import threading
import time
from urllib.parse import urlsplit

from pyspark.sql.functions import col, from_json
from pyspark.sql.streaming import StreamingQueryListener

import spark


class Batches(StreamingQueryListener):
    def __init__(self):
        self.list, self.ended = [], threading.Event()
        self.last = self.now()

    def now(self):
        return time.perf_counter(), spark.processor_seconds()

    def onQueryStarted(self, event):
        pass

    def onQueryProgress(self, event):
        now = self.now()
        if event.progress.numInputRows > 0:
            self.list.append({"records": event.progress.numInputRows, "wall": now[0] - self.last[0], "cpu": now[1] - self.last[1]})
        self.last = now

    def onQueryIdle(self, event):
        pass

    def onQueryTerminated(self, event):
        self.ended.set()


def records(session, source, columns, most):
    if not source.startswith("kafka://"):
        return session.readStream.schema(columns).option("maxFilesPerTrigger", 1).json(source)
    at = urlsplit(source)
    return (
        session.readStream.format("kafka").option("kafka.bootstrap.servers", at.netloc).option("subscribe", at.path[1:])
        .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", most).load()
        .select(from_json(col("value").cast("string"), columns).alias("r")).select("r.*"))


def main():
    source, out, columns, codec, cores, most = sys.argv[1:]
    with spark.session(cores, spark__sql__parquet__compression__codec=codec) as session:
        batches = Batches()
        session.streams.addListener(batches)
        schema = session.createDataFrame([], f"r {columns}").schema["r"].dataType
        query = (
            records(session, source, schema, most).writeStream.format("delta")
            .option("checkpointLocation", out + "/checkpoint").trigger(availableNow=True).start(out + "/table"))
        query.awaitTermination()
        batches.ended.wait(60)  # the batches are told of by another thread, this last
    print(json.dumps(batches.list))


main()
