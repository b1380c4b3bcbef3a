package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mappedJSON is a schema of one struct column with a field inside, whose metadata are given.
func mappedJSON(outer, inner string) string {
	return `{"type":"struct","fields":[{"name":"s","type":{"type":"struct","fields":[` +
		`{"name":"x","type":"long","nullable":true,"metadata":{` + inner + `}}]},"nullable":true,"metadata":{` + outer + `}}]}`
}

func mappedTo(id int, name string) string {
	return fmt.Sprintf(`"delta.columnMapping.id":%d,"delta.columnMapping.physicalName":%q`, id, name)
}

func TestMappedFieldsKnowTheirIDsAndPhysicalNames(t *testing.T) {
	parsed, err := ParseJSON(mappedJSON(mappedTo(1, "col-s"), mappedTo(2, "col-x")))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"name", "id"} {
		m, ok := ParseMapping(mode)
		mapped, err := parsed.Mapped(m)
		if err != nil || !ok {
			t.Fatal(err)
		}
		s := &mapped.Fields[0]
		got := []Stored{s.Stored, s.Type.Fields[0].Stored}
		if diff := cmp.Diff([]Stored{{"col-s", 1, mode == "id"}, {"col-x", 2, mode == "id"}}, got); diff != "" {
			t.Error(diff)
		}
		if s.StoredName() != "col-s" || parsed.Fields[0].StoredName() != "s" || mapped.JSON() != parsed.JSON() {
			t.Errorf("mode %s: names", mode)
		}
		if mapped.Equal(parsed) || !mapped.Logical().Equal(parsed) {
			t.Errorf("mode %s: the mapping is not what differs", mode)
		}
	}
	if unmapped, err := parsed.Mapped(Unmapped); err != nil || !unmapped.Equal(parsed) {
		t.Error("without mapping the metadata counts")
	}
}

func TestMappingRefusesWhatNamesNoColumn(t *testing.T) {
	for _, tc := range []struct{ outer, inner, want string }{
		{mappedTo(1, "a"), "", "column s.x: its metadata has no usable delta.columnMapping.id"},
		{mappedTo(1, "a"), mappedTo(1, "b"), "columns s and s.x have the same delta.columnMapping.id, 1"},
		{mappedTo(0, "a"), mappedTo(1, "b"), "column s: its metadata has no usable delta.columnMapping.id"},
		{mappedTo(1<<40, "a"), mappedTo(1, "b"), "column s: its metadata has no usable delta.columnMapping.id"},
		{mappedTo(1, ""), mappedTo(2, "b"), "column s: its metadata has no usable delta.columnMapping.physicalName"},
		{`"delta.columnMapping.id":"1"`, mappedTo(2, "b"), "column s: its metadata has no usable delta.columnMapping.id"},
	} {
		parsed, err := ParseJSON(mappedJSON(tc.outer, tc.inner))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parsed.Mapped(MappedByName); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}

func TestNewFieldsGetTheNextIDsAtEveryDepth(t *testing.T) {
	old := Field{Name: "old", Type: Of(Long)}
	withID, _, err := StructOf(old).AssignIDs(MappedByName, 6, func() string { return "col-old" })
	if err != nil {
		t.Fatal(err)
	}
	inner := StructOf(Field{Name: "x", Type: Of(Long)})
	n := 0
	got, last, err := StructOf(
		withID.Fields[0],
		Field{Name: "a", Type: ArrayOf(inner)},
		Field{Name: "m", Type: MapOf(inner, inner)},
	).AssignIDs(MappedByID, 0, func() string { n++; return fmt.Sprintf("col-%d", n) })
	if err != nil {
		t.Fatal(err)
	}
	if last != 12 {
		t.Errorf("last id %d", last)
	}
	again, err := ParseJSON(got.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if again, err = again.Mapped(MappedByID); err != nil || !again.Equal(got) {
		t.Errorf("the metadata says otherwise: %v", err)
	}
	if got.Fields[0].Stored != (Stored{"col-old", 7, true}) || got.Fields[1].Stored.ID != 8 || got.Fields[2].Type.Elem.Fields[0].Stored.ID != 12 {
		t.Errorf("got %+v", got.Fields)
	}
	if got.Fields[1].Type.Elem.Fields[0].Stored == got.Fields[2].Type.Key.Fields[0].Stored {
		t.Error("two fields share an id")
	}
}

func TestColumnMappingLetsNamesHaveAnyCharacter(t *testing.T) {
	s := StructOf(Field{Name: "a b", Type: Of(Long)}, Field{Name: "", Type: Of(Long)}, Field{Name: "A B", Type: Of(Long)})
	if faults := s.CheckNames(MappedByName); len(faults) != 2 {
		t.Errorf("got %v", faults)
	}
}
