package table

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// FileStats are a file's statistics, as far as they can be read. Columns are dotted paths; those whose own name has a dot
// are left out.
type FileStats struct {
	Rows  int64
	Min   map[string]Value // a value that no value of the column is below
	Max   map[string]Value // a value that none is above
	Nulls map[string]int64
	// Tight is false when rows of the file are deleted, and the statistics are those of before.
	Tight bool
}

// parseStats reads add.stats; nil when there are none or they are no statistics. Bounds of a form that their column does
// not have are left out.
func parseStats(t *schema.Type, text string) *FileStats {
	if text == "" {
		return nil
	}
	var wire struct {
		NumRecords  *int64         `json:"numRecords"`
		MinValues   map[string]any `json:"minValues"`
		MaxValues   map[string]any `json:"maxValues"`
		NullCount   map[string]any `json:"nullCount"`
		TightBounds *bool          `json:"tightBounds"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&wire) != nil || wire.NumRecords == nil || *wire.NumRecords < 0 {
		return nil
	}
	s := &FileStats{
		Rows: *wire.NumRecords, Min: map[string]Value{}, Max: map[string]Value{}, Nulls: map[string]int64{},
		Tight: wire.TightBounds == nil || *wire.TightBounds,
	}
	s.bounds("", t, wire.MinValues, s.Min, outwards{-1, 0})
	s.bounds("", t, wire.MaxValues, s.Max, outwards{1, 999})
	s.nulls("", t, wire.NullCount)
	return s
}

// outwards is the way out of a side's bounds: writers cut timestamps to milliseconds, so that the highest may be micros higher,
// and some write decimals by way of a double.
type outwards struct {
	sign   int64
	micros int64
}

func (o outwards) from(f *schema.Field, bound Value) (Value, bool) {
	switch f.Type.Kind {
	case schema.Timestamp, schema.TimestampNTZ:
		return bound.(int64) + o.micros, true
	case schema.Decimal:
		return bound.(Decimal).outwards(o.sign)
	case schema.Double:
		// A float of before the column was widened is told in as few digits as tell floats apart.
		v := bound.(float64)
		if nearest := float64(float32(v)); f.WidenedFrom(schema.Float) && (nearest > v) == (o.sign > 0) {
			return nearest, true
		}
	}
	return bound, true
}

// bounds collects a side.
func (s *FileStats) bounds(path string, t *schema.Type, values map[string]any, to map[string]Value, out outwards) {
	for _, f := range t.Fields {
		name := join(path, f.Name)
		if strings.Contains(f.Name, ".") {
			continue
		}
		switch v := values[f.StoredName()].(type) {
		case nil:
		case map[string]any:
			if f.Type.Kind == schema.Struct {
				s.bounds(name, f.Type, v, to, out)
			}
		default:
			bound, ok := statValue(f.Type, v)
			if ok {
				bound, ok = out.from(&f, bound)
			}
			if ok {
				to[name] = bound
			}
		}
	}
}

func (s *FileStats) nulls(path string, t *schema.Type, values map[string]any) {
	for _, f := range t.Fields {
		name := join(path, f.Name)
		if strings.Contains(f.Name, ".") {
			continue
		}
		switch v := values[f.StoredName()].(type) {
		case map[string]any:
			if f.Type.Kind == schema.Struct {
				s.nulls(name, f.Type, v)
			}
		case json.Number:
			if n, err := v.Int64(); err == nil {
				s.Nulls[name] = n
			}
		}
	}
}

// statValue converts one bound.
func statValue(t *schema.Type, v any) (Value, bool) {
	switch v := v.(type) {
	case string:
		switch t.Kind {
		case schema.String, schema.Date, schema.Timestamp, schema.TimestampNTZ:
			bound, err := parseText(t, v)
			return bound, err == nil
		}
	case json.Number:
		switch t.Kind {
		case schema.Byte, schema.Short, schema.Integer, schema.Long:
			n, err := v.Int64()
			return n, err == nil
		case schema.Float: // told as the number of fewest digits that is nearest to it
			n, err := strconv.ParseFloat(v.String(), 32)
			return n, err == nil
		case schema.Double:
			n, err := v.Float64()
			return n, err == nil
		case schema.Decimal:
			bound, err := parseDecimal(v.String(), t.Scale)
			return bound, err == nil // one that the scale does not hold has been rounded, and is no bound
		}
	}
	return nil, false
}
