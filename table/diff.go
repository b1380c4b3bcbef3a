package table

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// Difference is what is different from one version of a table to another.
type Difference struct {
	From, To       int64
	Added, Removed []File // in the order of the version that has them
	Columns        []ColumnChange
	Partitions     [2][]string // partition columns of both
	Properties     []TextChange
	Protocol       [2]commitlog.Protocol
	Apps           []AppChange
	Domains        []TextChange
}

// ColumnChange is a column that is in one version alone, or has another type or place; nil where it is not there.
type ColumnChange struct {
	Name          string
	Before, After *schema.Field
}

// TextChange is a setting that has another value; nil for none.
type TextChange struct {
	Name          string
	Before, After *string
}

// AppChange is an application that has got to another batch; -1 for none.
type AppChange struct {
	App           string
	Before, After int64
}

// Diff compares the snapshot with another one of the same table, by the log alone. Errors are those of Files.
func (s *Snapshot) Diff(ctx context.Context, to *Snapshot) (*Difference, error) {
	d := &Difference{
		From: s.Version(), To: to.Version(), Partitions: [2][]string{s.PartitionColumns(), to.PartitionColumns()},
		Protocol: [2]commitlog.Protocol{s.state.Protocol, to.state.Protocol},
		Columns:  columnChanges(s.schema, to.schema), Properties: textChanges(s.Properties(), to.Properties()),
		Apps: appChanges(s.state.Apps, to.state.Apps), Domains: textChanges(domainTexts(s.state), domainTexts(to.state)),
	}
	var err error
	if d.Removed, err = s.besides(ctx, to); err != nil {
		return nil, err
	}
	d.Added, err = to.besides(ctx, s)
	return d, err
}

// besides are the files that the other version does not have.
func (s *Snapshot) besides(ctx context.Context, other *Snapshot) ([]File, error) {
	var files []File
	for add, err := range s.state.Files.Without(ctx, other.state.Files) {
		if err != nil {
			return nil, err
		}
		f, err := s.file(&add)
		if err != nil {
			return nil, fmt.Errorf("version %d, file %s: %w", s.Version(), add.Path, err)
		}
		files = append(files, f)
	}
	return files, nil
}

func columnChanges(before, after *schema.Type) []ColumnChange {
	var changes []ColumnChange
	for i := range before.Fields {
		b := &before.Fields[i]
		c := ColumnChange{Name: b.Name, Before: b}
		if at := after.Index(b.Name); at >= 0 {
			c.After = &after.Fields[at]
			if c.After.Type.Equal(b.Type) && c.After.Nullable == b.Nullable && at == i {
				continue
			}
		}
		changes = append(changes, c)
	}
	for i := range after.Fields {
		if a := &after.Fields[i]; before.Index(a.Name) < 0 {
			changes = append(changes, ColumnChange{Name: a.Name, After: a})
		}
	}
	return changes
}

func textChanges(before, after map[string]string) []TextChange {
	var changes []TextChange
	for _, name := range allKeys(before, after) {
		b, had := before[name]
		a, has := after[name]
		if had == has && a == b {
			continue
		}
		c := TextChange{Name: name}
		if had {
			c.Before = &b
		}
		if has {
			c.After = &a
		}
		changes = append(changes, c)
	}
	return changes
}

func appChanges(before, after map[string]commitlog.App) []AppChange {
	batch := func(apps map[string]commitlog.App, name string) int64 {
		if app, has := apps[name]; has {
			return app.Batch
		}
		return -1
	}
	var changes []AppChange
	for _, name := range allKeys(before, after) {
		if c := (AppChange{name, batch(before, name), batch(after, name)}); c.Before != c.After {
			changes = append(changes, c)
		}
	}
	return changes
}

func domainTexts(s *commitlog.State) map[string]string {
	texts := make(map[string]string, len(s.Domains))
	for name, d := range s.Domains {
		texts[name] = d.Configuration
	}
	return texts
}

func allKeys[V any](a, b map[string]V) []string {
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
