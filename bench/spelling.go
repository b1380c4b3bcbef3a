package main

import (
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// spelling is how an engine writes types. Of list, nest and leaf %s is what is inside.
type spelling struct {
	engine string
	kinds  map[schema.Kind]string
	leaf   string
	list   string
	nest   string
	column string // a name and a type
}

// spellingOfDuckDB has times without a zone, which is less work for DuckDB.
func spellingOfDuckDB() spelling {
	return spelling{
		engine: "DuckDB",
		kinds: map[schema.Kind]string{
			schema.Boolean: "BOOLEAN", schema.Integer: "INTEGER", schema.Long: "BIGINT", schema.Double: "DOUBLE",
			schema.String: "VARCHAR", schema.Timestamp: "TIMESTAMP",
		},
		leaf: "%s", list: "%s[]", nest: "STRUCT(%s)", column: "'%s': '%s'",
	}
}

func spellingOfClickHouse() spelling {
	return spelling{
		engine: "ClickHouse",
		kinds: map[schema.Kind]string{
			schema.Boolean: "Bool", schema.Integer: "Int32", schema.Long: "Int64", schema.Double: "Float64",
			schema.String: "String", schema.Timestamp: "DateTime64(6, 'UTC')",
		},
		leaf: "Nullable(%s)", list: "Array(%s)", nest: "Tuple(%s)", column: "%s %s",
	}
}

// columns are columns in the engine's spelling, with commas between.
func (s spelling) columns(columns []column) (string, error) {
	items := make([]string, len(columns))
	for i, c := range columns {
		t, err := schema.ParseDDL(c.ddl)
		if err != nil {
			return "", err
		}
		name, err := s.of(t)
		if err != nil {
			return "", fmt.Errorf("column %s: %w", c.name, err)
		}
		items[i] = fmt.Sprintf(s.column, c.name, name)
	}
	return strings.Join(items, ", "), nil
}

func (s spelling) of(t *schema.Type) (string, error) {
	switch t.Kind {
	case schema.Array:
		elem, err := s.of(t.Elem)
		return fmt.Sprintf(s.list, elem), err
	case schema.Struct:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			of, err := s.of(f.Type)
			if err != nil {
				return "", err
			}
			fields[i] = f.Name + " " + of
		}
		return fmt.Sprintf(s.nest, strings.Join(fields, ", ")), nil
	}
	name, known := s.kinds[t.Kind]
	if !known {
		return "", fmt.Errorf("no spelling of %s for %s: give it one here", t, s.engine)
	}
	return fmt.Sprintf(s.leaf, name), nil
}
