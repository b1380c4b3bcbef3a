package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
)

func (r *reader) table(v value) Table {
	var out Table
	fields, ok := r.section(v, "table")
	if !ok {
		return out
	}
	if p, ok := r.need(fields, v, "path", "lake/my_table"); ok {
		out.Path, _ = r.place(p, "lake/my_table")
	}
	if p, ok := fields["partition_by"]; ok && !(isSequence(p) && len(p.node.Content) == 0) {
		out.PartitionBy, _ = r.strs(p, "day")
	}
	if p, ok := fields["properties"]; ok {
		out.Properties = r.properties(p)
	}
	return out
}

// checkPartitions checks what can be known without the table: the columns, when they are declared.
func (r *reader) checkPartitions(partitionBy []string, columns []format.Column) {
	seen, known := map[string]bool{}, 0
	for i, name := range partitionBy {
		path := fmt.Sprintf("table.partition_by[%d]", i)
		switch folded := strings.ToLower(name); {
		case name == "":
		case seen[folded]:
			r.faultAt(path, fmt.Sprintf("column %q is in the list already", name), "keep one of them")
		default:
			seen[folded] = true
			if len(columns) > 0 && r.checkPartition(path, name, columns) {
				known++
			}
		}
	}
	if known > 0 && known == len(columns) {
		r.faultAt("table.partition_by", "names all of the columns, and a table needs one that is not a partition", "leave out at least one")
	}
}

// checkPartition says whether the name is that of a column, and finds fault with it if it cannot be a partition.
func (r *reader) checkPartition(path, name string, columns []format.Column) bool {
	i := slices.IndexFunc(columns, func(c format.Column) bool { return c.Name == name })
	if i < 0 {
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		fix := fmt.Sprintf("add it to columns, such as {name: %s, type: string}", quote(name))
		if near, ok := nearest(name, names); ok {
			fix = fmt.Sprintf("did you mean %s?", near)
		}
		r.faultAt(path, fmt.Sprintf("column %q is not among the columns", name), fix)
		return false
	}
	if t := columns[i].Type; t != nil && !isPartitionable(t) {
		r.faultAt(path, fmt.Sprintf("column %q is of type %s, which cannot be a partition", name, t.DDL()),
			"name a column of another type than array, map, struct and binary")
	}
	return true
}

func isPartitionable(t *schema.Type) bool {
	switch t.Kind {
	case schema.Array, schema.Map, schema.Struct, schema.Binary:
		return false
	default:
		return true
	}
}
