package commitlog

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/schema"
)

// gated is a protocol and metadata that passed the gate for reading.
type gated struct {
	table    string
	protocol Protocol
	metadata Metadata
	usage    usage
	schema   *schema.Type
}

// usage is what a schema asks of its readers and writers beyond its types. It is taken from the JSON itself, so that a
// type that Sluice does not know does not hide the feature that brought it.
type usage struct {
	keys  map[string]string // keys of field metadata; the value is the first field that has it
	types map[string]string // names of types; the value is the first field that has it
}

func parseUsage(schemaString string) (usage, error) {
	var root any
	if err := json.Unmarshal([]byte(schemaString), &root); err != nil {
		return usage{}, err
	}
	fields, ok := member(root, "fields").([]any)
	if !ok {
		return usage{}, errors.New("it is not a struct with fields")
	}
	u := usage{keys: map[string]string{}, types: map[string]string{}}
	return u, u.walk("", fields)
}

func (u *usage) walk(parent string, fields []any) error {
	for _, f := range fields {
		name, ok := member(f, "name").(string)
		if !ok {
			return fmt.Errorf("a field of %q without a name", parent)
		}
		path := name
		if parent != "" {
			path = parent + "." + name
		}
		meta, ok := member(f, "metadata").(map[string]any)
		if !ok {
			return fmt.Errorf("field %q has no metadata", path)
		}
		for key := range meta {
			if _, seen := u.keys[key]; !seen {
				u.keys[key] = path
			}
		}
		if err := u.walkType(path, member(f, "type")); err != nil {
			return err
		}
	}
	return nil
}

func (u *usage) walkType(path string, typ any) error {
	if name, ok := typ.(string); ok {
		if _, seen := u.types[name]; !seen {
			u.types[name] = path
		}
		return nil
	}
	if fields, ok := member(typ, "fields").([]any); ok {
		return u.walk(path, fields)
	}
	for _, inner := range []string{"elementType", "keyType", "valueType"} {
		if t := member(typ, inner); t != nil {
			if err := u.walkType(path, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func member(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}
