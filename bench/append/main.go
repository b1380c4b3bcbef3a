// Command append appends rows to a table as a library does, and prints the seconds of each append, and the seconds of
// processor that it took: append IN OUT COLUMNS APPENDS
//
// IN is a folder of NDJSON, each file of which is an append; behind the last the first comes again. All of it is in memory, as
// Arrow, before the first. COLUMNS is a struct in Spark's spelling. The table object is kept over all appends; each is begun, written and committed, with the
// data file, its folder, the commit and its folder synced to the device.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/bench/stopwatch"
	"github.com/sluicedata/sluice/format"
	jsonformat "github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "append:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 4 {
		return fmt.Errorf("%d arguments: it takes IN OUT COLUMNS APPENDS", len(args))
	}
	appends, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	columns, err := schema.ParseDDL(args[2])
	if err != nil {
		return err
	}
	parts, err := read(args[0], columns)
	if err != nil {
		return err
	}
	store := local.New(filepath.Join(args[1], "table"))
	defer func() { err = errors.Join(err, store.Close()) }()
	t := table.New(store, table.Options{AppID: "bench"})
	create := &table.Create{Schema: columns}
	if err := open(ctx, t, create); err != nil {
		return err
	}
	wall, processor := make([]float64, appends), make([]float64, appends)
	for i := range appends {
		one := stopwatch.Start()
		if err := appendRows(ctx, t, create, int64(i), parts[i%len(parts)]); err != nil {
			return err
		}
		wall[i], processor[i] = one.Wall(), one.CPU()
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"wall": wall, "cpu": processor})
}

// open has the table read its log, if there is one, so that no append has to.
func open(ctx context.Context, t *table.Table, create *table.Create) error {
	a, err := t.Begin(ctx, create)
	if err != nil {
		return err
	}
	return a.Abort(ctx)
}

func appendRows(ctx context.Context, t *table.Table, create *table.Create, id int64, rows arrow.Record) error {
	a, err := t.Begin(ctx, create)
	if err != nil {
		return err
	}
	if err := a.Write(ctx, rows); err != nil {
		return errors.Join(err, a.Abort(ctx))
	}
	_, err = a.Commit(ctx, table.Batch{ID: id})
	return err
}

// read decodes the files of a folder, in the order of their names.
func read(folder string, columns *schema.Type) ([]arrow.Record, error) {
	var list []format.Column
	for _, f := range columns.Fields {
		list = append(list, format.Column{Name: f.Name, Type: f.Type, Nullable: f.Nullable})
	}
	decoder, err := jsonformat.New(list, jsonformat.Options{})
	if err != nil {
		return nil, err
	}
	framer, err := jsonformat.NewFramer(jsonformat.FrameOptions{})
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.ndjson"))
	if err != nil {
		return nil, err
	}
	parts := make([]arrow.Record, len(paths))
	for i, path := range paths {
		if parts[i], err = decode(path, framer, decoder); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return parts, nil
}

func decode(path string, framer format.Framer, decoder format.Decoder) (rows arrow.Record, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	refuse := func(b format.Bad) error { return fmt.Errorf("line %d: %s", b.Position, b.Reason) }
	err = framer.Frame(f, func(b *source.Block) error { return decoder.Decode(b, refuse) })
	if err != nil {
		return nil, err
	}
	return decoder.Flush(), nil
}
