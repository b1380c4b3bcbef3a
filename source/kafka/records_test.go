package kafka

import (
	"strings"
	"testing"

	"github.com/sluicedata/sluice/source"
)

func TestRecordsAreFreeWhenNobodyHoldsAnyOfTheirBlocks(t *testing.T) {
	r := &records{}
	long := []byte(strings.Repeat("v", blockBytes/2+1))
	for i := range int64(3) {
		r.add(i, i, nil, long)
	}
	freed := 0
	var held []*source.Block
	err := r.emit(partition{"t", 0}, func() { freed++ }, func(b *source.Block) error {
		if len(held) < 2 {
			b.Retain()
			held = append(held, b)
		}
		return nil
	})
	if err != nil || len(held) != 2 || held[0].Positions[0] != 0 || held[1].Positions[0] != 1 {
		t.Fatalf("held %v, %v", held, err)
	}
	for i, b := range held {
		if freed != 0 {
			t.Errorf("freed %d times while %d blocks are held", freed, len(held)-i)
		}
		b.Release()
	}
	if freed != 1 {
		t.Errorf("freed %d times", freed)
	}
	if err := r.emit(partition{"t", 0}, func() { freed++ }, func(*source.Block) error { return errEnough }); err != errEnough || freed != 2 {
		t.Errorf("freed %d times after the error %v", freed-1, err)
	}
}
