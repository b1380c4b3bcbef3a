package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/source/files"
	"github.com/sluicedata/sluice/source/kafka"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/table"
)

func TestKindsOfErrors(t *testing.T) {
	kafkaError := func(err error) error { return &kafka.RequestError{What: "read", Address: "a:1", Err: err} }
	onDisk := func(err error) error {
		return &storage.Error{Op: "put", Key: "k", Err: &fs.PathError{Op: "write", Path: "p", Err: err}}
	}
	inS3 := func(status int, code string) error {
		return &storage.Error{Op: "put", Key: "k", Err: &s3.Error{Status: status, Code: code}}
	}
	badRecord := &batch.BadRecordError{Problem: "bad record"}
	tried := map[string]bool{}
	for _, c := range []struct {
		err  error
		kind string
	}{
		{fmt.Errorf("%w: table t", batch.ErrFenced), "fenced"},
		{&kafka.DataLostError{}, "lost"},
		{&kafka.RecreatedError{}, "lost"},
		{&kafka.TruncatedError{}, "lost"},
		{&kafka.DeletedError{}, "lost"},
		{&files.ChangedError{}, "lost"},
		{&batch.RefusedError{}, "corrupt"},
		{&offsetlog.CorruptError{}, "corrupt"},
		{&commitlog.CorruptError{}, "corrupt"},
		{&files.CorruptError{}, "corrupt"},
		{&batch.AuditError{Report: &batch.AuditReport{Faults: []batch.AuditFault{{}}}}, "corrupt"},
		{usageError{errors.New("flag")}, "usage"},
		{pipeline.Faults{{Problem: "p"}}, "usage"},
		{&table.ArgumentError{Err: errors.New("column")}, "usage"},
		{&vacuum.RetentionError{}, "usage"},
		{badRecord, "bad_record"},
		{errors.Join(badRecord, inS3(503, "SlowDown")), "bad_record"}, // what clearing up adds does not count
		{&table.SchemaError{Faults: []error{errors.New("column")}}, "unfit_table"},
		{&table.NotNullError{}, "unfit_table"},
		{&commitlog.UnsupportedError{}, "unfit_table"},
		{&s3.NotConditionalError{}, "unfit_store"},
		{&kafka.MissingError{}, "missing"},
		{inS3(404, "NoSuchBucket"), "missing"},
		{onDisk(syscall.EACCES), "denied"},
		{onDisk(syscall.EROFS), "denied"},
		{inS3(403, "AccessDenied"), "denied"},
		{kafkaError(kerr.SaslAuthenticationFailed), "denied"},
		{kafkaError(kerr.TopicAuthorizationFailed), "denied"},
		{onDisk(syscall.ENOSPC), "disk_full"},
		{onDisk(syscall.EIO), "disk"},
		{inS3(503, "SlowDown"), "throttled"},
		{inS3(500, "InternalError"), "s3_away"},
		{&commitlog.UnknownError{Err: inS3(500, "InternalError")}, "s3_away"},
		{kafkaError(syscall.ECONNREFUSED), "kafka_away"},
		{kafkaError(kerr.LeaderNotAvailable), "kafka_away"},
		{kafkaError(kerr.UnsupportedVersion), "failed"},
		{&commitlog.UnknownError{Err: errors.New("lost")}, "conflict"},
		{&kafka.StalledError{}, "stalled"},
		{&commitlog.ConflictError{}, "conflict"},
		{errors.New("anything"), "failed"},
	} {
		tried[c.kind] = true
		if got := kindOf(fmt.Errorf("batch 3: %w", c.err)).name; got != c.kind {
			t.Errorf("%T %v is %s, want %s", c.err, c.err, got, c.kind)
		}
		if v := judge(c.err); v.Remedy == "" {
			t.Errorf("%v has no remedy", c.err)
		}
	}
	for _, k := range kinds() {
		if !tried[k.name] {
			t.Errorf("no error of kind %s was tried", k.name)
		}
	}
}

func TestRemedyOfAnErrorIsItsOwn(t *testing.T) {
	v := judge(fmt.Errorf("run: %w", &batch.RefusedError{WayOut: "run once with --adopt-table"}))
	if diff := cmp.Diff(batch.Verdict{Kind: "corrupt", Class: batch.NeedsYou, Remedy: "run once with --adopt-table"}, v); diff != "" {
		t.Error(diff)
	}
}

// TestDocumentedKindsAreTheProgramsKinds compares a table of docs/operating.md with kinds.
func TestDocumentedKindsAreTheProgramsKinds(t *testing.T) {
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| (\\d) \\| `([a-z_]+)` \\|")
	var documented, want []string
	for _, m := range row.FindAllSubmatch(text, -1) {
		documented = append(documented, fmt.Sprintf("%s %s %s", m[1], m[2], m[3]))
	}
	for _, k := range kinds() {
		want = append(want, fmt.Sprintf("%s %d %s", k.name, k.exit, k.class))
		if codes := fmt.Sprintf("\n| %d | ", k.exit); !strings.Contains(string(text), codes) {
			t.Errorf("exit code %d has no row", k.exit)
		}
	}
	slices.Sort(documented)
	slices.Sort(want)
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("docs/operating.md: %s", diff)
	}
}
