package main

import (
	"strconv"
	"time"
)

// rows is what is measured.
func (b *bench) rows() []row {
	n := b.records
	snappy := work{shape: shopEvents(), records: n, files: 4, codec: "snappy", cores: 1}
	compact, zstd := snappy, snappy
	compact.compact, zstd.codec = true, "zstd"
	rows := []row{
		b.files("files: snappy", snappy),
		b.files("files: snappy, to a disk", snappy.toDisk()),
		b.files("files: snappy, compact", compact),
		b.files("files: snappy, compact, to a disk", compact.toDisk()),
		b.files("files: zstd", zstd),
		b.scaling(snappy),
		b.topics(snappy),
		b.starts(),
		{name: "idle for 20 s, continuous", contenders: []contender{b.idling(20 * time.Second)}},
		b.appends(appends{commits: 100, rows: 2500}),
	}
	for _, s := range []struct {
		shape   shape
		records int64
	}{{tiny(), n}, {wide(), n / 30}, {deep(), n / 6}, {long(), n / 60}, {partitioned(100), n / 3}} {
		rows = append(rows, b.files("shape: "+s.shape.name, work{shape: s.shape, records: s.records, files: 4, codec: "snappy", cores: 1}))
	}
	return append(rows, b.batchSizes(n/3), b.partitions(n/3), b.tableSizes(appends{commits: 400, rows: 100}))
}

// files is NDJSON into a table, beside DuckDB.
func (b *bench) files(name string, w work) row {
	return row{name: name, columns: w.shape.columns, contenders: []contender{b.sluice("Sluice", w), b.duckdb(w)}}
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
		contenders: []contender{b.starting("Sluice, first run", waiting, 0), b.starting("Sluice, after kill -9", waiting, 1)},
	}
}

// appends are small commits to a disk, beside delta-rs.
func (b *bench) appends(a appends) row {
	whole := func(c []commit) []commit { return c }
	return row{
		name: "appends of " + strconv.FormatInt(a.rows, 10) + " rows", means: "wall: median of an append; the rest: of the whole run", columns: eventColumns,
		contenders: []contender{b.sluiceAppends("Sluice, a batch each", a, whole), b.deltalake(a)},
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
