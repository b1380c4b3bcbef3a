package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Job is one question to a foreign reader.
type Job struct {
	Table   string   `json:"table"`             // folder
	Version *int64   `json:"version,omitempty"` // nil for the newest
	Columns []string `json:"columns,omitempty"` // all when empty
}

// Answer is what a foreign reader sees. Error is its reason when it refuses the table; then the rest is empty.
type Answer struct {
	Engine  string   `json:"engine"`
	Table   string   `json:"table"`
	Version *int64   `json:"version"` // nil when the engine does not tell
	Rows    int64    `json:"count"`
	Schema  []string `json:"schema"`
	Hash    string   `json:"hash"`
	Error   string   `json:"error"`
}

// Read asks one engine (deltalake, duckdb; chdb, polars or spark where installed) all questions, in one process, and returns the
// answers in their order. A table that the engine refuses is an answer, not an error.
func (v *Venv) Read(ctx context.Context, engine string, jobs ...Job) ([]Answer, error) {
	var list bytes.Buffer
	enc := json.NewEncoder(&list)
	for _, j := range jobs {
		if err := enc.Encode(j); err != nil {
			return nil, fmt.Errorf("ask %s: %w", engine, err)
		}
	}
	out, err := v.run(ctx, list.Bytes(), "read_table.py", engine, "--list", "-")
	if err != nil {
		return nil, err
	}
	answers, err := decodeAnswers(out)
	if err == nil && len(answers) != len(jobs) {
		err = fmt.Errorf("%d answers to %d questions", len(answers), len(jobs))
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", engine, err)
	}
	return answers, nil
}

func decodeAnswers(out []byte) ([]Answer, error) {
	var answers []Answer
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var a Answer
		switch err := dec.Decode(&a); {
		case errors.Is(err, io.EOF):
			return answers, nil
		case err != nil:
			return nil, err
		}
		answers = append(answers, a)
	}
}
