package pipeline_test

import (
	"fmt"
	"os"

	"github.com/sluicedata/sluice/pipeline"
)

// All faults of a file are reported at once, each with its place and what to write instead.
func ExampleParse() {
	text := `
name: web-requests
source:
  files: {path: landing/*.ndjson, settel: 2s}
columns:
  - {name: id, type: strng}
table: {path: lake/web_requests, partition_by: [day]}
trigger: every minute
`
	_, err := pipeline.Parse("web.yaml", []byte(text), os.LookupEnv)
	fmt.Println(err)
	// Output:
	// web.yaml:4:35: source.files.settel: unknown key "settel"; did you mean "settle"?
	// web.yaml:6:22: columns[0].type: "strng" is not a type: character 1: unknown type "strng"; did you mean string?
	// web.yaml:7:49: table.partition_by[0]: column "day" is not among the columns; add it to columns, such as {name: day, type: string}
	// web.yaml:8:10: trigger: "every minute" has an interval that is not a duration; write available-now, continuous or every 1m
}

func ExampleParse_environment() {
	text := `
name: web-requests
source: {files: {path: "${LANDING:-landing}/*.ndjson"}}
table: {path: "${LAKE}/web_requests"}
`
	env := func(name string) (string, bool) { return "/srv/lake", name == "LAKE" }
	f, err := pipeline.Parse("pipelines/web.yaml", []byte(text), env)
	fmt.Println(err)
	fmt.Println(f.Source.Files.Path)
	fmt.Println(f.Table.Path)
	fmt.Println(f.Checkpoint)
	// Output:
	// <nil>
	// pipelines/landing/*.ndjson
	// /srv/lake/web_requests
	// /srv/lake/web_requests/_sluice/web-requests
}
