package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Mapping says how the fields of a table are known in its data files and its log (PROTOCOL.md, "Column Mapping").
type Mapping int

const (
	Unmapped     Mapping = iota // by their names
	MappedByName                // by their physical names
	MappedByID                  // in files by their ids, in the log by their physical names
)

// ParseMapping reads the value of the table property delta.columnMapping.mode, in any case. An empty one is Unmapped.
func ParseMapping(mode string) (Mapping, bool) {
	switch strings.ToLower(mode) {
	case "", "none":
		return Unmapped, true
	case "name":
		return MappedByName, true
	case "id":
		return MappedByID, true
	}
	return Unmapped, false
}

// Stored is how a field is known under column mapping. The zero value is a field that is known by its name.
type Stored struct {
	Name string // physical name: in statistics, partition values and the files that are written; never changes
	ID   int    // field_id in files; never changes
	ByID bool   // files are searched by ID, whatever their names
}

// Keys of a field's metadata that the mapping is stored in.
const (
	mappingID   = "delta.columnMapping.id"
	mappingName = "delta.columnMapping.physicalName"
)

// StoredName is the field's name in files and in what the log says of them.
func (f *Field) StoredName() string {
	if f.Stored.Name != "" {
		return f.Stored.Name
	}
	return f.Name
}

// Mapped returns the struct with Stored set in all fields at every depth, from their metadata. Every field has to have an id
// and a physical name of its own.
func (t *Type) Mapped(m Mapping) (*Type, error) {
	if m == Unmapped {
		return t, nil
	}
	ids := make(map[int]string)
	return t.rebuild("", func(path string, f *Field) error {
		f.Stored = Stored{ByID: m == MappedByID}
		if json.Unmarshal(f.Metadata[mappingID], &f.Stored.ID) != nil || f.Stored.ID <= 0 || f.Stored.ID > math.MaxInt32 {
			return fmt.Errorf("column %s: its metadata has no usable %s, which column mapping needs: %q", path, mappingID, f.Metadata[mappingID])
		}
		if json.Unmarshal(f.Metadata[mappingName], &f.Stored.Name) != nil || f.Stored.Name == "" {
			return fmt.Errorf("column %s: its metadata has no usable %s, which column mapping needs: %q", path, mappingName, f.Metadata[mappingName])
		}
		if other, taken := ids[f.Stored.ID]; taken {
			return fmt.Errorf("columns %s and %s have the same %s, %d", other, path, mappingID, f.Stored.ID)
		}
		ids[f.Stored.ID] = path
		return nil
	})
}

// AssignIDs gives an id to each field that has none, the next after last and after those that are there, and a physical name
// that name returns. It returns the struct with them in its metadata and in Stored, and the last id ("Writer Requirements for
// Column Mapping").
func (t *Type) AssignIDs(m Mapping, last int, name func() string) (*Type, int, error) {
	_, err := t.rebuild("", func(_ string, f *Field) error {
		var id int
		if json.Unmarshal(f.Metadata[mappingID], &id) == nil { // Mapped tells of one that cannot be read
			last = max(last, id)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	assigned, err := t.rebuild("", func(_ string, f *Field) error {
		if _, has := f.Metadata[mappingID]; has {
			return nil
		}
		last++
		metadata := map[string]json.RawMessage{mappingID: fmt.Append(nil, last), mappingName: appendString(nil, name())}
		for key, value := range f.Metadata {
			metadata[key] = value
		}
		f.Metadata = metadata
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	assigned, err = assigned.Mapped(m)
	return assigned, last, err
}

// Logical returns the type without column mapping.
func (t *Type) Logical() *Type {
	logical, _ := t.rebuild("", func(_ string, f *Field) error { // it only fails when the function does
		f.Stored = Stored{}
		return nil
	})
	return logical
}

// rebuild returns a copy of the type in which fn has changed every field, those inside after those around them. fn gets the
// field's path by the names before.
func (t *Type) rebuild(path string, fn func(path string, f *Field) error) (_ *Type, err error) {
	c := *t
	if t.Key != nil {
		if c.Key, err = t.Key.rebuild(join(path, "key"), fn); err != nil {
			return nil, err
		}
	}
	if t.Elem != nil {
		if c.Elem, err = t.Elem.rebuild(join(path, elemName(t.Kind)), fn); err != nil {
			return nil, err
		}
	}
	if t.Kind == Struct {
		c.Fields = make([]Field, len(t.Fields))
	}
	for i, f := range t.Fields {
		at := join(path, f.Name)
		if err := fn(at, &f); err != nil {
			return nil, err
		}
		if f.Type, err = f.Type.rebuild(at, fn); err != nil {
			return nil, err
		}
		c.Fields[i] = f
	}
	return &c, nil
}
