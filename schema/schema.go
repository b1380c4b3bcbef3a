// Package schema holds Delta Lake's types in their three spellings: the JSON of the table's log (PROTOCOL.md, "Schema
// Serialization Format"), Spark's DDL for people (struct<os:string,screen_w:int>), and Arrow for the columns that travel
// between Sluice's parts.
package schema

import "encoding/json"

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
}
