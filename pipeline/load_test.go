package pipeline

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
)

// base is the least that is a pipeline file.
const base = "name: x\nsource: {files: {path: landing}}\ntable: {path: lake/t}\n"

func mustParse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("dir/p.yaml", []byte(text), environment)
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, text)
	}
	return f
}

func ddl(t testing.TB, s string) *schema.Type {
	t.Helper()
	typ, err := schema.ParseDDL(s)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func compare(t testing.TB, want, got *File) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(File{})); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestExampleLoads(t *testing.T) {
	got, err := Load("testdata/example.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, &File{
		Name: "web-requests",
		Source: Source{
			Files: &Files{
				Path: "testdata/landing/*.ndjson", Root: "testdata/landing", Written: "landing", Pattern: "*.ndjson",
				Settle: 2 * time.Second, Overwritten: OverwrittenError, Order: OrderModified,
			},
			Format: Format{Name: "json", JSON: JSON{Layout: LayoutAuto, MaxRecordBytes: 32 << 20, Tombstones: TombstonesBad}},
		},
		Columns: []format.Column{
			{Name: "id", Type: ddl(t, "string")},
			{Name: "ts", Type: ddl(t, "timestamp"), Nullable: true},
			{Name: "device", Type: ddl(t, "struct<os:string,screen_w:int>"), Nullable: true},
			{Name: "us_gross", Type: ddl(t, "long"), Nullable: true, From: format.Path{{Field: "US Gross"}}},
			{Name: "day", Type: ddl(t, "date"), Nullable: true, From: format.Path{{Field: "ts"}}},
			{Name: "_line", Type: ddl(t, "long"), Nullable: true, Meta: "file.line"},
		},
		Table: Table{
			Path: "testdata/lake/web_requests", PartitionBy: []string{"day"},
			Properties: map[string]string{"delta.appendOnly": "true"},
		},
		Checkpoint: "testdata/checkpoints/web-requests",
		Trigger:    Trigger{Mode: AvailableNow},
		Batch:      Batch{MaxRecords: 1_000_000, MaxBytes: 256_000_000, MaxFiles: 1000},
		OnError:    OnError{Policy: PolicyFail},
		Memory:     defaultMemory, Maintenance: Maintenance{Checkpoint: Auto},
	}, got)
}

func TestEveryKafkaKeyLoads(t *testing.T) {
	got, err := Load("testdata/kafka.yaml", environment)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, &File{
		Name: "orders.v2",
		Source: Source{
			Kafka: &Kafka{
				Brokers: []string{"localhost:9092", "[::1]:9093"}, Topics: []string{"orders", "refunds"},
				Start:     Start{Kind: StartOffsets, Offsets: map[string]int64{"orders/0": 123, "refunds/12": 0}},
				Isolation: ReadUncommitted, OnDataLoss: DataLossSkip,
				TLS: &TLS{
					CA: "testdata/tls/ca.pem", Cert: "testdata/tls/cert.pem", Key: "/etc/sluice/key.pem",
					ServerName: "kafka.example.com",
				},
				SASL:     &SASL{Mechanism: "SCRAM-SHA-512", Username: "sluice", Password: "hunter2"},
				ClientID: "ingest-1", Group: "monitoring",
			},
			Format: Format{Name: "json", JSON: JSON{Layout: LayoutAuto, MaxRecordBytes: 32 << 20, Tombstones: TombstonesDrop}},
		},
		Columns: []format.Column{
			{Name: "key", Type: ddl(t, "string"), Nullable: true, Meta: "kafka.key"},
			{Name: "headers", Type: ddl(t, "array<struct<key:string,value:binary>>"), Nullable: true, Meta: "kafka.headers"},
			{Name: "first_tag", Type: ddl(t, "string"), Nullable: true, From: format.Path{{Field: "tags"}, {Index: 0}}},
		},
		Table:      Table{Path: "/srv/lake/orders"},
		Checkpoint: "/srv/lake/orders/_sluice/orders.v2",
		Trigger:    Trigger{Mode: Every, Every: 90 * time.Second},
		Batch:      Batch{MaxRecords: 5000, MaxBytes: 64 << 20, MaxFiles: 1000, MinRecords: 100, MaxDelay: 30 * time.Second},
		OnError:    OnError{Policy: PolicyQuarantine, MaxBadRecords: 1000},
		Memory:     defaultMemory, Maintenance: Maintenance{Checkpoint: Auto},
	}, got)
}

func TestDefaultsFillAShortFile(t *testing.T) {
	got := mustParse(t, "name: k\nsource: {kafka: {brokers: ['a:1'], topics: [t]}}\ntable: {path: ../lake}\n")
	compare(t, &File{
		Name: "k",
		Source: Source{
			Kafka: &Kafka{
				Brokers: []string{"a:1"}, Topics: []string{"t"}, Start: Start{Kind: StartEarliest},
				Isolation: ReadCommitted, OnDataLoss: DataLossFail, ClientID: "sluice-k", Group: "sluice-k",
			},
			Format: Format{Name: "json", JSON: JSON{Layout: LayoutAuto, MaxRecordBytes: 32 << 20, Tombstones: TombstonesBad}},
		},
		Table:      Table{Path: "lake"},
		Checkpoint: "lake/_sluice/k",
		Trigger:    Trigger{Mode: AvailableNow},
		Batch:      Batch{MaxRecords: 1_000_000, MaxBytes: 256_000_000, MaxFiles: 1000},
		OnError:    OnError{Policy: PolicyFail},
		Memory:     defaultMemory, Maintenance: Maintenance{Checkpoint: Auto},
	}, got)
}

func TestStartForms(t *testing.T) {
	for text, want := range map[string]Start{
		"earliest":                         {Kind: StartEarliest},
		"latest":                           {Kind: StartLatest},
		"2026-01-31T08:00:00Z":             {Kind: StartTime, Time: time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)},
		`"2026-01-31T08:00:00.5+01:00"`:    {Kind: StartTime, Time: time.Date(2026, 1, 31, 7, 0, 0, 5e8, time.UTC)},
		"{t/0: 5, t/1: \"${UNSET:-7}\"}":   {Kind: StartOffsets, Offsets: map[string]int64{"t/0": 5, "t/1": 7}},
		"\n      t/0: 9223372036854775807": {Kind: StartOffsets, Offsets: map[string]int64{"t/0": 9223372036854775807}},
	} {
		f := mustParse(t, "name: x\nsource:\n  kafka:\n    brokers: ['a:1']\n    topics: [t]\n    start: "+text+"\ntable: {path: lake}\n")
		if diff := cmp.Diff(want, f.Source.Kafka.Start); diff != "" {
			t.Errorf("start: %s (-want +got):\n%s", text, diff)
		}
	}
}

func TestTLSCanBeABoolean(t *testing.T) {
	for text, want := range map[string]*TLS{"true": {}, "false": nil, "{}": {}} {
		f := mustParse(t, "name: x\nsource: {kafka: {brokers: ['a:1'], topics: [t], tls: "+text+"}}\ntable: {path: lake}\n")
		if diff := cmp.Diff(want, f.Source.Kafka.TLS); diff != "" {
			t.Errorf("tls: %s (-want +got):\n%s", text, diff)
		}
	}
}

func TestGlobsAreSplitAtTheFirstWildcard(t *testing.T) {
	for written, want := range map[string]Files{
		"landing":             {Path: "dir/landing", Root: "dir/landing", Pattern: "**", Written: "landing"},
		"landing/":            {Path: "dir/landing", Root: "dir/landing", Pattern: "**", Written: "landing"},
		"in[[]1]/*":           {Path: "dir/in[[]1]/*", Root: "dir", Pattern: "in[[]1]/*", Written: "."},
		"a/{b,c}.json":        {Path: "dir/a/{b,c}.json", Root: "dir/a", Pattern: "{b,c}.json", Written: "a"},
		"*.json":              {Path: "dir/*.json", Root: "dir", Pattern: "*.json", Written: "."},
		"a/b?/c":              {Path: "dir/a/b?/c", Root: "dir/a", Pattern: "b?/c", Written: "a"},
		"a/**/[xy].json":      {Path: "dir/a/**/[xy].json", Root: "dir/a", Pattern: "**/[xy].json", Written: "a"},
		"/*.json":             {Path: "/*.json", Root: "/", Pattern: "*.json", Written: "/"},
		"/srv/in/**":          {Path: "/srv/in/**", Root: "/srv/in", Pattern: "**", Written: "/srv/in"},
		"../in put/*.json.gz": {Path: "in put/*.json.gz", Root: "in put", Pattern: "*.json.gz", Written: "../in put"},
	} {
		f := mustParse(t, "name: x\nsource: {files: {path: '"+written+"'}}\ntable: {path: /lake/t}\n")
		want.Settle, want.Overwritten, want.Order = 2*time.Second, OverwrittenError, OrderModified
		if diff := cmp.Diff(&want, f.Source.Files); diff != "" {
			t.Errorf("path: %s (-want +got):\n%s", written, diff)
		}
	}
}

func TestFoldersThatDoNotMeetAreAllowed(t *testing.T) {
	for _, text := range []string{
		"name: x\nsource: {files: {path: 'data/*.json'}}\ntable: {path: data/lake/t}\n",
		"name: x\nsource: {files: {path: 'data/in/**'}}\ntable: {path: data/lake}\n",
		"name: x\nsource: {files: {path: data}}\ntable: {path: data/_lake/t}\n",
		"name: x\nsource: {files: {path: 'data/*/*.json'}}\ntable: {path: data/lake/deep/t}\n",
		"name: x\nsource: {files: {path: landing}}\ntable: {path: t}\ncheckpoint: t/_sluice/other\n",
		"name: x\nsource: {files: {path: landing}}\ntable: {path: t}\ncheckpoint: t2\n",
		"name: x\nsource: {files: {path: '{a,b}/*.json'}}\ntable: {path: lake/t}\n",
		"name: x\nsource: {files: {path: 'a/**/in/*.json'}}\ntable: {path: b/t}\n",
	} {
		mustParse(t, text)
	}
}

func TestMissingFileIsNotAFault(t *testing.T) {
	_, err := Load("testdata/absent.yaml", nil)
	var faults Faults
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &faults) {
		t.Errorf("Load = %v", err)
	}
}

func TestOverlongFileIsAFault(t *testing.T) {
	_, err := Parse("p.yaml", []byte(strings.Repeat("#", maxFileBytes+1)), nil)
	var faults Faults
	if !errors.As(err, &faults) {
		t.Errorf("Parse = %v", err)
	}
}

func TestAtFindsTheValueOrItsNearestParent(t *testing.T) {
	f := mustParse(t, "name: x\nsource:\n  files:\n    path: landing\ntable: {path: lake/t}\ncolumns:\n  - {name: a, type: long}\n")
	for path, want := range map[string]Position{
		"source.files.path":       {"dir/p.yaml", 4, 11},
		"source.files.settle":     {"dir/p.yaml", 4, 5},
		"columns[0].type":         {"dir/p.yaml", 7, 21},
		"columns[0].from":         {"dir/p.yaml", 7, 5},
		"columns[7].name":         {"dir/p.yaml", 7, 3},
		"batch.max_records":       {"dir/p.yaml", 1, 1},
		"":                        {"dir/p.yaml", 1, 1},
		"table.properties.delta.": {"dir/p.yaml", 5, 8},
	} {
		if got := f.At(path); got != want {
			t.Errorf("At(%q) = %v, want %v", path, got, want)
		}
	}
	got := f.Fault("table.path", "is there", "look").String()
	if want := "dir/p.yaml:5:15: table.path: is there; look"; got != want {
		t.Errorf("Fault = %q, want %q", got, want)
	}
}

func TestMalformedGlobIsAFault(t *testing.T) {
	for _, glob := range []string{"landing/[a-", "landing/{a", "landing/a**", "landing/*//x"} {
		_, err := Parse("p.yaml", []byte("name: x\nsource: {files: {path: '"+glob+"'}}\ntable: {path: lake/t}\n"), nil)
		var faults Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Path != "source.files.path" {
			t.Errorf("path %s: %v", glob, err)
		}
	}
}
