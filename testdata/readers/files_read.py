#!/usr/bin/env python3
"""Counts the files that queries on Delta tables read, by the engine's own metrics.

  files_read.py ENGINE

ENGINE is duckdb or spark. Reads one query a line from stdin, {"table":"/lake/t","version":3,"where":"x = 17"}, and answers each
with a line: {"files":4,"rows":270}, of which rows are those that the query finds.
"""
import json
import sys

import read_table


class Duckdb(read_table.Duckdb):
    def query(self, path, version, where):
        path = path.replace("'", "''")
        profile = f"explain (analyze, format json) select * from delta_scan('{path}', version={version}) where {where}"
        query = json.loads(self.connection.sql(profile).fetchall()[0][1])["children"][0]["children"][0]  # below EXPLAIN_ANALYZE
        scan = query
        while scan["operator_name"] != "DELTA_SCAN":
            scan = scan["children"][0]
        return int(scan["extra_info"]["Total Files Read"]), query["operator_cardinality"]


class Spark(read_table.Spark):
    def query(self, path, version, where):
        rows = self.session.read.format("delta").option("versionAsOf", version).load(path).where(where)
        found = len(rows.collect())
        scan = rows._jdf.queryExecution().executedPlan()
        while not scan.metrics().contains("numFiles"):
            scan = scan.children().head()
        return scan.metrics().apply("numFiles").value(), found


ENGINES = {"duckdb": Duckdb, "spark": Spark}


def main():
    engine = ENGINES[sys.argv[1]]()
    for line in sys.stdin:
        query = json.loads(line)
        files, rows = engine.query(query["table"], query["version"], query["where"])
        print(json.dumps({"files": files, "rows": rows}), flush=True)


if __name__ == "__main__":
    main()
