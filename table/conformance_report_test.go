package table

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
)

var updateConformance = flag.Bool("update-conformance", false, "write docs/conformance.md anew")

// conformanceReport is the document that the test below writes and is held against.
var conformanceReport = filepath.Join("..", "docs", "conformance.md")

// outcome is what reading a table of others comes to.
type outcome string

const (
	agrees  outcome = "rows agree with the author's"
	asMany  outcome = "as many rows as delta-kernel-rs"
	unheld  outcome = "read; nobody says what its rows are"
	zoned   outcome = "read; the author wrote timestamps without a zone, and read them in one of his own"
	logOnly outcome = "log replayed; data files are absent by design"
	refused outcome = "refused"
)

// verdict is the outcome for one table.
type verdict struct {
	name     string // set/table
	features []string
	versions int   // compared
	rows     int64 // of the newest version
	outcome  outcome
	reason   string // of a refusal
}

// TestForeignTablesReadAsTheirAuthorsSay reads every table that others wrote, compares its rows with the author's where he left
// them, else their number with delta-kernel-rs', and holds docs/conformance.md against what it sees.
func TestForeignTablesReadAsTheirAuthorsSay(t *testing.T) {
	counts := kernelCounts(t)
	var all []verdict
	eachForeign(t, "_delta_log", func(t *testing.T, folder, name string) {
		if !longTables && strings.Contains(name, "/parquet-decimal-dictionaries") {
			t.Skip("it has a million rows, and is compared without the race detector")
		}
		name = strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(name), "/delta"), "/delta_lake")
		v := verdict{name: name}
		if err := v.judge(t, folder, counts[name]); err != nil {
			t.Error(err)
		}
		all = append(all, v)
	})
	if !longTables {
		return
	}
	got := report(all)
	if *updateConformance {
		if err := os.WriteFile(conformanceReport, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(conformanceReport)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/conformance.md says otherwise; if that is right, run this test with -update-conformance\n%.3000s", diff)
	}
}

// kernelCounts are the numbers of rows that the tables' manifest has from delta-kernel-rs, by table.
func kernelCounts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(conformance(t), "MANIFEST.md"))
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]string)
	set := ""
	for line := range strings.SplitSeq(string(text), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			set, _, _ = strings.Cut(heading, " ")
		}
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			counts[set+"/"+strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[len(cells)-2])
		}
	}
	return counts
}

// judge fills the verdict in. Its error is a table that reads otherwise than it should.
func (v *verdict) judge(t *testing.T, folder, count string) error {
	store := local.New(folder)
	defer store.Close()
	tbl := New(store, Options{})
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		return v.refuse(err)
	}
	v.features = featuresOf(snap)
	var expected map[int64][]string
	if at := filepath.Join(filepath.Dir(folder), "expected"); exists(at) {
		expected = expectations(t, at)
	}
	if len(expected) == 0 {
		return v.count(t, snap, count)
	}
	v.outcome = agrees
	for version, files := range expected {
		snap, err := tbl.Snapshot(t.Context(), version)
		if err != nil {
			return err
		}
		err = compareWithAuthor(t, snap, files)
		if err != nil && strings.HasSuffix(v.name, "/data-reader-partition-values") && strings.Contains(err.Error(), "rows differ") {
			v.outcome, err = zoned, nil
		}
		if err != nil {
			return fmt.Errorf("version %d: %w", version, err)
		}
		v.versions++
	}
	return v.count(t, snap, "")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// count scans the table, and holds the number of its rows against one that is not empty.
func (v *verdict) count(t *testing.T, snap *Snapshot, count string) error {
	err := snap.Scan(t.Context(), ScanOptions{}, func(r arrow.Record) error {
		v.rows += r.NumRows()
		return nil
	})
	_, notNumber := strconv.Atoi(count)
	switch {
	case v.outcome != "":
		return err
	case errors.Is(err, storage.ErrNotExist):
		v.outcome, v.rows = logOnly, 0
		return nil
	case err != nil:
		return v.refuse(err)
	case notNumber != nil:
		v.outcome = unheld
		return nil
	case count != strconv.FormatInt(v.rows, 10):
		return fmt.Errorf("%d rows, and delta-kernel-rs finds %s", v.rows, count)
	}
	v.outcome = asMany
	return nil
}

// refuse tells why a table is not read, without where it lies. An error that is no refusal is returned.
func (v *verdict) refuse(err error) error {
	v.outcome, v.rows = refused, 0
	var unsupported *commitlog.UnsupportedError
	var corrupt *commitlog.CorruptError
	switch {
	case errors.As(err, &unsupported):
		v.reason = unsupported.For + " it needs " + strings.Join(unsupported.Features, ", ")
		v.features = unsupported.Features
	case errors.As(err, &corrupt):
		v.reason = fmt.Sprintf("damaged: version %d: %s", corrupt.Version, corrupt.Reason)
	case errors.Is(err, commitlog.ErrNoTable):
		v.reason = "no commit is there"
	default:
		return err
	}
	return nil
}

// featuresOf are the table features that the protocol lists, and what else of the log and the schema readers have to follow.
func featuresOf(s *Snapshot) []string {
	state := s.State()
	features := map[string]bool{}
	for _, f := range slices.Concat(state.Protocol.ReaderFeatures, state.Protocol.WriterFeatures) {
		features[f] = true
	}
	if mode := state.Metadata.Configuration[mappingProperty]; state.Protocol.Supports("columnMapping") && mode != "" && mode != "none" {
		delete(features, "columnMapping")
		features["columnMapping by "+mode] = true
	}
	for _, vector := range state.Files.Paths() {
		if vector != nil {
			features["deletion vectors in use"] = true
		}
	}
	features["partitions"] = len(s.partitions) > 0
	features["void"] = s.schema.Contains(schema.Void)
	features["type changes"] = strings.Contains(state.Metadata.SchemaString, "delta.typeChanges")
	maps.DeleteFunc(features, func(_ string, has bool) bool { return !has })
	return slices.Sorted(maps.Keys(features))
}

const reportHead = `# Conformance

Delta tables that others wrote, from the repositories of Delta Lake, delta-kernel-rs and the DuckDB extension, as this version reads them. A
test writes this document and fails when it is not true any more; the tables are not part of this repository
([how they are found](../CONTRIBUTING.md#tests)):

    go test ./table -run TestForeignTables -update-conformance

Where the author of a table left the rows that are to be in it, every row of every such version is compared; elsewhere the number of
rows, with that which delta-kernel-rs finds. A table is refused for a feature by the rules of the protocol, and as damaged where
its log is not one by the protocol: those are fragments of logs and tests for refusals, and delta-kernel-rs refuses them too.

`

// report is the document.
func report(all []verdict) []byte {
	slices.SortFunc(all, func(a, b verdict) int { return cmp.Compare(a.name, b.name) })
	var b bytes.Buffer
	b.WriteString(reportHead)
	outcomes, versions := map[outcome]int{}, 0
	for _, v := range all {
		outcomes[v.outcome]++
		versions += v.versions
	}
	fmt.Fprintf(&b, "## Counts\n\n%d tables; %d versions are compared row by row.\n\n| outcome | tables |\n|---|---|\n", len(all), versions)
	for _, o := range []outcome{agrees, asMany, unheld, zoned, logOnly, refused} {
		fmt.Fprintf(&b, "| %s | %d |\n", o, outcomes[o])
	}
	reportFeatures(&b, all)
	b.WriteString("\n## Refused\n\n| table | reason |\n|---|---|\n")
	for _, v := range all {
		if v.outcome == refused {
			fmt.Fprintf(&b, "| %s | %s |\n", v.name, v.reason)
		}
	}
	b.WriteString("\n## Read\n\n| table | features | versions compared | rows | outcome |\n|---|---|---|---|---|\n")
	for _, v := range all {
		if v.outcome != refused {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %s |\n", v.name, strings.Join(v.features, ", "), v.versions, v.rows, v.outcome)
		}
	}
	return b.Bytes()
}

func reportFeatures(b *bytes.Buffer, all []verdict) {
	type tally struct{ read, refused int }
	by := map[string]*tally{}
	for _, v := range all {
		for _, f := range v.features {
			if by[f] == nil {
				by[f] = &tally{}
			}
			if v.outcome == refused {
				by[f].refused++
			} else {
				by[f].read++
			}
		}
	}
	b.WriteString("\n## By feature\n\nA refused table counts for the features that stand against it.\n\n| feature | read | refused |\n|---|---|---|\n")
	for _, f := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(b, "| %s | %d | %d |\n", f, by[f].read, by[f].refused)
	}
}

// TestReportNamesNoFolder: where the tables lay when it was written is nobody's business.
func TestReportNamesNoFolder(t *testing.T) {
	text, err := os.ReadFile(conformanceReport)
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`file:|(^|[ (])/[a-z]`).Find(text); found != nil {
		t.Errorf("docs/conformance.md has %q", found)
	}
}
