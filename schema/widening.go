package schema

import (
	"encoding/json"
	"fmt"
)

// typeChanges is the key of a field's metadata that says which types the field has had (PROTOCOL.md, "Type Change Metadata").
const typeChanges = "delta.typeChanges"

// Widens says whether every value of a type is one of another type, by the rules that data files of before are read by
// (PROTOCOL.md, "Type Widening"). It does so for a type and itself. A decimal need only have room for the integer's digits, as
// the feature's preview had it; the protocol asks for 10 at least.
func (t *Type) Widens(to *Type) bool {
	digits := map[Kind]int{Byte: 3, Short: 5, Integer: 10, Long: 20}[t.Kind]
	switch t.Kind {
	case Byte, Short, Integer:
		return to.Kind >= t.Kind && to.Kind <= Long || to.Kind == Double || to.Kind == Decimal && to.Precision-to.Scale >= digits
	case Long:
		return to.Kind == Long || to.Kind == Decimal && to.Precision-to.Scale >= digits
	case Float:
		return to.Kind == Float || to.Kind == Double
	case Date:
		return to.Kind == Date || to.Kind == TimestampNTZ
	case Decimal:
		return to.Kind == Decimal && to.Scale >= t.Scale && to.Precision-to.Scale >= t.Precision-t.Scale
	default:
		return !t.Nested() && to.Kind == t.Kind
	}
}

// CheckTypeChanges returns an error for the first change of a type, anywhere in the struct, that no reader of the files of
// before knows how to follow.
func (t *Type) CheckTypeChanges() error {
	_, err := t.rebuild("", func(path string, f *Field) error {
		changes, err := f.typeChanges()
		for i := 0; i < len(changes) && err == nil; i++ {
			err = changes[i].check()
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", path, err)
		}
		return nil
	})
	return err
}

// WidenedFrom says whether the field itself, not what is inside it, was once of the kind.
func (f *Field) WidenedFrom(k Kind) bool {
	changes, _ := f.typeChanges() // what cannot be read has been refused by CheckTypeChanges
	for _, c := range changes {
		if c.Path == "" && c.From == primitives[k] {
			return true
		}
	}
	return false
}

type typeChange struct {
	From string `json:"fromType"`
	To   string `json:"toType"`
	Path string `json:"fieldPath"` // of what is inside the field: element, key, value
}

func (f *Field) typeChanges() ([]typeChange, error) {
	raw, has := f.Metadata[typeChanges]
	if !has {
		return nil, nil
	}
	var changes []typeChange
	if err := json.Unmarshal(raw, &changes); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", typeChanges, err)
	}
	return changes, nil
}

func (c typeChange) check() error {
	from, err := parsePrimitive(c.From, "")
	if err != nil {
		return err
	}
	to, err := parsePrimitive(c.To, "")
	if err != nil {
		return err
	}
	if !from.Widens(to) {
		return fmt.Errorf("its type has been changed from %s to %s, which is no widening", c.From, c.To)
	}
	return nil
}
