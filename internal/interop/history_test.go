package interop

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sluicedata/sluice/schema"
)

// TestForeignReadersReadAWholeHistory puts one table, of every type and with odd partition values, through all that is done to a
// table, with a log checkpoint behind each step, and has every version of it read: with these log checkpoints, by the commits alone,
// and as a vacuum and a cleanup left the table. Polars overlooks deletion vectors of files whose path has an escape, and is asked for no version
// with such; ClickHouse has no null lists, maps and structs, and is asked for the other columns.
func TestForeignReadersReadAWholeHistory(t *testing.T) {
	Readers(t)
	h := newHistory(t)
	h.append()
	h.append()
	h.set("delta.checkpoint.writeStatsAsStruct", "true")
	h.append()
	h.set("delta.checkpoint.writeStatsAsJson", "false")
	h.compact()
	h.evolve("ADD COLUMNS", func(s *schema.Type) {
		s.Fields = append(s.Fields, schema.Field{Name: "later", Type: schema.Of(schema.String), Nullable: true})
	})
	h.append()
	h.compact("id", "d")
	inZOrder := h.last
	h.restore(2)
	h.vacuum(time.Now())
	h.set("delta.enableDeletionVectors", "true")
	h.append()
	withoutVectors := h.last
	h.delete(3)
	h.compact()
	h.append()
	h.delete(5)
	withVectors := h.last

	shortened := h.copied("shortened")
	shortened.compact()
	shortened.vacuum(time.Now().AddDate(0, 0, 8))
	shortened.append()
	shortened.cleanup(time.Now().AddDate(0, 0, 40))

	h.setV2()
	h.append()
	v2 := h.last
	h.set("delta.enableTypeWidening", "true")
	h.evolve("CHANGE COLUMN", widen)
	h.append()
	h.compact()
	commits := h.withoutCheckpoints()

	ofV2, ofWidened := map[string]string{"polars": "v2Checkpoint"}, map[string]string{"deltalake": "TypeWidening"}
	tables := []Table{
		h.versions(0, v2, nil), h.versions(v2+1, h.last, ofWidened),
		commits.versions(v2, v2, nil), commits.versions(h.last, h.last, ofWidened),
		shortened.versions(0, shortened.last, nil),
	}
	Check(t, tables...)
	ofSpark := []Table{h.only(inZOrder, withoutVectors, withVectors, v2, h.last), commits.only(h.last), shortened.only(shortened.last)}
	if sparkHasTime() {
		ofSpark = tables
	}
	CheckBy(t, "spark", ofSpark...)
	CheckBy(t, "polars", h.versions(0, withoutVectors, nil), h.versions(withVectors+1, v2, ofV2))
	CheckBy(t, "chdb", Table{Path: h.path, Columns: h.flat, Versions: h.ofFlat}, Table{Path: shortened.path, Columns: h.flat, Versions: shortened.ofFlat})
}

// widen changes types of columns as an engine does that knows the table feature typeWidening.
func widen(s *schema.Type) {
	type change struct {
		from, to string
		kind     schema.Kind
	}
	changes := map[schema.Kind]change{
		schema.Short: {"short", "integer", schema.Integer}, schema.Integer: {"integer", "long", schema.Long}, schema.Float: {"float", "double", schema.Double},
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		to, widens := changes[f.Type.Kind]
		if !widens {
			continue
		}
		f.Type = schema.Of(to.kind)
		f.Metadata = map[string]json.RawMessage{"delta.typeChanges": json.RawMessage(`[{"fromType":"` + to.from + `","toType":"` + to.to + `"}]`)}
	}
}
