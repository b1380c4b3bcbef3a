package commitlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage/local"
)

// everyColumn has a column of each type that statistics and partition values come in.
const everyColumn = `{"type":"struct","fields":[` +
	`{"name":"b","type":"byte","nullable":true,"metadata":{}},{"name":"h","type":"short","nullable":true,"metadata":{}},` +
	`{"name":"i","type":"integer","nullable":true,"metadata":{}},{"name":"l","type":"long","nullable":true,"metadata":{}},` +
	`{"name":"f","type":"float","nullable":true,"metadata":{}},{"name":"d","type":"double","nullable":true,"metadata":{}},` +
	`{"name":"n","type":"decimal(5,2)","nullable":true,"metadata":{}},{"name":"m","type":"decimal(18,0)","nullable":true,"metadata":{}},` +
	`{"name":"w","type":"decimal(38,3)","nullable":true,"metadata":{}},{"name":"s","type":"string","nullable":true,"metadata":{}},` +
	`{"name":"o","type":"boolean","nullable":true,"metadata":{}},{"name":"x","type":"binary","nullable":true,"metadata":{}},` +
	`{"name":"t","type":"date","nullable":true,"metadata":{}},{"name":"u","type":"timestamp","nullable":true,"metadata":{}},` +
	`{"name":"a","type":{"type":"array","elementType":"long","containsNull":true},"nullable":true,"metadata":{}},` +
	`{"name":"q","type":{"type":"struct","fields":[{"name":"r","type":"long","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},` +
	`{"name":"p","type":"integer","nullable":true,"metadata":{}},{"name":"p d","type":"date","nullable":true,"metadata":{}}]}`

const modernProtocol = `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors","v2Checkpoint"],` +
	`"writerFeatures":["deletionVectors","v2Checkpoint","domainMetadata"]}}`

const everyStat = `{"numRecords":3,"minValues":{"b":-128,"h":-5,"i":-2147483648,"l":-9223372036854775808,"f":-1.5,"d":1e-300,"n":-123.45,"m":-999999999999999999,` +
	`"w":-99999999999999999999999999999999999.999,"s":"","t":"1969-12-31","u":"1960-01-01T00:00:00.123000Z","q":{"r":1}},` +
	`"maxValues":{"b":127,"h":5,"i":2147483647,"l":9223372036854775807,"f":0.1,"d":1e300,"n":0.00,"m":0,"w":0.001,"s":"é\u007f\"\\","t":"2262-01-01","u":"2026-01-01T00:00:00.000001Z","q":{"r":2}},` +
	`"nullCount":{"b":0,"h":0,"i":0,"l":0,"f":0,"d":0,"n":0,"m":0,"w":0,"s":0,"o":1,"x":2,"t":0,"u":0,"a":3,"q":{"r":0}},"tightBounds":true}`

// logFolder is a local table whose commits are lines.
type logFolder struct {
	t   testing.TB
	dir string
}

func newLogFolder(t testing.TB) *logFolder {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "_delta_log"), 0o777); err != nil {
		t.Fatal(err)
	}
	return &logFolder{t, dir}
}

func (f *logFolder) path(name string) string { return filepath.Join(f.dir, "_delta_log", name) }

func (f *logFolder) commit(version int64, lines ...string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(fmt.Sprintf("%020d.json", version)), []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

// log opens the table anew.
func (f *logFolder) log() *Log {
	s := local.New(f.dir)
	f.t.Cleanup(func() { _ = s.Close() })
	return New(s)
}

func (f *logFolder) state(version int64) *State {
	f.t.Helper()
	s, err := f.log().FilesAndRemoved(context.Background(), version, time.UnixMilli(1000))
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// removeCommits deletes the commits up to a version.
func (f *logFolder) removeCommits(to int64) {
	f.t.Helper()
	for v := range to + 1 {
		if err := os.Remove(f.path(fmt.Sprintf("%020d.json", v))); err != nil {
			f.t.Fatal(err)
		}
	}
}

// sameState says where two states differ. Statistics are compared as JSON, and what only commits tell of applications is not.
func sameState(t testing.TB, want, got *State) string {
	type plain struct {
		Version  int64
		Protocol Protocol
		Metadata Metadata
		Files    []Add
		Removed  []Remove
		Apps     map[string]App
		Domains  map[string]DomainMetadata
	}
	of := func(s *State) plain {
		p := plain{s.Version, s.Protocol, s.Metadata, seqtest.All(t, s.Files.All(t.Context())), slices.Collect(s.Removed()), map[string]App{}, s.Domains}
		for id, app := range s.Apps {
			p.Apps[id] = App{Batch: app.Batch, LastUpdated: app.LastUpdated}
		}
		return p
	}
	stats := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Stats" }, cmp.Comparer(func(a, b string) bool {
		var x, y any
		return a == b || json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
	}))
	return cmp.Diff(of(want), of(got), stats, cmpopts.EquateEmpty())
}

// everyTable is a log with something of all that a log checkpoint keeps.
func everyTable(t testing.TB, protocol, properties string) *logFolder {
	f := newLogFolder(t)
	schemaText, _ := json.Marshal(everyColumn)
	f.commit(0, protocol, fmt.Sprintf(`{"metaData":{"id":"T","name":"n","description":"d","format":{"provider":"parquet","options":{"a":"b"}},"schemaString":%s,`+
		`"partitionColumns":["p","p d"],"configuration":{%s"x":"","delta.dataSkippingNumIndexedCols":"-1"},"createdTime":7}}`, schemaText, properties), lineAdd("gone"), lineAdd("gone too"))
	stats, _ := json.Marshal(everyStat)
	f.commit(1, lineTxn("a", 3), `{"txn":{"appId":"b","version":1,"lastUpdated":9}}`,
		`{"domainMetadata":{"domain":"kept","configuration":"{}","removed":false}}`, `{"domainMetadata":{"domain":"dropped","configuration":"","removed":false}}`,
		fmt.Sprintf(`{"add":{"path":"p=1/a%%20b","partitionValues":{"p":"1","p d":"2024-02-29"},"size":10,"modificationTime":11,"dataChange":true,"stats":%s,"tags":{"k":"v","l":""},"baseRowId":0,"defaultRowCommitVersion":1,"clusteringProvider":"c"}}`, stats),
		`{"add":{"path":"p=1/dv","partitionValues":{"p":"-1","p d":null},"size":10,"modificationTime":11,"dataChange":false,"deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":3,"sizeInBytes":4,"cardinality":5}}}`,
		`{"add":{"path":"inline","partitionValues":{"p":null,"p d":"1969-12-31"},"size":10,"modificationTime":11,"dataChange":false,"stats":"{\"numRecords\":7}","deletionVector":{"storageType":"i","pathOrInlineDv":"y","sizeInBytes":4,"cardinality":5}}}`)
	f.commit(2, `{"domainMetadata":{"domain":"dropped","configuration":"","removed":true}}`,
		`{"remove":{"path":"gone","deletionTimestamp":5000,"dataChange":true}}`, lineTombstone("whole", 4000), `{"remove":{"path":"gone too","deletionTimestamp":1000,"dataChange":true}}`)
	return f
}

func TestLogCheckpointsSayWhatTheCommitsSaid(t *testing.T) {
	const (
		legacy = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
		empty  = `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":[]}}`
		both   = `"delta.checkpoint.writeStatsAsStruct":"true",`
		struc  = both + `"delta.checkpoint.writeStatsAsJson":"false",`
		v2     = `"delta.checkpointPolicy":"v2",`
	)
	for name, tt := range map[string]struct{ protocol, properties, key string }{
		"JSON":                   {legacy, "", "00000000000000000002.checkpoint.parquet"},
		"JSON and struct":        {modernProtocol, both, "00000000000000000002.checkpoint.parquet"},
		"struct":                 {legacy, struc, "00000000000000000002.checkpoint.parquet"},
		"no features":            {empty, "", "00000000000000000002.checkpoint.parquet"},
		"V2":                     {modernProtocol, v2, "00000000000000000002.checkpoint.*-*.parquet"},
		"V2 not in the protocol": {legacy, v2, "00000000000000000002.checkpoint.parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			f := everyTable(t, tt.protocol, tt.properties)
			want := f.state(2)
			l := f.log()
			l.now = func() time.Time { return time.UnixMilli(1000).Add(deletedFileRetention) }
			done, err := l.Checkpoint(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if done.Version != 2 || done.Files != 3 || done.Removed != 2 || done.There {
				t.Errorf("%+v", done)
			}
			if again, err := f.log().Checkpoint(context.Background()); err != nil || !again.There {
				t.Errorf("the second time: %+v, %v", again, err)
			}
			if names, _ := filepath.Glob(f.path(tt.key)); len(names) != 1 {
				t.Errorf("no %s", tt.key)
			}
			hint, err := os.ReadFile(f.path("_last_checkpoint"))
			if info := fmt.Sprintf(`{"version":2,"size":%d,"sizeInBytes":%d,"numOfAddFiles":3}`+"\n", done.Actions, done.Bytes); err != nil || string(hint) != info {
				t.Errorf("_last_checkpoint is %s, %v; want %s", hint, err, info)
			}
			f.removeCommits(2)
			if diff := sameState(t, want, f.state(2)); diff != "" {
				t.Error(diff)
			}
			f.commit(3, lineAdd("next"))
			if h, err := f.log().Load(context.Background()); err != nil || h.Version != 3 || h.Apps["a"].Batch != 3 {
				t.Errorf("the commit after: %+v, %v", h, err)
			}
		})
	}
}

// TestCheckpointWithSidecarsHasTheColumnsOfFilesAllTheSame is for Spark, which reads no other.
func TestCheckpointWithSidecarsHasTheColumnsOfFilesAllTheSame(t *testing.T) {
	f := everyTable(t, modernProtocol, `"delta.checkpointPolicy":"v2",`)
	var adds []string
	for i := range inlineActions + 1 {
		adds = append(adds, lineAdd(fmt.Sprint("file ", i)))
	}
	f.commit(3, adds...)
	want := f.state(3)
	l := f.log()
	l.now = func() time.Time { return time.UnixMilli(1000).Add(deletedFileRetention) }
	done, err := l.Checkpoint(context.Background())
	if err != nil || done.Sidecars != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	names, err := filepath.Glob(f.path("00000000000000000003.checkpoint.*.parquet"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"add", "remove"} {
		if file.Root().Column(column) == nil {
			t.Errorf("no column %s", column)
		}
	}
	f.removeCommits(3)
	if diff := sameState(t, want, f.state(3)); diff != "" {
		t.Error(diff)
	}
}
