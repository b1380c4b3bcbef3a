package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
)

// primitives are the names of the log's JSON (PROTOCOL.md, "Primitive Types"). They have no aliases there.
var primitives = map[Kind]string{
	Boolean: "boolean", Byte: "byte", Short: "short", Integer: "integer", Long: "long", Float: "float", Double: "double",
	String: "string", Binary: "binary", Date: "date", Timestamp: "timestamp", TimestampNTZ: "timestamp_ntz",
	Void: "void", Variant: "variant",
}

// ParseJSON reads the schemaString of a metaData action: a struct of the table's columns. It is exact: names have to be
// unique but for case in each struct, every field has to carry metadata, and aliases such as bigint are refused, as other
// readers do. Unknown metadata is kept.
func ParseJSON(schemaString string) (*Type, error) {
	t, err := parseType(json.RawMessage(schemaString), "", 0)
	if err != nil {
		return nil, fmt.Errorf("parse table schema: %w", err)
	}
	if t.Kind != Struct {
		return nil, fmt.Errorf("parse table schema: the outermost type is %s; a table's schema is a struct", t)
	}
	return t, nil
}

// wireType has pointers where absence is a fault.
type wireType struct {
	Type              string          `json:"type"`
	Fields            *[]wireField    `json:"fields"`
	ElementType       json.RawMessage `json:"elementType"`
	ContainsNull      *bool           `json:"containsNull"`
	KeyType           json.RawMessage `json:"keyType"`
	ValueType         json.RawMessage `json:"valueType"`
	ValueContainsNull *bool           `json:"valueContainsNull"`
}

type wireField struct {
	Name     *string                     `json:"name"`
	Type     json.RawMessage             `json:"type"`
	Nullable *bool                       `json:"nullable"`
	Metadata *map[string]json.RawMessage `json:"metadata"`
}

func parseType(raw json.RawMessage, path string, depth int) (*Type, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("%stypes are nested more than %d deep", where(path), MaxDepth)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, fmt.Errorf("%sthe type is missing", where(path))
	}
	if bytes.TrimSpace(raw)[0] == '"' {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return nil, fmt.Errorf("%s%w", where(path), err)
		}
		return parsePrimitive(name, path)
	}
	var w wireType
	if err := unmarshalOne(raw, &w); err != nil {
		return nil, fmt.Errorf("%s%w", where(path), err)
	}
	switch w.Type {
	case "struct":
		return parseStruct(&w, path, depth)
	case "array":
		return parseArray(&w, path, depth)
	case "map":
		return parseMap(&w, path, depth)
	default:
		return nil, fmt.Errorf("%sunknown type %q; this table needs a newer reader", where(path), w.Type)
	}
}

// unmarshalOne refuses bytes behind the value.
func unmarshalOne(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text behind the end of the schema")
	}
	return nil
}

func parseStruct(w *wireType, path string, depth int) (*Type, error) {
	if w.Fields == nil {
		return nil, fmt.Errorf("%sa struct without fields", where(path))
	}
	t := &Type{Kind: Struct, Fields: make([]Field, 0, len(*w.Fields))}
	for i, f := range *w.Fields {
		if f.Name == nil {
			return nil, fmt.Errorf("%sfield %d has no name", where(path), i)
		}
		name := join(path, *f.Name)
		if f.Nullable == nil {
			return nil, fmt.Errorf("%s\"nullable\" is missing", where(name))
		}
		if f.Metadata == nil {
			return nil, fmt.Errorf("%s\"metadata\" is missing", where(name))
		}
		ft, err := parseType(f.Type, name, depth+1)
		if err != nil {
			return nil, err
		}
		field := Field{Name: *f.Name, Type: ft, Nullable: *f.Nullable}
		if len(*f.Metadata) > 0 {
			field.Metadata = *f.Metadata
		}
		t.Fields = append(t.Fields, field)
	}
	if err := t.duplicate(); err != nil {
		return nil, fmt.Errorf("%s%w", where(path), err)
	}
	return t, nil
}

func parseArray(w *wireType, path string, depth int) (*Type, error) {
	if w.ContainsNull == nil {
		return nil, fmt.Errorf("%s\"containsNull\" is missing", where(path))
	}
	elem, err := parseType(w.ElementType, join(path, "element"), depth+1)
	if err != nil {
		return nil, err
	}
	return &Type{Kind: Array, Elem: elem, ContainsNull: *w.ContainsNull}, nil
}

func parseMap(w *wireType, path string, depth int) (*Type, error) {
	if w.ValueContainsNull == nil {
		return nil, fmt.Errorf("%s\"valueContainsNull\" is missing", where(path))
	}
	key, err := parseType(w.KeyType, join(path, "key"), depth+1)
	if err != nil {
		return nil, err
	}
	value, err := parseType(w.ValueType, join(path, "value"), depth+1)
	if err != nil {
		return nil, err
	}
	return &Type{Kind: Map, Key: key, Elem: value, ContainsNull: *w.ValueContainsNull}, nil
}

func parsePrimitive(name, path string) (*Type, error) {
	for k, n := range primitives {
		if n == name {
			return Of(k), nil
		}
	}
	if args, ok := strings.CutPrefix(name, "decimal("); ok {
		if t := parseDecimalArgs(args); t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("%sthe type %q is not a decimal(p,s) with 1 <= p <= 38 and 0 <= s <= p", where(path), name)
	}
	if name == "decimal" {
		return DecimalOf(10, 0), nil // PROTOCOL.md leaves it open; Spark reads it so
	}
	if k, ok := aliases[strings.ToLower(name)]; ok {
		return nil, fmt.Errorf("%sthe type %q is an alias, which a table's log may not hold; its writer should have written %q",
			where(path), name, primitives[k])
	}
	return nil, fmt.Errorf("%sunknown type %q; this table needs a newer reader", where(path), name)
}

// parseDecimalArgs reads "10,2)"; nil when it is not that.
func parseDecimalArgs(s string) *Type {
	s, closed := strings.CutSuffix(s, ")")
	p, sc, two := strings.Cut(s, ",")
	precision, err1 := strconv.Atoi(strings.TrimSpace(p))
	scale, err2 := strconv.Atoi(strings.TrimSpace(sc))
	if !closed || !two || err1 != nil || err2 != nil || !validDecimal(precision, scale) {
		return nil
	}
	return DecimalOf(precision, scale)
}

func validDecimal(precision, scale int) bool {
	return precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision
}

func where(path string) string {
	if path == "" {
		return ""
	}
	return "column " + path + ": "
}

// JSON returns the type as the log spells it; for a struct that is a schemaString. Metadata keys are sorted, so equal
// types give equal bytes.
func (t *Type) JSON() string {
	return string(t.appendJSON(nil))
}

func (t *Type) appendJSON(b []byte) []byte {
	switch t.Kind {
	case Struct:
		b = append(b, `{"type":"struct","fields":[`...)
		for i := range t.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = t.Fields[i].appendJSON(b)
		}
		return append(b, `]}`...)
	case Array:
		b = append(b, `{"type":"array","elementType":`...)
		b = t.Elem.appendJSON(b)
		b = append(b, `,"containsNull":`...)
		b = strconv.AppendBool(b, t.ContainsNull)
		return append(b, '}')
	case Map:
		b = append(b, `{"type":"map","keyType":`...)
		b = t.Key.appendJSON(b)
		b = append(b, `,"valueType":`...)
		b = t.Elem.appendJSON(b)
		b = append(b, `,"valueContainsNull":`...)
		b = strconv.AppendBool(b, t.ContainsNull)
		return append(b, '}')
	case Decimal:
		return fmt.Appendf(b, `"decimal(%d,%d)"`, t.Precision, t.Scale)
	default:
		b = append(b, '"')
		b = append(b, primitives[t.Kind]...)
		return append(b, '"')
	}
}

func (f *Field) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, f.Name)
	b = append(b, `,"type":`...)
	b = f.Type.appendJSON(b)
	b = append(b, `,"nullable":`...)
	b = strconv.AppendBool(b, f.Nullable)
	b = append(b, `,"metadata":{`...)
	keys := make([]string, 0, len(f.Metadata))
	for k := range f.Metadata {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, k)
		b = append(b, ':')
		b = append(b, f.Metadata[k]...)
	}
	return append(b, `}}`...)
}

// appendString appends s as a JSON string, without the escapes for HTML.
func appendString(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
