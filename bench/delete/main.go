// Command delete deletes some rows of every file of a table by inline deletion vectors, in one commit: delete TABLE EVERY
//
// Of each file each EVERY-th row is deleted, the first one first. The table gets the protocol that this takes.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage/local"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "delete:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments: it takes TABLE EVERY", len(args))
	}
	every, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil || every < 1 {
		return fmt.Errorf("EVERY %s: it is a number from 1 on", args[1])
	}
	store := local.New(args[0])
	defer func() { err = errors.Join(err, store.Close()) }()
	s, err := commitlog.New(store).Files(ctx, -1)
	if err != nil {
		return err
	}
	features := []string{"deletionVectors"}
	c := commitlog.Commit{
		Info:     &commitlog.CommitInfo{Operation: "DELETE", TxnID: "delete"},
		Protocol: &commitlog.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: features, WriterFeatures: append(features, "appendOnly", "invariants")},
	}
	for a, err := range s.Files.All(ctx) {
		if err != nil {
			return err
		}
		c.Removes = append(c.Removes, commitlog.Remove{Path: a.Path, DeletionTimestamp: a.ModificationTime, DataChange: true})
		a.DeletionVector, err = vector(commitlog.RowsOf(a.Stats, nil), every)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Path, err)
		}
		a.DataChange = true
		c.Adds = append(c.Adds, a)
	}
	body, err := c.Render()
	if err != nil {
		return err
	}
	_, err = store.PutIfAbsent(ctx, fmt.Sprintf("_delta_log/%020d.json", s.Version+1), body)
	return err
}

// vector is an inline vector of each every-th row of so many ("Deletion Vector Format"): a magic number, and one roaring bitmap with one
// container, an array.
func vector(rows, every int64) (*commitlog.DeletionVector, error) {
	n := (rows + every - 1) / every
	if rows < 1 || n > 4096 || rows > 1<<16 {
		return nil, fmt.Errorf("%d rows, %d deleted: a vector here has an array of at most 4096 of 65536", rows, n)
	}
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 1681511377)
	b = le.AppendUint64(b, 1)             // bitmaps
	b = le.AppendUint32(b, 0)             // high bits of the only one
	b = le.AppendUint32(b, 12346)         // a bitmap without runs
	b = le.AppendUint32(b, 1)             // containers
	b = le.AppendUint16(b, 0)             // high bits of the only one
	b = le.AppendUint16(b, uint16(n-1))   // its size, less one
	b = le.AppendUint32(b, 4+4+2*(1+1)+4) // where it is, in the bitmap
	for i := range n {
		b = le.AppendUint16(b, uint16(i*every))
	}
	return &commitlog.DeletionVector{StorageType: "i", PathOrInlineDv: z85(b), SizeInBytes: int32(len(b)), Cardinality: n}, nil
}

// z85 is ZeroMQ's base 85 (RFC 32/Z85) of bytes, with zeros behind to a multiple of four.
func z85(b []byte) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	b = append(b, make([]byte, -len(b)&3)...)
	var text []byte
	for ; len(b) > 0; b = b[4:] {
		n := binary.BigEndian.Uint32(b)
		for _, place := range []uint32{85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1} {
			text = append(text, digits[n/place%85])
		}
	}
	return string(text)
}
