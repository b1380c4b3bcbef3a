package main

import (
	"fmt"
	"strconv"
	"time"
)

// rows is what is measured.
func (b *bench) rows() []row {
	n := b.records
	snappy := work{shape: shopEvents(), records: n, files: 4, codec: "snappy", cores: 1}
	disk, compact, zstd := snappy.toDisk(), snappy, snappy
	compact.compact, zstd.codec = true, "zstd"
	rows := []row{
		b.files("files: snappy", snappy),
		b.files("files: snappy, to a disk", disk),
		b.files("files: snappy, compact", compact),
		b.files("files: snappy, compact, to a disk", compact.toDisk()),
		b.files("files: zstd", zstd),
		pair("files: beside Spark", eventColumns, b.sluice("Sluice", disk), b.sparkFiles(disk)).with("spark"),
		pair("files: beside ClickHouse", eventColumns, b.sluice("Sluice", snappy), b.clickhouse(snappy)).with("chdb"),
		b.scaling(snappy),
		b.topics(snappy),
		pair("topic: beside Spark", eventColumns, b.sluiceKafka("Sluice", disk), b.sparkKafka(disk)).with("spark"),
		b.starts(),
		b.looks(),
		b.idle(20 * time.Second),
		b.latencies(10_000, 1000),
		b.appends(appends{commits: 2000, rows: 2500, few: 100}),
		b.batches(appends{commits: 100, rows: 2500}),
	}
	for _, s := range []struct {
		shape   shape
		records int64
	}{{tiny(), n}, {wide(), n / 30}, {deep(), n / 6}, {long(), n / 60}, {partitioned(1000), n / 3}} {
		for _, codec := range []string{"snappy", "zstd"} {
			rows = append(rows, b.files("shape: "+s.shape.name+", "+codec, work{shape: s.shape, records: s.records, files: 4, codec: codec, cores: 1}))
		}
	}
	rows = append(rows, b.batchSizes(n/3), b.partitions(n/3), b.tableSizes(appends{commits: 400, rows: 100}))
	small := max(10, n/1500) // files of a table that wants to be compacted
	rows = append(rows, b.compactions(small)...)
	byFile := work{shape: shopEvents(), records: n / 3, files: 400, codec: "snappy", batch: "max_files: 1", cores: 1}
	rows = append(rows, b.ingestion(small, byFile), b.besideOwnCompaction(small, byFile))
	many := max(1000, n/3) // files of a table that only has a log
	rows = append(rows, b.openings(many)...)
	return append(rows, b.appendsByFiles(many, appends{commits: 100, rows: 2500}), b.plansByFiles(many))
}

// files is NDJSON into a table, beside DuckDB.
func (b *bench) files(name string, w work) row {
	return pair(name, w.shape.columns, b.sluice("Sluice", w), b.duckdb(w))
}

// scaling is the same work on two cores and on one.
func (b *bench) scaling(w work) row {
	two := w
	two.cores = 2
	return row{
		name: "cores", columns: w.shape.columns,
		contenders: []contender{b.sluice("Sluice, two cores", two), b.sluice("Sluice, one core", w), b.duckdb(two)},
	}
}

// topics is a topic into a table, with the codecs of the files.
func (b *bench) topics(w work) row {
	zstd := w
	zstd.codec = "zstd"
	return row{name: "topic", columns: w.shape.columns, contenders: []contender{b.sluiceKafka("Sluice, snappy", w), b.sluiceKafka("Sluice, zstd", zstd)}}
}

// starts is how soon a process that starts has committed what waits for it.
func (b *bench) starts() row {
	const waiting = 10_000
	return row{
		name: "start to first commit of 10,000 records in a topic", means: "wall: until that commit",
		contenders: []contender{
			b.starting("Sluice, first run", b.waitingTopic(waiting), "committed", 0),
			b.starting("Sluice, after kill -9", b.waitingTopic(waiting), "committed", 1),
		},
	}
}

// looks is how soon a process that starts has planned a batch.
func (b *bench) looks() row {
	const waiting = 1000
	return row{
		name: "start to first plan", means: "wall: until the plan is stored",
		contenders: []contender{
			b.starting("Sluice, folder, first run", b.waitingFolder(waiting), "planned", 0),
			b.starting("Sluice, folder, after kill -9", b.waitingFolder(waiting), "planned", 1),
			b.starting("Sluice, topic, first run", b.waitingTopic(waiting), "planned", 0),
			b.starting("Sluice, topic, after kill -9", b.waitingTopic(waiting), "planned", 1),
		},
	}
}

// plansByFiles is the same beside a table of many files.
func (b *bench) plansByFiles(files int64) row {
	const waiting = 1000
	return row{
		name: "start to first plan, large table", means: fmt.Sprintf("%d files and a log checkpoint; wall: until the plan is stored", files),
		contenders: []contender{
			b.onto(b.logOf(files, true), b.starting("Sluice, folder", b.waitingFolder(waiting), "planned", 0)),
			b.starting("the same, no table", b.waitingFolder(waiting), "planned", 0),
		},
	}
}

// idle is what a run takes that waits for records.
func (b *bench) idle(lasting time.Duration) row {
	return row{
		name: "idle, continuous", means: "CPU: of the wall time; RSS: at its end",
		contenders: []contender{b.idling("Sluice, topic", lasting, b.waitingTopic(1000)), b.idling("Sluice, folder", lasting, b.waitingFolder(1000))},
	}
}

// latencies are how soon records are in the table, with batches as they come and with one each ten milliseconds.
func (b *bench) latencies(records, perSecond int) row {
	unbounded := arrivals{records, perSecond, ""}
	paced := arrivals{records, perSecond, "min_records: 1000000, max_delay: 10ms"}
	return row{
		name: fmt.Sprintf("latency at %d records a second", perSecond), means: "wall: from a record's acknowledgement to the version that has it; RSS: at the end",
		contenders: []contender{
			b.arriving("Sluice, max_delay: 10ms", paced), b.arriving("Sluice, no delay", unbounded),
		},
	}
}

// appends are small commits to a disk, beside delta-rs.
func (b *bench) appends(a appends) row {
	return row{
		name: "appends of " + strconv.FormatInt(a.rows, 10) + " rows", means: "wall: median of an append; CPU: of all appends", columns: eventColumns,
		contenders: []contender{b.library(a), b.deltalake(a)},
	}
}

// batches are what the program takes for an append of its own: look, plan, JSON, file, commit.
func (b *bench) batches(a appends) row {
	whole := func(c []commit) []commit { return c }
	return row{
		name: "batches of " + strconv.FormatInt(a.rows, 10) + " rows", means: "wall: median of an append or a batch; CPU: of all appends, of batches the whole run", columns: eventColumns,
		contenders: []contender{b.library(a), b.sluiceAppends("Sluice, a batch each", a, whole)},
	}
}

// batchSizes is the same input in batches of different sizes.
func (b *bench) batchSizes(records int64) row {
	r := row{name: "growth: batch size", columns: eventColumns}
	const files = 1000
	for _, batches := range []int64{1, 10, 100, 1000} {
		w := work{shape: shopEvents(), records: records, files: files, codec: "snappy", batch: "max_files: " + strconv.FormatInt(files/batches, 10), cores: 1}
		r.contenders = append(r.contenders, b.sluice(strconv.FormatInt(records/batches, 10)+" records a batch", w))
	}
	return r
}

// partitions is as many records in ever more partitions of the table.
func (b *bench) partitions(records int64) row {
	r := row{name: "growth: partitions"}
	for _, n := range []int{1, 10, 100, 1000} {
		w := work{shape: partitioned(n), records: records, files: 4, codec: "snappy", cores: 1}
		r.contenders = append(r.contenders, b.sluice(strconv.Itoa(n)+" partitions", w))
	}
	return r
}

// tableSizes is what a batch takes when the table has few commits, and when it has many.
func (b *bench) tableSizes(a appends) row {
	tenth := int(a.commits / 10)
	first := func(c []commit) []commit { return c[:min(tenth, len(c))] }
	last := func(c []commit) []commit { return c[max(0, len(c)-tenth):] }
	return row{
		name: "growth: table size", means: "wall: median of a batch; the rest: of the whole run",
		contenders: []contender{
			b.sluiceAppends("the first tenth of the commits", a, first),
			b.sluiceAppends("the last tenth", a, last),
		},
	}
}
