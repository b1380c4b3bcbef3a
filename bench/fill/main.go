// Command fill writes the log of a table of many files, and none of the files: fill TABLE COLUMNS COMMITS FILES
//
// COLUMNS is a struct in Spark's spelling. Each of the COMMITS adds as many of the FILES, with statistics of a benchmark
// record's columns. The same arguments give the same bytes.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 4 {
		return fmt.Errorf("%d arguments: it takes TABLE COLUMNS COMMITS FILES", len(args))
	}
	columns, err := schema.ParseDDL(args[1])
	if err != nil {
		return err
	}
	commits, err1 := strconv.Atoi(args[2])
	files, err2 := strconv.Atoi(args[3])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	store := local.New(args[0])
	defer func() { err = errors.Join(err, store.Close()) }()
	r := rand.New(rand.NewPCG(1, 1))
	for version := range commits {
		c := commitlog.Commit{Info: &commitlog.CommitInfo{Timestamp: begin + int64(version), Operation: "WRITE", TxnID: fmt.Sprint(version)}}
		if version == 0 {
			c.Protocol = &commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
			c.Metadata = &commitlog.Metadata{
				ID: "00000000-0000-4000-8000-000000000000", Format: commitlog.Format{Provider: "parquet"}, SchemaString: columns.JSON(),
				PartitionColumns: []string{}, Configuration: map[string]string{}, CreatedTime: begin,
			}
		}
		for i := files * version / commits; i < files*(version+1)/commits; i++ {
			c.Adds = append(c.Adds, add(r, i))
		}
		body, err := c.Render()
		if err != nil {
			return err
		}
		if _, err := store.PutIfAbsent(ctx, fmt.Sprintf("_delta_log/%020d.json", version), body); err != nil {
			return err
		}
	}
	return nil
}

const (
	begin = 1_700_000_000_000 // ms since the epoch
	rows  = 2500              // of a file
)

// add is the i-th file.
func add(r *rand.Rand, i int) commitlog.Add {
	u := func() string {
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
	}
	second := func(n int) string {
		return fmt.Sprintf("2026-01-%02dT%02d:%02d:%02d.123Z", 1+n/86400%28, n/3600%24, n/60%60, n%60)
	}
	return commitlog.Add{
		Path: fmt.Sprintf("part-00000-%s.c000.snappy.parquet", u()), PartitionValues: map[string]*string{},
		Size: 200_000 + r.Int64N(20_000), ModificationTime: begin + int64(i), DataChange: true,
		Stats: fmt.Sprintf(`{"numRecords":%d,"minValues":{"id":"0%s","user_id":%d,"event_type":"add_to_cart","ts":"%s","url":"https://shop.example/","amount":0.0,"seq":0},`+
			`"maxValues":{"id":"f%s","user_id":%d,"event_type":"view","ts":"%s","url":"https://shop.example/~","amount":1999.99,"seq":99999},`+
			`"nullCount":{"id":0,"user_id":0,"event_type":0,"ts":0,"url":0,"amount":%d,"referrer":%d,"seq":%d,"mobile":0}}`,
			rows, u()[1:], 1_000_000_000+r.IntN(1000), second(i*8), u()[1:], 1_001_999_000+r.IntN(1000), second(i*8+7), r.IntN(rows), r.IntN(rows), r.IntN(rows)),
	}
}
