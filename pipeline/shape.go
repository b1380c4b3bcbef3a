package pipeline

import (
	"context"
	stdjson "encoding/json"
	"fmt"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/table"
)

// fromKey is the key of a column's metadata in the table's schema that holds the path at which records have its value,
// for columns that were inferred under another name than the record's. A later run reads it from the table.
const fromKey = "sluice.from"

// shape is which columns a pipeline's rows have: those of its file; else those of the table; else those inferred from
// the first batch.
type shape struct {
	file    *File
	columns []format.Column // what the decoder was made for
}

// create is the table to make if there is none, and what appends write.
func (s *shape) create() *table.Create {
	fields := make([]schema.Field, len(s.columns))
	for i, c := range s.columns {
		fields[i] = schema.Field{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
		if len(c.From) > 0 && len(s.file.Columns) == 0 {
			path, _ := stdjson.Marshal(c.From.String()) // a string always marshals
			fields[i].Metadata = map[string]stdjson.RawMessage{fromKey: path}
		}
	}
	return &table.Create{Schema: schema.StructOf(fields...), PartitionColumns: s.file.Table.PartitionBy, Properties: s.file.Table.Properties}
}

func (s *shape) decoding(events batch.Events) batch.Decoding {
	return func(ctx context.Context, state *batch.TableState, sample func(func(*source.Block) error) error) (func() (format.Decoder, error), error) {
		columns, err := s.resolve(state, sample, events)
		if err != nil {
			return nil, err
		}
		options := json.Options{}
		if s.file.Source.Format.JSON.Tombstones == TombstonesDrop {
			options.Tombstones = json.TombstonesDropped
		}
		s.columns = columns
		return func() (format.Decoder, error) { return json.New(columns, options) }, nil
	}
}

func (s *shape) resolve(state *batch.TableState, sample func(func(*source.Block) error) error, events batch.Events) ([]format.Column, error) {
	switch {
	case len(s.file.Columns) > 0:
		return s.file.Columns, nil
	case state != nil && state.Schema != nil:
		return columnsOf(state.Schema)
	}
	inferrer := json.NewInferrer()
	records := 0
	err := sample(func(b *source.Block) error {
		records += len(b.Values)
		return inferrer.Infer(b)
	})
	switch {
	case err != nil:
		return nil, err
	case records == 0:
		return nil, batch.ErrNoRecords
	}
	columns, notices, err := inferrer.Columns()
	if err != nil {
		return nil, fmt.Errorf("infer the columns from the first batch: %w; declare them in the pipeline's file", err)
	}
	for _, n := range notices {
		if events.Notice != nil {
			events.Notice(n)
		}
	}
	return columns, nil
}

// columnsOf are the columns by which records become rows of a table that declares nothing but its schema.
func columnsOf(t *schema.Type) ([]format.Column, error) {
	columns := make([]format.Column, len(t.Fields))
	for i, f := range t.Fields {
		columns[i] = format.Column{Name: f.Name, Type: f.Type, Nullable: f.Nullable}
		raw, renamed := f.Metadata[fromKey]
		if !renamed {
			continue
		}
		var text string
		err := stdjson.Unmarshal(raw, &text)
		if err == nil {
			columns[i].From, err = format.ParsePath(text)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: metadata %s of the table's schema: %w; declare the columns in the pipeline's file", f.Name, fromKey, err)
		}
	}
	return columns, nil
}
