// Package schema holds Delta Lake's types in their four spellings: the JSON of the table's log (PROTOCOL.md, "Schema
// Serialization Format"), Spark's DDL for people (struct<os:string,screen_w:int>), Arrow for the columns that travel between
// Sluice's parts, and the leaves of Parquet files. It also reads their values where they are texts.
//
// It is the bottom of the tree beside storage: commitlog parses metaData with it, pipeline the columns of its file, format
// and table build and check Arrow records by it. A Type is a value; nothing here does I/O.
//
// Invariants:
//
//   - ParseJSON and JSON are exact: metadata that means nothing here is kept byte for byte, and no alias is let through,
//     since other readers refuse a table for one.
//   - Field names inside one struct differ in more than case.
//   - A Type that a parser returned is valid: decimals have 1 to 38 digits and a scale within them, nesting is at most
//     MaxDepth deep.
package schema

import (
	"encoding/json"
	"strings"
)

// MaxDepth bounds the nesting of types that are parsed; far beyond any real table, far below the end of the stack.
const MaxDepth = 100

// Kind is the outermost constructor of a type.
type Kind int

const (
	Boolean Kind = iota + 1
	Byte
	Short
	Integer
	Long
	Float
	Double
	Decimal
	String
	Binary
	Date
	Timestamp    // microseconds since the epoch, UTC
	TimestampNTZ // microseconds, no zone
	Array
	Map
	Struct
	Void    // nothing but null, and in no data file
	Variant // a value of any kind, in Parquet's Variant binary encoding
)

// Type is a Delta type. Immutable once made.
type Type struct {
	Kind      Kind
	Precision int // Decimal: 1 to 38
	Scale     int // Decimal: 0 to Precision

	Elem         *Type // Array: element; Map: value
	ContainsNull bool  // Array: containsNull; Map: valueContainsNull
	Key          *Type // Map

	Fields []Field // Struct
}

// Field is a named member of a struct, or a column.
type Field struct {
	Name     string
	Type     *Type
	Nullable bool
	Metadata map[string]json.RawMessage // unknown keys are kept as they are
	Stored   Stored                     // under column mapping; see Mapped
}

// Of returns the type of a kind that needs no more than its kind.
func Of(k Kind) *Type { return &Type{Kind: k} }

// DecimalOf returns decimal(precision, scale).
func DecimalOf(precision, scale int) *Type {
	return &Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// ArrayOf returns an array whose elements may be null.
func ArrayOf(elem *Type) *Type { return &Type{Kind: Array, Elem: elem, ContainsNull: true} }

// MapOf returns a map whose values may be null.
func MapOf(key, value *Type) *Type {
	return &Type{Kind: Map, Key: key, Elem: value, ContainsNull: true}
}

// StructOf returns a struct of the given fields.
func StructOf(fields ...Field) *Type { return &Type{Kind: Struct, Fields: fields} }

// Nested says whether values of the type have values inside, and so no order.
func (t *Type) Nested() bool {
	return t.Kind == Array || t.Kind == Map || t.Kind == Struct || t.Kind == Variant
}

// Index returns the position of the struct's field of exactly this name, or -1.
func (t *Type) Index(name string) int {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Find is the path to a field of the struct, or of structs inside, by its dotted name, and its type; nil when there is none. Names of
// fields may have dots.
func (t *Type) Find(name string) ([]string, *Type) {
	for _, f := range t.Fields {
		if f.Name == name {
			return []string{name}, f.Type
		}
		if rest, inside := strings.CutPrefix(name, f.Name+"."); inside && f.Type.Kind == Struct {
			if path, found := f.Type.Find(rest); found != nil {
				return append([]string{f.Name}, path...), found
			}
		}
	}
	return nil, nil
}

// Contains says whether the type is of the kind, or has it anywhere inside.
func (t *Type) Contains(k Kind) bool {
	if t.Kind == k || t.Key != nil && t.Key.Contains(k) || t.Elem != nil && t.Elem.Contains(k) {
		return true
	}
	for i := range t.Fields {
		if t.Fields[i].Type.Contains(k) {
			return true
		}
	}
	return false
}

// String is DDL, for messages.
func (t *Type) String() string { return t.DDL() }
