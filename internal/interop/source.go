package interop

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sluicedata/sluice/format"
)

// SourceContent is what JSON files hold for a list of columns, by a reading that shares no code with Sluice.
type SourceContent struct {
	Content
	Bad    int64    // records that are not JSON, or that a column cannot hold exactly
	Faults []string // of the first bad records: file:line: column: reason
}

// Source reads JSON files independently: one array, one object, or lines; .gz is decompressed. Columns that take
// metadata are an error, as the files do not hold it.
func (v *Venv) Source(ctx context.Context, columns []format.Column, files ...string) (SourceContent, error) {
	spec, err := columnSpec(columns)
	if err != nil {
		return SourceContent{}, err
	}
	out, err := v.run(ctx, nil, "read_source.py", append([]string{"--columns", string(spec)}, files...)...)
	if err != nil {
		return SourceContent{}, err
	}
	var answer struct {
		Count, Bad int64
		Faults     []string
		Schema     []string
		Hash       string
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return SourceContent{}, fmt.Errorf("read the source independently: %w", err)
	}
	return SourceContent{
		Content: Content{Rows: answer.Count, Schema: answer.Schema, Hash: answer.Hash},
		Bad:     answer.Bad, Faults: answer.Faults,
	}, nil
}

// columnSpec is the list of columns as read_source.py takes it.
func columnSpec(columns []format.Column) ([]byte, error) {
	type column struct {
		Name string `json:"name"`
		Type string `json:"type"`
		From []any  `json:"from"`
	}
	spec := make([]column, 0, len(columns))
	for _, c := range columns {
		if c.Meta != "" {
			return nil, fmt.Errorf("column %s: an independent reading has no metadata (%s); leave the column out", c.Name, c.Meta)
		}
		spec = append(spec, column{Name: c.Name, Type: c.Type.DDL(), From: stepsOf(c)})
	}
	return json.Marshal(spec)
}

// stepsOf is a column's path as names and indices, none for the whole record.
func stepsOf(c format.Column) []any {
	steps := []any{}
	switch {
	case c.From.IsWhole():
		return steps
	case len(c.From) == 0:
		return append(steps, c.Name)
	}
	for _, step := range c.From {
		if step.Field != "" {
			steps = append(steps, step.Field)
		} else {
			steps = append(steps, step.Index)
		}
	}
	return steps
}
