package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Job is one question to a foreign reader.
type Job struct {
	Table   string   `json:"table"`             // folder, or a URL
	Version *int64   `json:"version,omitempty"` // nil for the newest
	Columns []string `json:"columns,omitempty"` // all when empty
}

func (j Job) remote() bool { return strings.Contains(j.Table, "://") }

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

// Read asks one engine (deltalake, duckdb; chdb, polars or spark if Readers was asked for it) all questions, in one process, and returns the
// answers in their order. A table that the engine refuses is an answer, not an error.
func (v *Venv) Read(ctx context.Context, engine string, jobs ...Job) ([]Answer, error) {
	answers := make([]Answer, len(jobs))
	err := v.withReader(ctx, engine, slices.ContainsFunc(jobs, Job.remote), func(d *dialogue) error {
		for i, j := range jobs {
			if err := ask(d, j, &answers[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", engine, err)
	}
	return answers, nil
}

func ask(d *dialogue, j Job, answer *Answer) error {
	if !j.remote() {
		var err error
		if j.Table, err = filepath.Abs(j.Table); err != nil {
			return err
		}
	}
	line, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return d.ask(string(line), answer)
}
