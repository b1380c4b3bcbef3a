package table

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/schema"
)

// joinRows appends the columns of a row group whose values have to be read: those that the file has in another form, as of before a column was widened,
// or in pages that cannot be taken over.
func (e *encoder) joinRows(ctx context.Context, s *sourceFile, group int, rows sourceRows) error {
	if len(s.byRow) == 0 {
		return nil
	}
	file, err := s.open()
	if err != nil {
		return err
	}
	wanted := &schema.Type{Kind: schema.Struct}
	for i, c := range e.layout.columns {
		if slices.Contains(s.byRow, c) {
			wanted.Fields = append(wanted.Fields, e.layout.fields[i])
		}
	}
	reader := &fileReader{file: s.place, schema: wanted, dictionaries: true, fn: func(r arrow.Record) error {
		columns, err := bind(s.byRow, r)
		if err != nil {
			return err
		}
		return e.joinColumns(columns, int(r.NumRows()), recordBytes(r)/r.NumRows())
	}}
	return (&groupReader{fileReader: reader, group: group, at: rows.from, rows: rows.end - rows.from, vector: rows.deleted}).read(ctx, file)
}

// joinAbsent appends the columns that the file lacks, for the rows that are left of a row group.
func (e *encoder) joinAbsent(columns []*bound, rows sourceRows) error {
	for left := int(rows.end - rows.from - rows.deleted.count(rows.from, rows.end)); left > 0 && len(columns) > 0; left -= batchRows {
		if err := e.joinColumns(columns, min(left, batchRows), 1); err != nil {
			return err
		}
	}
	return nil
}

// joinColumns appends so many rows of some columns, of which one takes about so many bytes.
func (e *encoder) joinColumns(columns []*bound, n int, bytes int64) error {
	rows := allRows(n)
	if err := checkNotNull(columns, rows); err != nil {
		return err
	}
	return e.shred(columns, rows, sliceOf(bytes))
}
