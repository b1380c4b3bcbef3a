package tabletest

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// DeleteRow deletes the first row of a table's first file that has no deletion vector, by one in a file.
func DeleteRow(tb testing.TB, store storage.Store) {
	tb.Helper()
	log := commitlog.New(store)
	state, err := log.Files(tb.Context(), table.Newest)
	if err != nil {
		tb.Fatal(err)
	}
	for _, add := range seqtest.All(tb, state.Files.All(tb.Context())) {
		if add.DeletionVector != nil {
			continue
		}
		actions := commitlog.Commit{Removes: []commitlog.Remove{
			{Path: add.Path, DeletionTimestamp: time.Now().UnixMilli(), DataChange: true, PartitionValues: add.PartitionValues, Size: &add.Size},
		}}
		if add.DeletionVector, err = PutVector(tb.Context(), store, []bool{true}); err != nil {
			tb.Fatal(err)
		}
		add.DataChange, add.Stats = true, strings.Replace(add.Stats, `"tightBounds":true`, `"tightBounds":false`, 1)
		actions.Adds = []commitlog.Add{add}
		if _, err := log.Commit(tb.Context(), commitlog.Transaction{ReadVersion: state.Version, Actions: actions}); err != nil {
			tb.Fatal(err)
		}
		return
	}
	tb.Fatal("all files have deletion vectors")
}

// InlineVector is a deletion vector that is in the log itself, of those of a file's rows that are deleted; at most 65,536 of them.
func InlineVector(deleted []bool) *commitlog.DeletionVector {
	bitmap, cardinality := encodeVector(deleted)
	v := &commitlog.DeletionVector{StorageType: "i", SizeInBytes: int32(len(bitmap)), Cardinality: cardinality}
	for len(bitmap)%4 > 0 {
		bitmap = append(bitmap, 0)
	}
	v.PathOrInlineDv = encodeZ85(bitmap)
	return v
}

// PutVector is a deletion vector in a file of its own ("Deletion Vector File Storage Format").
func PutVector(ctx context.Context, store storage.Store, deleted []bool) (*commitlog.DeletionVector, error) {
	bitmap, cardinality := encodeVector(deleted)
	id, offset := uuid.New(), int32(1)
	v := &commitlog.DeletionVector{
		StorageType: "u", PathOrInlineDv: encodeZ85(id[:]), Offset: &offset, SizeInBytes: int32(len(bitmap)), Cardinality: cardinality,
	}
	path, err := v.Path()
	if err != nil {
		return nil, err
	}
	body := binary.BigEndian.AppendUint32([]byte{1}, uint32(len(bitmap)))
	body = binary.BigEndian.AppendUint32(append(body, bitmap...), crc32.ChecksumIEEE(bitmap))
	_, err = store.PutIfAbsent(ctx, path, body)
	return v, err
}

// encodeVector is a RoaringBitmapArray with one container of a few rows ("Deletion Vector Format").
func encodeVector(deleted []bool) (b []byte, cardinality int64) {
	le := binary.LittleEndian
	var low []byte
	for row, is := range deleted {
		if is {
			low = le.AppendUint16(low, uint16(row))
			cardinality++
		}
	}
	b = le.AppendUint32(nil, 1681511377)
	b = le.AppendUint32(le.AppendUint64(b, 1), 0)
	b = le.AppendUint32(le.AppendUint32(b, 12346), 1)
	b = le.AppendUint16(le.AppendUint16(b, 0), uint16(cardinality-1))
	b = le.AppendUint32(b, 16)
	return append(b, low...), cardinality
}

func encodeZ85(b []byte) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	var text []byte
	for i := 0; i < len(b); i += 4 {
		n := binary.BigEndian.Uint32(b[i:])
		word := [5]byte{}
		for at := 4; at >= 0; at-- {
			word[at] = digits[n%85]
			n /= 85
		}
		text = append(text, word[:]...)
	}
	return string(text)
}
