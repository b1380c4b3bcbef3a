package schema

import (
	"bytes"
	"encoding/json"
)

// Equal says whether two types are the same in everything: kinds, names and order of fields, nullability and metadata.
func (t *Type) Equal(o *Type) bool {
	if t == nil || o == nil {
		return t == o
	}
	if t.Kind != o.Kind || t.Precision != o.Precision || t.Scale != o.Scale || t.ContainsNull != o.ContainsNull ||
		len(t.Fields) != len(o.Fields) || !t.Elem.Equal(o.Elem) || !t.Key.Equal(o.Key) {
		return false
	}
	for i := range t.Fields {
		if !t.Fields[i].equal(&o.Fields[i]) {
			return false
		}
	}
	return true
}

func (f *Field) equal(o *Field) bool {
	if f.Name != o.Name || f.Nullable != o.Nullable || f.Stored != o.Stored || len(f.Metadata) != len(o.Metadata) || !f.Type.Equal(o.Type) {
		return false
	}
	for k, v := range f.Metadata {
		w, ok := o.Metadata[k]
		if !ok || !sameJSON(v, w) {
			return false
		}
	}
	return true
}

// sameJSON compares two JSON texts without their insignificant white space.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
