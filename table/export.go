package table

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
)

// Export writes what a Scan with the options hands out as one Parquet file, encoded as the table's data files are, and
// returns the number of rows. Partition columns are columns of the file, those that
// are void are not.
func (s *Snapshot) Export(ctx context.Context, options ScanOptions, w io.Writer) (int64, error) {
	wanted, err := project(s.schema, options.Columns)
	if err != nil {
		return 0, err
	}
	stored := storedColumns(wanted.Logical(), nil)
	if err := errors.Join(checkStorable("", stored)...); err != nil {
		return 0, err
	}
	l, err := newLayout(stored, s.Properties(), s.table.engine(), s.table.zstd)
	if err != nil {
		return 0, err
	}
	l.parallelism = s.table.options.Parallelism
	e := newEncoder(l, l.pageBytes, &workspace{})
	if err := e.begin(w); err != nil {
		return 0, err
	}
	var rows int64
	var every []int32
	err = s.Scan(ctx, options, func(record arrow.Record) error {
		columns, err := bind(l.columns, record)
		if err != nil {
			return err
		}
		for i := len(every); i < int(record.NumRows()); i++ {
			every = append(every, int32(i))
		}
		rows += record.NumRows()
		return e.write(columns, every[:record.NumRows()], recordBytes(record)/max(record.NumRows(), 1))
	})
	if err != nil {
		return 0, err
	}
	if _, err := e.end(); err != nil {
		return 0, fmt.Errorf("end the Parquet file: %w", err)
	}
	return rows, nil
}
