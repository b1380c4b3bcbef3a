package main

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"
)

func TestPauseBeginsOnceAndBecomesLongOnce(t *testing.T) {
	var p pause
	begun := time.Now()
	for range 2 { // the second after a batch
		for i, want := range []struct{ begins, becomesLong bool }{{true, false}, {false, false}, {false, true}, {false, false}} {
			begins, becomesLong := p.goesOn(begun.Add(time.Duration(i) * longPause / 2))
			if begins != want.begins || becomesLong != want.becomesLong {
				t.Errorf("look %d: begins %t, becomes long %t", i, begins, becomesLong)
			}
		}
		p = pause{}
	}
}

func TestWhatAPoolKeepsIsGivenBack(t *testing.T) {
	var pool sync.Pool
	spare := new([1 << 20]byte)
	kept := weak.Make(spare)
	pool.Put(spare)
	giveBack()
	if kept.Value() != nil {
		t.Error("the pool still has its megabyte")
	}
	runtime.KeepAlive(&pool)
}
