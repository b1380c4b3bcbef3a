#!/usr/bin/env python3
"""Changes a Delta table with another engine, as one does beside a pipeline.

  change_table.py ENGINE TABLE

ENGINE is deltalake (delta-rs) or spark. Reads one change a line from stdin and answers each with a line: {"version":7}, the
newest version that has it, or {"error":"…"}. The table has a column id, and columns part and text of strings; rows that are
appended have negative ids.

  append       adds ten rows
  delete       deletes the rows with a negative, even id
  merge        gives ten rows at most, of those it has added, another text, and adds five
  optimize     compacts files
  add-column   adds a nullable column
  checkpoint   writes a log checkpoint
  vacuum       deletes files that nobody needs, by the table's retention
  cleanup      deletes expired commits (deltalake)
  drop-column  writes the table anew without the column text (deltalake)
  cluster-by   has the table clustered by the column that follows, or by none (spark)
  clustering   changes nothing; answers {"version":7,"clustering":["id"]} with the columns that the table is clustered by (spark)
  rows         changes nothing; answers {"version":7,"rows":{"-1":"a text"}} with the rows that it has added, as they must be
"""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

MARK = "foreign"  # the value of part in rows of this program


class Changes:
    """What is common to the engines: the rows that the table must have of theirs, which change when a change was made."""

    def __init__(self, path):
        self.path = path
        self.ids = itertools.count(1)
        self.columns = itertools.count(1)
        self.texts = {}

    def fresh(self, rows):
        return {-next(self.ids): text for text in ["it's new"] * rows}

    def append(self):
        rows = self.fresh(10)
        self.add(rows)
        self.texts |= rows

    def delete(self):
        self.delete_where("id < 0 and id % 2 = 0")
        self.texts = {i: text for i, text in self.texts.items() if i % 2}

    def merge(self):
        rows = {i: text + "er" for i, text in list(self.texts.items())[:10]} | self.fresh(5)
        self.upsert(rows)
        self.texts |= rows

    def add_column(self):
        self.add_column_named(f"added_{next(self.columns)}")

    def rows(self):
        return {"rows": self.texts}

    def answer(self, change):
        name, *arguments = change.split()
        more = getattr(self, name.replace("-", "_"))(*arguments) or {}
        return {"version": self.version()} | more


class Deltalake(Changes):
    def table(self):
        from deltalake import DeltaTable
        return DeltaTable(self.path)

    def version(self):
        return self.table().version()

    def arrow(self, rows):
        import pyarrow as pa
        return pa.table({"id": list(rows), "part": [MARK] * len(rows), "text": list(rows.values())})

    def add(self, rows):
        from deltalake import write_deltalake
        write_deltalake(self.path, self.arrow(rows), mode="append", schema_mode="merge")

    def delete_where(self, condition):
        self.table().delete(condition)

    def upsert(self, rows):
        merge = self.table().merge(self.arrow(rows), "t.id = s.id", source_alias="s", target_alias="t")
        merge.when_matched_update({"text": "s.text"}).when_not_matched_insert({c: f"s.{c}" for c in ("id", "part", "text")}).execute()

    def optimize(self):
        self.table().optimize.compact()

    def add_column_named(self, name):
        from deltalake import Field
        from deltalake.schema import PrimitiveType
        self.table().alter.add_columns([Field(name, PrimitiveType("string"), nullable=True)])

    def checkpoint(self):
        self.table().create_checkpoint()

    def vacuum(self):
        self.table().vacuum(dry_run=False, full=True)

    def cleanup(self):
        self.table().cleanup_metadata()

    def drop_column(self):
        from deltalake import write_deltalake
        write_deltalake(self.path, self.table().to_pyarrow_table(columns=["id", "part"]), mode="overwrite", schema_mode="overwrite")


class Spark(Changes):
    def __init__(self, path):
        super().__init__(path)
        import read_table
        self.session = read_table.spark_session({
            "spark.driver.extraClassPath": compiled("PutIfAbsentLogStore.java"), "spark.delta.logStore.file.impl": "PutIfAbsentLogStore",
        })
        self.name = f"delta.`{path}`"

    def sql(self, text):
        return self.session.sql(text).collect()

    def values(self, rows):
        lines = ",".join(f"({i}L,'{MARK}',\"{text}\")" for i, text in rows.items())
        return f"select * from values {lines} as s(id, part, text)"

    def version(self):
        return self.sql(f"describe history {self.name} limit 1")[0].version

    def add(self, rows):
        self.session.sql(self.values(rows)).write.format("delta").mode("append").save(self.path)

    def delete_where(self, condition):
        self.sql(f"delete from {self.name} where {condition} and part = '{MARK}'")

    def upsert(self, rows):
        self.sql(f"merge into {self.name} t using ({self.values(rows)}) s on t.id = s.id and t.part = '{MARK}'"
                 " when matched then update set text = s.text when not matched then insert (id, part, text) values (s.id, s.part, s.text)")

    def optimize(self):
        self.sql(f"optimize {self.name}")

    def add_column_named(self, name):
        self.sql(f"alter table {self.name} add columns ({name} string)")

    def checkpoint(self):
        self.version()  # so that it knows the newest
        self.session._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self.session._jsparkSession, self.path).checkpoint()

    def vacuum(self):
        self.sql(f"vacuum {self.name}")

    def cluster_by(self, column):
        self.sql(f"alter table {self.name} cluster by " + (column if column == "none" else f"({column})"))

    def clustering(self):
        return {"clustering": self.sql(f"describe detail {self.name}")[0].clusteringColumns}


def compiled(source):
    """The class path of a Java class of this folder, with that of Delta Lake: a class loader does not see what is in its children alone."""
    import pyspark
    folder = tempfile.mkdtemp(prefix="change-table-")
    here = os.path.dirname(os.path.abspath(__file__))
    delta = os.path.join(os.path.dirname(sys.prefix), "jars", "*")
    classes = os.path.join(os.path.dirname(pyspark.__file__), "jars", "*") + ":" + delta
    subprocess.run(["javac", "-nowarn", "-d", folder, "-cp", classes, os.path.join(here, source)], check=True)
    return folder + ":" + delta


ENGINES = {"deltalake": Deltalake, "spark": Spark}


def main():
    changes = ENGINES[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        try:
            answer = changes.answer(line.strip())
        except Exception as e:
            answer = {"error": type(e).__name__ + ": " + re.sub(r"\s+", " ", str(e)).strip()[:1000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
