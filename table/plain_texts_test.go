package table

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestTextsComeBackBehindLevelsOfAnyLength has more levels on a page than there is room for before its texts.
func TestTextsComeBackBehindLevelsOfAnyLength(t *testing.T) {
	s := parseSchema(t, "a:array<string>")
	for _, items := range []int{2, 60} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
		list := b.Field(0).(*array.ListBuilder)
		texts := list.ValueBuilder().(*array.StringBuilder)
		for row := range 1500 {
			list.Append(true)
			for i := range items {
				if i%2 == 0 {
					texts.Append(fmt.Sprint(row, "-", i))
				} else {
					texts.AppendNull()
				}
			}
		}
		rec := b.NewRecord()
		for _, encoding := range []string{"compatible", "compact"} {
			got, err := readBytes(t, writtenFile(t, s, map[string]string{encodingProperty: encoding}, rec), s)
			if err != nil || !slices.Equal(got, rowTexts(rec)) {
				t.Errorf("%s, %d items a row: rows differ: %v", encoding, items, err)
			}
		}
	}
}
