package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// SchemaError says that rows of one schema cannot be appended to a table of another. Faults has all reasons, each naming
// a column, both types and what to do.
type SchemaError struct{ Faults []error }

func (e *SchemaError) Error() string {
	return "the rows do not fit the table: " + strings.ReplaceAll(errors.Join(e.Faults...).Error(), "\n", "; ")
}

func (e *SchemaError) Unwrap() []error { return e.Faults }

// checkFits says why rows of the written type cannot be appended to the table, or nil: every column of theirs has to be
// there, by its exact name and type at every depth, and a column they lack must be nullable. Promised says that the rows
// are in files already, and checked for nulls by the written type alone: the table may not demand more than it, and has to
// know the columns as the files do.
func checkFits(written, table *schema.Type, promised bool) error {
	f := fitter{promised: promised}
	f.fields("", written, table)
	if len(f.faults) == 0 {
		return nil
	}
	return &SchemaError{Faults: f.faults}
}

type fitter struct {
	promised bool
	faults   []error
}

func (f *fitter) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Errorf(format, args...))
}

func (f *fitter) fields(path string, written, table *schema.Type) {
	for i := range written.Fields {
		w := &written.Fields[i]
		name := join(path, w.Name)
		at := f.index(table, w)
		if at < 0 {
			f.missing(name, w, table)
			continue
		}
		t := &table.Fields[at]
		if f.promised && w.Nullable && !t.Nullable {
			f.fault("column %s is NOT NULL in the table, and the rows may hold nulls; declare it nullable: false", name)
		}
		f.types(name, w.Type, t.Type)
	}
	for i := range table.Fields {
		t := &table.Fields[i]
		if !t.Nullable && f.index(written, t) < 0 {
			f.fault("column %s (%s NOT NULL) of the table is missing in the rows; add it", join(path, t.Name), t.Type)
		}
	}
}

// index finds the field of a struct that is another's: by its name, or, once files are written, by how they know it.
func (f *fitter) index(in *schema.Type, of *schema.Field) int {
	if !f.promised {
		return in.Index(of.Name)
	}
	return slices.IndexFunc(in.Fields, func(g schema.Field) bool {
		byID := g.Stored.ByID || of.Stored.ByID
		return g.StoredName() == of.StoredName() && (!byID || g.Stored.ID == of.Stored.ID)
	})
}

func (f *fitter) missing(name string, w *schema.Field, table *schema.Type) {
	for i := range table.Fields {
		if f.promised && table.Fields[i].Name == w.Name {
			f.fault("column %s of the table is another one than when the batch began; run the batch again", name)
			return
		}
		if strings.EqualFold(table.Fields[i].Name, w.Name) {
			f.fault("column %s: the table spells it %s; rename yours", name, table.Fields[i].Name)
			return
		}
	}
	f.fault("column %s (%s): the table has no such column; drop it from the rows, or add it to the table", name, w.Type)
}

func (f *fitter) types(name string, written, table *schema.Type) {
	switch {
	case written.Kind != table.Kind || written.Precision != table.Precision || written.Scale != table.Scale:
		f.fault("column %s is %s in the rows and %s in the table; write it as %s", name, written, table, table)
	case table.Kind == schema.Struct:
		f.fields(name, written, table)
	case table.Kind == schema.Array:
		f.nulls(name+".element", written, table)
		f.types(name+".element", written.Elem, table.Elem)
	case table.Kind == schema.Map:
		f.nulls(name+".value", written, table)
		f.types(name+".key", written.Key, table.Key)
		f.types(name+".value", written.Elem, table.Elem)
	}
}

func (f *fitter) nulls(name string, written, table *schema.Type) {
	if f.promised && written.ContainsNull && !table.ContainsNull {
		f.fault("column %s must not be null in the table, and may be in the rows", name)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
