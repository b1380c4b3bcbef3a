package main

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

func TestMaintenanceRestsWhileOthersCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		store := local.New(t.TempDir())
		commit := committing(t, store)
		commit()
		log := commitlog.New(store)
		h, err := log.Load(ctx)
		if err != nil {
			t.Fatal(err)
		}
		r := (&app{}).rests(log, h.Version, time.Now())
		works := func(what string, worked, want time.Duration) {
			t.Helper()
			time.Sleep(worked)
			began := time.Now()
			r.rest(ctx)
			if rested := time.Since(began); rested != want {
				t.Errorf("%s: it worked for %v and rested for %v, want %v", what, worked, rested, want)
			}
		}
		works("nobody commits", time.Second, 0)
		commit()
		works("another commits", time.Second, restShare*time.Second)
		works("the other is still at it", time.Second, restShare*time.Second)
		works("the other has ended", othersFor, 0)
		r.committed(commit())
		works("it commits itself", time.Second, 0)
		commit()
		r.committed(commit())
		works("it commits behind another", time.Second, restShare*time.Second)
		works("short work", lookAgain/10, restShare*lookAgain/10)
		commit()
		works("it was stopped for an hour", time.Hour, longestRest)
		if got, want := r.seconds(), (longestRest + restShare*(3*time.Second+lookAgain/10)).Seconds(); got != want {
			t.Errorf("it has rested for %v s, want %v", got, want)
		}
		stop()
		works("it is stopped", time.Second, 0)
		if r = (&app{hurry: true}).rests(log, 0, time.Now()); r != nil {
			t.Error("work in a hurry rests")
		}
		works("it is in a hurry", time.Second, 0)
	})
}

// committing makes a table there, and then a commit of each call, of which it returns the version.
func committing(t *testing.T, store *local.Store) func() int64 {
	t.Helper()
	tbl := table.New(store, table.Options{})
	if err := tbl.Make(t.Context(), &table.Create{Schema: schema.StructOf(schema.Field{Name: "id", Type: schema.Of(schema.Long)})}); err != nil {
		t.Fatal(err)
	}
	calls := 0
	return func() int64 {
		calls++
		changed, err := tbl.ChangeProperties(t.Context(), table.Change{Set: map[string]string{"comment": fmt.Sprint(calls)}})
		if err != nil {
			t.Fatal(err)
		}
		return changed.Version
	}
}
