package table

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// writtenGroup is a row group in a file.
type writtenGroup struct {
	rows   int64
	chunks []written
}

// writeFooter ends a Parquet file: the column indexes and offset indexes of all row groups, the metadata (those of an
// empty file, to which the groups are added), its length and the magic bytes.
func writeFooter(out *countingWriter, metadata format.FileMetaData, groups []writtenGroup) error {
	for _, g := range groups {
		for i := range g.chunks {
			if w := &g.chunks[i]; w.columns != nil {
				w.chunk.ColumnIndexOffset = out.n
				if err := writeThrift(out, *w.columns); err != nil {
					return err
				}
				w.chunk.ColumnIndexLength = int32(out.n - w.chunk.ColumnIndexOffset)
			}
		}
	}
	for _, g := range groups {
		for i := range g.chunks {
			w := &g.chunks[i]
			w.chunk.OffsetIndexOffset = out.n
			if err := writeThrift(out, w.offsets); err != nil {
				return err
			}
			w.chunk.OffsetIndexLength = int32(out.n - w.chunk.OffsetIndexOffset)
		}
	}
	metadata.RowGroups = nil
	for i, g := range groups {
		metadata.NumRows += g.rows
		metadata.RowGroups = append(metadata.RowGroups, g.format(i))
	}
	start := out.n
	if err := writeThrift(out, metadata); err != nil {
		return err
	}
	end := binary.LittleEndian.AppendUint32(nil, uint32(out.n-start))
	_, err := out.Write(append(end, magic...))
	return err
}

func (g writtenGroup) format(ordinal int) format.RowGroup {
	out := format.RowGroup{NumRows: g.rows, Ordinal: int16(ordinal), FileOffset: g.chunks[0].chunk.FileOffset}
	for _, w := range g.chunks {
		out.Columns = append(out.Columns, w.chunk)
		out.TotalByteSize += w.chunk.MetaData.TotalUncompressedSize
		out.TotalCompressedSize += w.chunk.MetaData.TotalCompressedSize
	}
	return out
}

func writeThrift(w io.Writer, v any) error {
	b, err := marshal(v)
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
