package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/table"
)

// settings are what a property is set to, after which another one is unset if it is named.
var settings = []table.Change{
	{Set: map[string]string{"delta.deletedFileRetentionDuration": "interval 1 hour"}},
	{Set: map[string]string{"delta.deletedFileRetentionDuration": "interval 2 hours"}},
	{Set: map[string]string{"delta.targetFileSize": "3000"}},
	{Set: map[string]string{"delta.targetFileSize": "1000000"}},
	{Set: map[string]string{"delta.checkpoint.writeStatsAsStruct": "true"}, Unset: []string{"delta.checkpoint.writeStatsAsJson"}},
	{Set: map[string]string{"delta.dataSkippingNumIndexedCols": "2"}},
	{Unset: []string{"delta.dataSkippingNumIndexedCols", "delta.targetFileSize"}},
	{Set: map[string]string{"delta.parquet.compression.codec": "snappy"}},
	{Set: map[string]string{"sluice.parquet.encoding": "compact"}},
	{Set: map[string]string{"sluice.parquet.encoding": "compatible"}},
	{Set: map[string]string{"delta.enableDeletionVectors": "true"}},
	{Set: map[string]string{"delta.enableChangeDataFeed": "true"}},
	{Set: map[string]string{"delta.appendOnly": "true"}},
}

// setProperties changes some. A table that only takes appends takes all again after it.
func (s *step) setProperties() error {
	head, err := s.table.Log().Refresh(s.tb.Context())
	if err != nil {
		return err
	}
	change := settings[s.random.IntN(len(settings))]
	if head.Metadata.Configuration[appendOnly] == "true" {
		change = table.Change{Unset: []string{appendOnly}}
	}
	done, err := s.table.ChangeProperties(s.tb.Context(), change)
	s.version = done.Version
	return err
}

const appendOnly = "delta.appendOnly"

// addColumn adds one, as ALTER TABLE of other engines does. Its name may have been that of one before a restore.
func (s *step) addColumn() error {
	return s.alter("ADD COLUMNS", func(m *commitlog.Metadata, fields []schema.Field) ([]schema.Field, error) {
		return withColumn(m, fields, fmt.Sprintf("c%d", len(fields)))
	})
}

// widenColumn makes a long of an int, as ALTER COLUMN TYPE of other engines does; of none if there is none, or the table does not allow it.
func (s *step) widenColumn() error {
	return s.alter("CHANGE COLUMN", func(m *commitlog.Metadata, fields []schema.Field) ([]schema.Field, error) {
		at := slices.IndexFunc(fields, func(f schema.Field) bool { return f.Type.Kind == schema.Integer })
		if at < 0 || m.Configuration["delta.enableTypeWidening"] != "true" {
			return nil, nil
		}
		f := &fields[at]
		f.Type = &schema.Type{Kind: schema.Long}
		f.Metadata = maps.Clone(f.Metadata)
		if f.Metadata == nil {
			f.Metadata = map[string]json.RawMessage{}
		}
		f.Metadata["delta.typeChanges"] = json.RawMessage(`[{"fromType":"integer","toType":"long"}]`)
		return fields, nil
	})
}

// alter changes the table's columns; no columns: it does not.
func (s *step) alter(operation string, change func(*commitlog.Metadata, []schema.Field) ([]schema.Field, error)) error {
	log := s.table.Log()
	head, err := log.Refresh(s.tb.Context())
	if err != nil {
		return err
	}
	metadata := head.Metadata
	metadata.Configuration = maps.Clone(metadata.Configuration)
	fields, err := change(&metadata, slices.Clone(head.Schema().Fields))
	if err != nil || fields == nil {
		return err
	}
	metadata.SchemaString = schema.StructOf(fields...).JSON()
	s.between()
	s.ask("column", func(before rows) rows { return before })
	done, err := log.Commit(s.tb.Context(), commitlog.Transaction{ReadVersion: head.Version, Actions: commitlog.Commit{
		Metadata: &metadata, Info: &commitlog.CommitInfo{Operation: operation, UserMetadata: s.label},
	}})
	s.version = done.Version
	return err
}

// withColumn adds a column of ints to others, with an id where columns have such.
func withColumn(m *commitlog.Metadata, fields []schema.Field, name string) ([]schema.Field, error) {
	longer := schema.StructOf(append(fields, schema.Field{Name: name, Type: &schema.Type{Kind: schema.Integer}, Nullable: true})...)
	mapping, _ := schema.ParseMapping(m.Configuration["delta.columnMapping.mode"])
	if mapping == schema.Unmapped {
		return longer.Fields, nil
	}
	const most = "delta.columnMapping.maxColumnId"
	last, err := strconv.Atoi(m.Configuration[most])
	if err != nil {
		return nil, err
	}
	longer, last, err = longer.AssignIDs(mapping, last, func() string { return "col-" + uuid.NewString() })
	m.Configuration[most] = strconv.Itoa(last)
	if err != nil {
		return nil, err
	}
	return longer.Fields, nil
}
