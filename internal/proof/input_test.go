package proof

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/table"
)

// realInputs are files that others wrote.
var realInputs = []struct {
	name    string
	file    string // among the shared fixtures
	columns string // empty: inferred
	keys    []string
}{
	{name: "web requests", file: "web_requests-100.ndjson", columns: `
  - {name: at, type: timestamp, from: meta.producer.timestamp}
  - {name: day, type: date, from: meta.producer.timestamp}
  - {name: method, type: string, nullable: false}
  - {name: session_id, type: string}
  - {name: status, type: short}
  - {name: url, type: string}
  - {name: uuid, type: string}
  - {name: raw, type: string, from: $}`},
	{name: "web requests, inferred", file: "web_requests-100.ndjson"},
	{name: "cellphones", file: "amazon_cellphones.ndjson", keys: []string{"on_error: skip"}, columns: `
  - {name: asin, type: string, from: "[0]", nullable: false}
  - {name: brand, type: string, from: "[1]"}
  - {name: title, type: string, from: "[2]"}
  - {name: rating, type: "decimal(2,1)", from: "[5]"}
  - {name: reviews, type: long, from: "[7]"}
  - {name: prices, type: string, from: "[8]"}`},
	{name: "cellphones, inferred", file: "amazon_cellphones.ndjson"},
	{name: "GitHub events", file: "github_events.json", columns: `
  - {name: id, type: string, nullable: false}
  - {name: type, type: string}
  - {name: created_at, type: timestamp}
  - {name: login, type: string, from: actor.login}
  - {name: commits, type: "array<struct<sha:string,author:struct<email:string,name:string>,distinct:boolean>>", from: payload.commits}
  - {name: first_message, type: string, from: "payload.commits[0].message"}
  - {name: payload, type: string}
  - {name: org, type: "map<string,string>"}`},
	{name: "GitHub events, inferred", file: "github_events.json"},
	{name: "events", file: "events-1000.ndjson", columns: eventColumns},
	{name: "events, inferred", file: "events-1000.ndjson"},
}

func TestRealInputIsInTheTableRowForRow(t *testing.T) {
	readers := interop.Readers(t)
	j := newJudge(t)
	t.Run("of", func(t *testing.T) {
		for _, in := range realInputs {
			t.Run(in.name, func(t *testing.T) {
				file := interop.Shared(t, filepath.Join("data", in.file))
				s := j.site(t, fileSource, in.columns, "", in.keys...)
				must(t, func() error { return os.Symlink(file, filepath.Join(s.landing, in.file)) })
				s.finish(t)
				columns := s.columns(t)
				want, err := readers.Source(t.Context(), columns, file)
				if err != nil {
					t.Fatal(err)
				}
				if want.Rows == 0 {
					t.Fatalf("the independent reading has no rows: %v", want.Faults)
				}
				if bad := s.badRecords(t); bad != want.Bad {
					t.Errorf("%d bad records, the independent reading has %d: %v", bad, want.Bad, want.Faults)
				}
				j.add(interop.Table{Path: s.table, Versions: map[int64]interop.Content{newest(t, s.table): want.Content}})
				s.checkAudit(t, want.Rows)
				t.Logf("%d rows, %d bad records, %d columns", want.Rows, want.Bad, len(columns))
			})
		}
	})
	j.judge(t)
}

// columns are those of the pipeline's file, or, when it has none, those that the table was made with.
func (s *site) columns(t *testing.T) []format.Column {
	t.Helper()
	file, err := pipeline.Load(s.file, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Columns) > 0 {
		return file.Columns
	}
	var columns []format.Column
	for _, f := range snapshot(t, s.table, table.Newest).Schema().Fields {
		c := format.Column{Name: f.Name, Type: f.Type, Nullable: f.Nullable}
		if from, renamed := f.Metadata["sluice.from"]; renamed {
			var path string
			if err := json.Unmarshal(from, &path); err != nil {
				t.Fatal(err)
			}
			if c.From, err = format.ParsePath(path); err != nil {
				t.Fatal(err)
			}
		}
		columns = append(columns, c)
	}
	return columns
}

// badRecords is how many the program's audit counts.
func (s *site) badRecords(t *testing.T) int64 {
	t.Helper()
	var report struct {
		Bad int64 `json:"bad_records"`
	}
	if err := json.Unmarshal(run(t, 0, "audit", s.file, "-o", "json").stdout.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	return report.Bad
}
