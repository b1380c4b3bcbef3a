package table

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/schema"
)

// partitioner tells the partition of each row of a record.
type partitioner struct {
	columns []string
	fields  []schema.Field
}

func newPartitioner(t *schema.Type, columns []string) (*partitioner, error) {
	p := &partitioner{columns: columns}
	for _, name := range columns {
		i := t.Index(name)
		if i < 0 {
			return nil, fmt.Errorf("partition by column %s: the table has no such column", name)
		}
		if err := checkPartitionType(name, t.Fields[i].Type); err != nil {
			return nil, err
		}
		p.fields = append(p.fields, t.Fields[i])
	}
	return p, nil
}

// folder returns where the files of a partition lie. Under column mapping its name says nothing of columns, which may be
// renamed.
func (p *partitioner) folder(values []*string) string {
	if len(p.fields) == 0 || p.fields[0].Stored.Name == "" {
		return partitionFolder(p.columns, values)
	}
	names := make([]string, len(p.fields))
	for i := range p.fields {
		names[i] = p.fields[i].StoredName()
	}
	return hashedFolder(names, values)
}

// keys calls fn for every row with a key that is equal for rows of one partition. fn gets key's memory only for the call.
func (p *partitioner) keys(record arrow.Record, fn func(row int, key []byte, values func() []*string) error) error {
	arrays := make([]arrow.Array, len(p.columns))
	for i, name := range p.columns {
		if at := record.Schema().FieldIndices(name); len(at) > 0 {
			arrays[i] = record.Column(at[0])
		}
	}
	texts := make([]string, len(arrays))
	valid := make([]bool, len(arrays))
	values := func() []*string {
		all := make([]*string, len(texts))
		for i := range texts {
			if valid[i] {
				text := strings.Clone(texts[i])
				all[i] = &text
			}
		}
		return all
	}
	var key []byte
	for row := range int(record.NumRows()) {
		key = key[:0]
		for i, a := range arrays {
			var err error
			if texts[i], valid[i], err = partitionText(p.fields[i].Type, a, row); err != nil {
				return fmt.Errorf("partition column %s, row %d: %w", p.columns[i], row, err)
			}
			if !valid[i] && !p.fields[i].Nullable {
				return &NotNullError{Column: p.columns[i], Row: row}
			}
			key = appendKey(key, texts[i], valid[i])
		}
		if err := fn(row, key, values); err != nil {
			return err
		}
	}
	return nil
}

// appendKey appends a value so that no two lists of values give the same bytes.
func appendKey(key []byte, text string, valid bool) []byte {
	if !valid {
		return append(key, 0)
	}
	n := len(text)
	key = append(key, 1, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	return append(key, text...)
}
