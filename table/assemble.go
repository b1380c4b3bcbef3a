package table

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/schema/variant"
)

// assemble makes an array of so many slots of the entries that the leaves below have taken: the other direction of the Dremel paper's
// striping, a whole column at a time. A slot is an entry at which a value of the column begins, or a null struct around it. Entries with
// definition levels below within are none: a list around the column is empty or null there.
func (src *source) assemble(slots, within int) (arrow.ArrayData, error) {
	if src.leaf != nil {
		return src.assembleLeaf(slots, within)
	}
	valid, n := src.presence.slots(src.outerRep, within, src.def)
	if n != slots {
		return nil, errDamaged
	}
	switch src.typ.Kind {
	case schema.Struct:
		return src.assembleStruct(slots, within, valid)
	case schema.Variant:
		return src.assembleVariant(slots, within, valid)
	default:
		return src.assembleItems(slots, within, valid)
	}
}

// slots counts the slots of a column, and returns a bit for each: whether its value is there. Nil: all are.
func (c *leafColumn) slots(outerRep, within, def int) (valid []byte, n int) {
	valid = make([]byte, (c.entries+7)/8)
	present := 0
	for i := range c.entries {
		if c.rep != nil && int(c.rep[i]) > outerRep || c.def != nil && int(c.def[i]) < within {
			continue
		}
		if c.def == nil || int(c.def[i]) >= def {
			valid[n/8] |= 1 << (n % 8)
			present++
		}
		n++
	}
	if present == n {
		return nil, n
	}
	return valid[:(n+7)/8], n
}

func (src *source) assembleLeaf(slots, within int) (arrow.ArrayData, error) {
	c := src.leaf
	var valid []byte
	if c.values.n < c.entries || c.entries != slots {
		var n int
		if valid, n = c.slots(src.outerRep, within, src.def); n != slots || slots-absentIn(valid, slots) != c.values.n {
			return nil, errDamaged
		}
	}
	if src.key && c.values.n < slots {
		return nil, errors.New("a map has a key that is null")
	}
	return c.values.array(slots, valid), nil
}

// absentIn is how many slots have no value.
func absentIn(valid []byte, slots int) int {
	if valid == nil {
		return 0
	}
	return slots - bitutil.CountSetBits(valid, 0, slots)
}

// below makes the array of a child, nulls where the file has none of it.
func (src *source) below(child int, t *schema.Type, slots, within int) (arrow.ArrayData, error) {
	if src.children[child] == nil {
		return nullArray(t, slots), nil
	}
	return src.children[child].assemble(slots, within)
}

func nullArray(t *schema.Type, slots int) arrow.ArrayData {
	b := array.NewBuilder(memory.DefaultAllocator, t.ArrowType())
	b.AppendNulls(slots)
	return b.NewArray().Data()
}

func (src *source) assembleStruct(slots, within int, valid []byte) (arrow.ArrayData, error) {
	fields := make([]arrow.ArrayData, len(src.typ.Fields))
	for i, f := range src.typ.Fields {
		var err error
		if fields[i], err = src.below(i, f.Type, slots, within); err != nil {
			return nil, err
		}
	}
	t := arrow.StructOf(typed(src.typ, fields)...)
	return array.NewData(t, slots, buffers(valid), fields, absentIn(valid, slots), 0), nil
}

// typed are a struct's fields with the types that their arrays have: texts may be in a dictionary.
func typed(t *schema.Type, arrays []arrow.ArrayData) []arrow.Field {
	fields := make([]arrow.Field, len(arrays))
	for i, f := range t.Fields {
		fields[i] = arrow.Field{Name: f.Name, Type: arrays[i].DataType(), Nullable: f.Nullable}
	}
	return fields
}

// assembleVariant makes an array of variants that can be decoded.
func (src *source) assembleVariant(slots, within int, valid []byte) (arrow.ArrayData, error) {
	if src.shredded != nil {
		return src.assembleShredded(slots, within, valid)
	}
	var parts [2]arrow.ArrayData
	for i := range parts {
		var err error
		if parts[i], err = src.children[i].assemble(slots, within); err != nil {
			return nil, err
		}
	}
	metadata, value := array.NewBinaryData(parts[0].(*array.Data)), array.NewBinaryData(parts[1].(*array.Data))
	for i := range slots {
		switch {
		case valid != nil && !bitutil.BitIsSet(valid, i):
			continue
		case metadata.IsNull(i) || value.IsNull(i):
			return nil, errors.New("a variant has no metadata, or no value")
		}
		if _, err := variant.Decode(metadata.Value(i), value.Value(i)); err != nil {
			return nil, err
		}
	}
	return array.NewData(src.typ.ArrowType(), slots, buffers(valid), parts[:], absentIn(valid, slots), 0), nil
}

// assembleItems makes an array of lists or maps.
func (src *source) assembleItems(slots, within int, valid []byte) (arrow.ArrayData, error) {
	starts := src.starts(slots, within)
	n := int(starts[slots])
	all := buffers(valid, arrow.Int32Traits.CastToBytes(starts))
	if src.typ.Kind == schema.Array {
		items, err := src.below(0, src.typ.Elem, n, src.itemDef)
		if err != nil {
			return nil, err
		}
		t := arrow.ListOfField(arrow.Field{Name: "element", Type: items.DataType(), Nullable: src.typ.ContainsNull})
		return array.NewData(t, slots, all, []arrow.ArrayData{items}, absentIn(valid, slots), 0), nil
	}
	keys, err := src.below(0, src.typ.Key, n, src.itemDef)
	if err != nil {
		return nil, err
	}
	values, err := src.below(1, src.typ.Elem, n, src.itemDef)
	if err != nil {
		return nil, err
	}
	t := arrow.MapOf(keys.DataType(), values.DataType())
	t.SetItemNullable(src.typ.ContainsNull)
	entries := array.NewData(t.Elem(), n, buffers(nil), []arrow.ArrayData{keys, values}, 0, 0)
	return array.NewData(t, slots, all, []arrow.ArrayData{entries}, absentIn(valid, slots), 0), nil
}

// starts is where the items of each list start, and behind it where those of the last end.
func (src *source) starts(slots, within int) []int32 {
	c := src.presence
	starts := make([]int32, 0, slots+1)
	items := int32(0)
	for i, rep := range c.rep {
		def := int(c.def[i])
		if int(rep) <= src.outerRep && def >= within {
			starts = append(starts, items)
		}
		if int(rep) <= src.rep && def >= src.itemDef {
			items++
		}
	}
	return append(starts, items)
}
