package variant

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// Kind is what a value is. The integers of all widths are one, and the decimals, and texts short and long.
type Kind int

const (
	Null Kind = iota
	Boolean
	Integer
	Float
	Double
	Decimal
	Date         // days since the epoch
	Timestamp    // since the epoch, UTC
	TimestampNTZ // the same, no zone
	Time         // microseconds since midnight, no zone
	Binary
	String
	UUID
	Object
	Array
)

// Value is a value of any kind; the zero value is null.
type Value struct {
	Kind     Kind
	Boolean  bool
	Integer  int64 // also of dates and times
	Nanos    bool  // a timestamp is in nanoseconds, not in microseconds
	Float    float64
	Unscaled decimal128.Num // of a decimal
	Scale    int32
	Bytes    []byte  // of binaries, strings and UUIDs: the memory that was decoded
	Fields   []Field // of an object, as they are listed there
	Items    []Value // of an array
}

// Field is a member of an object.
type Field struct {
	Name  string
	Value Value
}
