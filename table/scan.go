package table

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/schema"
)

// ScanOptions say what a Scan hands out. The zero value is everything.
type ScanOptions struct {
	// Columns are the names of the columns, in the order wanted; all when empty.
	Columns []string
	// Where is what the rows fulfil. Files whose partition values or statistics show that none of theirs does are not read.
	Where *Predicate
	// Limit ends the scan after so many rows; 0 is no limit.
	Limit int64
	// Counts is told what the scan does, unless it is nil.
	Counts *ScanCounts
}

// ScanCounts are what a Scan has come by so far.
type ScanCounts struct {
	Read    int // files that were read, as far as the limit wanted
	Skipped int // files that were not, since none of their rows can fulfil Where
	Rows    int64
}

// errStop ends the reading of a file from inside.
var errStop = errors.New("scan ended")

// Scan hands the rows to fn, record by record: files in the order of their commits, rows in the order of the file. A record
// is valid until fn returns, unless fn retains it. An error of fn ends the scan and is returned as it is.
func (s *Snapshot) Scan(ctx context.Context, options ScanOptions, fn func(arrow.Record) error) error {
	counts := options.Counts
	if counts == nil {
		counts = &ScanCounts{}
	}
	left := options.Limit
	var ended error // what fn said, when the scan is stopped
	hand := func(r arrow.Record) error {
		last := options.Limit > 0 && left <= r.NumRows()
		if last {
			r = r.NewSlice(0, left)
			defer r.Release()
		}
		left -= r.NumRows()
		counts.Rows += r.NumRows()
		if ended = fn(r); ended != nil || last {
			return errStop
		}
		return nil
	}
	read, hand, err := s.filtered(options, hand)
	if err != nil {
		return err
	}
	for f, err := range s.Files(ctx) {
		switch {
		case err != nil:
		case options.Where.excludes(&f):
			counts.Skipped++
		default:
			counts.Read++
			err = s.scanFile(ctx, &f, read, hand)
		}
		if errors.Is(err, errStop) {
			return ended
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filtered returns which columns are to be read, and who takes them so that hand gets what the options ask for.
func (s *Snapshot) filtered(options ScanOptions, hand func(arrow.Record) error) (*schema.Type, func(arrow.Record) error, error) {
	wanted, err := project(s.schema, options.Columns)
	if err != nil || options.Where == nil {
		return wanted, hand, err
	}
	if err := options.Where.check(s.schema); err != nil {
		return nil, nil, err
	}
	f := &filter{where: options.Where, schema: &schema.Type{Kind: schema.Struct, Fields: slices.Clone(wanted.Fields)}, wanted: wanted.ArrowSchema()}
	for _, name := range options.Where.Columns() {
		if wanted.Index(name) < 0 {
			f.schema.Fields = append(f.schema.Fields, s.schema.Fields[s.schema.Index(name)])
		}
	}
	return f.schema, func(r arrow.Record) error { return f.rows(r, hand) }, nil
}

// ScanFile hands the rows of one of the snapshot's files to fn, all columns, record by record, as Scan does.
func (s *Snapshot) ScanFile(ctx context.Context, f *File, fn func(arrow.Record) error) error {
	return s.scanFile(ctx, f, s.schema, fn)
}

func (s *Snapshot) scanFile(ctx context.Context, f *File, wanted *schema.Type, fn func(arrow.Record) error) error {
	r, err := s.reader(ctx, f, wanted, fn)
	if err != nil {
		return err
	}
	r.constants = f.Partition
	return r.read(ctx)
}

// reader reads the rows of a file that have not been deleted.
func (s *Snapshot) reader(ctx context.Context, f *File, wanted *schema.Type, fn func(arrow.Record) error) (*fileReader, error) {
	at, err := s.place(f.Path)
	if err != nil {
		return nil, err
	}
	r := &fileReader{file: at, schema: wanted, fn: fn}
	if f.deleted == nil {
		return r, nil
	}
	vector, err := s.vectorBytes(ctx, f.deleted)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", at.name(), err)
	}
	r.deleted = func(rows int64) (deletionVector, error) { return parseVector(vector, f.deleted.Cardinality, rows) }
	return r, nil
}

// project returns the struct of the wanted ones of columns; all when none is named. The error is an *ArgumentError.
func project(of *schema.Type, names []string) (*schema.Type, error) {
	if len(names) == 0 {
		return of, nil
	}
	t := &schema.Type{Kind: schema.Struct}
	for i, name := range names {
		at := of.Index(name)
		if at < 0 {
			return nil, argument(fmt.Errorf("scan column %s: the table has no such column; it has %s", name, of))
		}
		if slices.Contains(names[:i], name) {
			return nil, argument(fmt.Errorf("scan column %s: it is named twice; leave one out", name))
		}
		t.Fields = append(t.Fields, of.Fields[at])
	}
	return t, nil
}
