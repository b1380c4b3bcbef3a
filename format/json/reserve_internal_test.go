package json

import (
	"math"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
)

func TestDecodeRefusesMoreThanOffsetsReach(t *testing.T) {
	d, err := New([]format.Column{{Name: "s", Type: schema.Of(schema.String)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &source.Block{
		Partition: "f", File: &source.File{},
		Values: [][]byte{[]byte("bad"), []byte(`{"s":"x"}`), []byte(`{"s":"y"}`)}, Positions: []int64{1, 2, 3},
	}
	d.pending = math.MaxInt32 - 12
	err = d.Decode(b, func(format.Bad) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "decode f at 3: more than 2 GiB") || d.Rows() != 1 {
		t.Errorf("%d rows, %v", d.Rows(), err)
	}
	d.Flush().Release()
	if err := d.Decode(b, func(format.Bad) error { return nil }); err != nil || d.Rows() != 2 {
		t.Errorf("behind a flush: %d rows, %v", d.Rows(), err)
	}
}
