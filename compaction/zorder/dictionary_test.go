package zorder

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// textArray is one of texts.
func textArray(texts ...string) arrow.ArrayData {
	b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	b.AppendValues(texts, nil)
	return b.NewArray().Data()
}

func TestDictionaryNumbersTextsAsLongAsThereIsRoom(t *testing.T) {
	d := newDictionary(arrow.BinaryTypes.String)
	d.room = 3 * (2 + entryBytes)
	check := func(texts arrow.ArrayData, want ...int32) {
		t.Helper()
		if got := d.numbersOf(texts); !slices.Equal(got, want) {
			t.Errorf("numbers %d, want %d", got, want)
		}
	}
	first := textArray("a", "b", "a")
	check(first, 0, 1, 0)
	if n := d.data().Len(); n != 2 {
		t.Errorf("%d texts", n)
	}
	check(textArray("b", "c"), 1, 2)
	check(textArray("c", "d"))
	check(textArray("e"))
	check(textArray())
	check(first, 0, 1, 0)
	made := d.data()
	if all := array.NewStringData(made); all.Len() != 3 || all.Value(2) != "c" || d.data() != made {
		t.Errorf("%v", all)
	}
}
