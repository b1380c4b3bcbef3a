// Package pipeline owns the pipeline file: the YAML that names a source, the columns, a table, and how to run.
//
// Load and Parse turn it into a File, plain data with every default filled in, or into Faults: everything that is wrong
// with it, each with its place and what to write instead. Write goes the other way and renders a commented file for a
// new pipeline. docs/pipeline.md describes every key. Nothing here reads a source or a table. Words: a key is named by
// its path, "source.kafka.topics" or "columns[2].type"; a section is a mapping whose keys are known.
//
// Invariants:
//
//   - A File is whole and consistent; a key that was not understood is never skipped.
//   - The environment is only asked through the function given, and only for scalars: what it returns is a value and
//     never becomes YAML structure. A value that cannot be read is shown as the file has it, with the variable's name.
//   - Passwords are Secrets, which no formatting or encoding prints.
package pipeline

import (
	"strings"
	"time"

	"github.com/sluicedata/sluice/format"
)

// File is a pipeline file that was found to be without faults.
type File struct {
	Name        string // the pipeline's name, its appId in the table
	Source      Source
	Columns     []format.Column // empty: the table's own, or inferred from the first batch
	Table       Table
	Checkpoint  string // folder, resolved against the file's, or an s3:// URL
	Storage     Storage
	Trigger     Trigger
	Batch       Batch
	OnError     OnError
	Memory      int64 // bytes that a run may take
	Maintenance Maintenance

	origin    string
	positions map[string]Position
}

// Source is where records come from; exactly one of Files and Kafka is set.
type Source struct {
	Files  *Files
	Kafka  *Kafka
	Format Format
}

// Files is a landing folder.
type Files struct {
	// Path is the folder or glob, resolved against the file's folder. Root and Pattern are its two parts.
	Path string
	// Root is the longest leading part of Path without wildcards.
	Root string
	// Written is Root as the file writes it. It begins the names of files in plans, so that they are the same wherever the
	// program is started and wherever file and landing folder are moved together.
	Written string
	// Pattern is the glob below Root, as files.ParseGlob reads it; ** when Path has no wildcard.
	Pattern     string
	Settle      time.Duration // files younger than this are left alone
	Overwritten Overwritten
	Order       Order
}

// Order says which of the waiting files is read first.
type Order string

// The choices of source.files.order.
const (
	OrderModified Order = "modified"
	OrderLexical  Order = "lexical"
)

// Overwritten says what becomes of a file that was read and then changed.
type Overwritten string

// The choices of source.files.overwritten.
const (
	OverwrittenError     Overwritten = "error"
	OverwrittenIgnore    Overwritten = "ignore"
	OverwrittenReprocess Overwritten = "reprocess"
)

// Kafka is a set of topics.
type Kafka struct {
	Brokers    []string // host:port
	Topics     []string
	Start      Start
	Isolation  Isolation
	OnDataLoss DataLoss
	TLS        *TLS  // nil: plaintext
	SASL       *SASL // nil: no authentication
	ClientID   string
	Group      string // where positions are shown to monitoring tools; never read
}

// Isolation says which records of transactions are read.
type Isolation string

// The choices of source.kafka.isolation.
const (
	ReadCommitted   Isolation = "read_committed"
	ReadUncommitted Isolation = "read_uncommitted"
)

// DataLoss says what to do when the broker no longer has records that were not read.
type DataLoss string

// The choices of source.kafka.on_data_loss.
const (
	DataLossFail DataLoss = "fail"
	DataLossSkip DataLoss = "skip"
)

// StartKind is the kind of a Start.
type StartKind string

// The kinds of source.kafka.start.
const (
	StartEarliest StartKind = "earliest"
	StartLatest   StartKind = "latest"
	StartTime     StartKind = "time"
	StartOffsets  StartKind = "offsets"
)

// Start is where a pipeline's first plan begins.
type Start struct {
	Kind    StartKind
	Time    time.Time        // UTC, for StartTime
	Offsets map[string]int64 // by "topic/partition", for StartOffsets
}

// TLS is how to trust the brokers and be trusted. Paths are resolved against the file's folder.
type TLS struct {
	CA         string // PEM file; empty: the system's
	Cert, Key  string // PEM files of the client; both or none
	ServerName string // empty: the broker's host
}

// SASL is a login.
type SASL struct {
	Mechanism string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username  string
	Password  Secret
	// AllowUnencrypted lets PLAIN send the password without TLS.
	AllowUnencrypted bool
}

// Format says how bytes become records.
type Format struct {
	Name string // "json"
	JSON JSON
}

// JSON are the options of the json format.
type JSON struct {
	Layout         Layout     // of files
	MaxRecordBytes int64      // of files; a longer record is bad
	Tombstones     Tombstones // of Kafka records without a value
}

// Layout says how JSON records lie in a file.
type Layout string

// The choices of source.format.json.layout.
const (
	LayoutAuto  Layout = "auto"
	LayoutLines Layout = "lines"
	LayoutArray Layout = "array"
	// LayoutDocument is JSON values one behind another, over any number of lines: most often a single object.
	LayoutDocument Layout = "document"
)

// Tombstones says what a Kafka record without a value is.
type Tombstones string

// The choices of source.format.json.tombstones.
const (
	TombstonesBad  Tombstones = "bad"
	TombstonesDrop Tombstones = "drop"
)

// Table is where rows go.
type Table struct {
	Path        string // resolved against the file's folder, or an s3:// URL
	PartitionBy []string
	Properties  map[string]string
}

// Batch limits one batch.
type Batch struct {
	MaxRecords int64
	MaxBytes   int64
	MaxFiles   int64
	MinRecords int64         // wait for so many records …
	MaxDelay   time.Duration // … but not longer than this
}

// Policy says what becomes of bad records.
type Policy string

// The choices of on_error.
const (
	PolicyFail       Policy = "fail"
	PolicySkip       Policy = "skip"
	PolicyQuarantine Policy = "quarantine"
)

// OnError is what to do with bad records.
type OnError struct {
	Policy        Policy
	MaxBadRecords int64 // per batch; 0 is no limit
}

// Position is a place in the pipeline file.
type Position struct {
	File   string
	Line   int // from 1
	Column int // in characters, from 1
}

// At returns the position of the value at a key's path, or of the nearest key above it that the file has.
func (f *File) At(path string) Position {
	for {
		if p, ok := f.positions[path]; ok {
			return p
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return Position{File: f.origin, Line: 1, Column: 1}
		}
		path = path[:cut]
	}
}

// Fault makes a fault of the value at path that only the parts built from the file could find.
func (f *File) Fault(path, problem, fix string) Fault {
	return Fault{Position: f.At(path), Path: path, Problem: problem, Fix: fix}
}
