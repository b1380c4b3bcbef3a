package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// column is one of an input's, with its type in Spark's spelling.
type column struct{ name, ddl string }

// shape is a kind of record. The same shape and number of records give the same bytes.
type shape struct {
	name        string
	columns     []column
	partitionBy []string
	append      func(b []byte, r *rand.Rand, i int64) []byte // one record; nil: those of internal/events
}

// input is a landing folder.
type input struct {
	shape
	records int64
	files   int64 // of about equal numbers of records
	folder  string
}

var eventColumns = []column{
	{"id", "string"},
	{"user_id", "long"},
	{"event_type", "string"},
	{"ts", "timestamp"},
	{"url", "string"},
	{"amount", "double"},
	{"device", "struct<os:string,version:string,screen_w:int>"},
	{"tags", "array<string>"},
	{"referrer", "string"},
	{"seq", "int"},
	{"mobile", "boolean"},
}

// structOf is columns as one type, in Spark's spelling.
func structOf(columns []column) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = c.name + ":" + c.ddl
	}
	return "struct<" + strings.Join(fields, ",") + ">"
}

// shopEvents are the benchmark record: 355 bytes, 11 fields.
func shopEvents() shape { return shape{name: "events", columns: eventColumns} }

// tiny are records of three small integers.
func tiny() shape {
	return shape{
		name:    "tiny",
		columns: []column{{"a", "int"}, {"b", "int"}, {"c", "int"}},
		append: func(b []byte, r *rand.Rand, i int64) []byte {
			return fmt.Appendf(b, `{"a":%d,"b":%d,"c":%d}`, i, r.IntN(1000), r.Int32())
		},
	}
}

// wide are records of 200 fields: integers, doubles and words in turn.
func wide() shape {
	s := shape{name: "wide"}
	for i := range 200 {
		s.columns = append(s.columns, column{"field_" + strconv.Itoa(i), [...]string{"long", "double", "string"}[i%3]})
	}
	s.append = func(b []byte, r *rand.Rand, _ int64) []byte {
		for i, c := range s.columns {
			b = fmt.Appendf(b, `%c"%s":`, "{,"[min(i, 1)], c.name)
			switch i % 3 {
			case 0:
				b = strconv.AppendInt(b, r.Int64N(1_000_000), 10)
			case 1:
				b = strconv.AppendFloat(b, float64(r.IntN(100_000))/100, 'f', -1, 64)
			default:
				b = fmt.Appendf(b, `"word-%d"`, r.IntN(5000))
			}
		}
		return append(b, '}')
	}
	return s
}

// deep are records of lists of structs of lists, eight levels down.
func deep() shape {
	const levels = 8
	return shape{
		name:    "deep",
		columns: []column{{"id", "long"}, {"a", strings.Repeat("struct<k:int,a:array<", levels) + "long" + strings.Repeat(">>", levels)}},
		append: func(b []byte, r *rand.Rand, i int64) []byte {
			b = fmt.Appendf(b, `{"id":%d,"a":`, i)
			for range levels {
				b = fmt.Appendf(b, `{"k":%d,"a":[`, r.IntN(100))
			}
			b = fmt.Appendf(b, "%d,%d", r.Int64(), r.IntN(10))
			return append(append(b, strings.Repeat("]}", levels)...), '}')
		},
	}
}

// long are records of one string of 10 kB, of words.
func long() shape {
	return shape{
		name:    "long",
		columns: []column{{"id", "long"}, {"text", "string"}},
		append: func(b []byte, r *rand.Rand, i int64) []byte {
			b = fmt.Appendf(b, `{"id":%d,"text":"`, i)
			for end := len(b) + 10_000; len(b) < end; {
				b = fmt.Appendf(b, "word%d ", r.IntN(100_000))
			}
			return append(b, `"}`...)
		},
	}
}

// partitioned are records of a table with n partitions, which come in no order.
func partitioned(n int) shape {
	return shape{
		name:        fmt.Sprintf("partitioned-%d", n),
		columns:     []column{{"id", "long"}, {"customer", "int"}, {"text", "string"}},
		partitionBy: []string{"customer"},
		append: func(b []byte, r *rand.Rand, i int64) []byte {
			return fmt.Appendf(b, `{"id":%d,"customer":%d,"text":"order %d of the year"}`, i, r.IntN(n), r.IntN(1_000_000))
		},
	}
}

// input makes an input, or finds it where an earlier run has made it.
func (b *bench) input(ctx context.Context, s shape, records, files int64) (in input, err error) {
	in = input{shape: s, records: records, files: files}
	write := in.write
	if s.append == nil {
		write = in.generate(b)
	}
	name := fmt.Sprintf("input-%s-%d-in-%d", s.name, records, files)
	in.folder, err = b.once(name, func(folder string) error { return write(ctx, folder) })
	return in, err
}

// generate has another process write the benchmark's own records.
func (in input) generate(b *bench) func(ctx context.Context, folder string) error {
	return func(ctx context.Context, folder string) error {
		return b.generator(ctx, "--records", strconv.FormatInt(in.records, 10), "--files", strconv.FormatInt(in.files, 10), "--out", folder)
	}
}

func (b *bench) generator(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "./internal/events/cmd/generate"}, args...)...)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func (in input) write(ctx context.Context, folder string) error {
	r := rand.New(rand.NewPCG(1, 1))
	for file := range in.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(folder, fmt.Sprintf("%s-%05d.ndjson", in.name, file))
		if err := in.writeFile(path, r, in.records*file/in.files, in.records*(file+1)/in.files); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes the records [from, to).
func (in input) writeFile(path string, r *rand.Rand, from, to int64) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	var record []byte
	for i := from; i < to; i++ {
		record = append(in.append(record[:0], r, i), '\n')
		if _, err := w.Write(record); err != nil {
			return err
		}
	}
	return w.Flush()
}
