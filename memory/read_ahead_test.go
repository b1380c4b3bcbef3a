package memory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestHeadMayHoldOneResponseWhateverTheOthersHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100).Open("fetch", 100).ReadAhead()
		ctx, cancel := context.WithCancel(t.Context())
		if err := b.Reserve(ctx, 1, 100); err != nil {
			t.Fatal(err)
		}
		if err := b.Reserve(ctx, 0, 50); err != nil { // the head
			t.Fatal(err)
		}
		results := make(chan error, 2)
		go func() { results <- b.Reserve(ctx, 0, 1) }()
		go func() { results <- b.Reserve(ctx, 2, 1) }()
		synctest.Wait()
		if len(results) != 0 {
			t.Fatal("a reservation beyond the budget was granted")
		}
		b.Settle(0, -50) // the head's response was emitted
		synctest.Wait()
		if len(results) != 1 {
			t.Fatalf("%d reservations were granted, want that of the head alone", len(results))
		}
		cancel()
		synctest.Wait()
		if first, second := <-results, <-results; first != nil || !errors.Is(second, context.Canceled) {
			t.Errorf("results %v, %v", first, second)
		}
	})
}

func TestMovingTheHeadLetsTheNextJobGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(10).Open("fetch", 10).ReadAhead()
		if err := b.Reserve(t.Context(), 2, 10); err != nil {
			t.Fatal(err)
		}
		granted := make(chan error, 1)
		go func() { granted <- b.Reserve(t.Context(), 1, 500) }()
		synctest.Wait()
		if len(granted) != 0 {
			t.Fatal("granted before it was the head")
		}
		b.MoveHead(1)
		if err := <-granted; err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhatIsSettledBehindTheEndOfAReadAheadDoesNotCount(t *testing.T) {
	a := New(10).Open("fetch", 10)
	r := a.ReadAhead()
	if err := r.Reserve(t.Context(), 0, 7); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.Settle(0, -7) // whoever it was emitted to held it until now
	if room := a.Room(); room != 10 {
		t.Errorf("room for %d bytes, want 10", room)
	}
}

func TestHeadGoesOnWhenItHoldsOnlyWhatItCannotGiveBackYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(10).Open("fetch", 10).ReadAhead()
		if err := r.Reserve(t.Context(), 0, 10); err != nil { // 6 of these are emitted, 4 are half a record
			t.Fatal(err)
		}
		granted := make(chan error, 2)
		go func() { granted <- r.Extend(t.Context(), 0, 4, 20) }()
		go func() { granted <- r.Extend(t.Context(), 1, 0, 7) }()
		synctest.Wait()
		if len(granted) != 0 {
			t.Fatal("granted while something was yet to be given back")
		}
		r.Settle(0, -6)
		synctest.Wait()
		if len(granted) != 1 {
			t.Fatalf("%d were granted, want that of the head alone", len(granted))
		}
		r.Settle(0, -24)
		if first, second := <-granted, <-granted; first != nil || second != nil {
			t.Error(first, second)
		}
	})
}
