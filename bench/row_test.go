package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRowWithoutItsReaderIsLeftOutWithTheReason(t *testing.T) {
	b := &bench{settings: settings{rounds: 1}, root: t.TempDir(), memory: t.TempDir()}
	installer := func(script string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(b.installer()), 0o777), os.WriteFile(b.installer(), []byte("#!/bin/sh\n"+script), 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	r := row{name: "r", contenders: []contender{{name: "Sluice", run: func(context.Context, string) (sample, error) {
		ran++
		return sample{CPU: 1}, nil
	}}}}.with("spark")
	installer("exit 4")
	got, err := b.measure(t.Context(), r)
	if want := "spark is not installed, which make readers does"; err != nil || got.LeftOut != want || ran != 0 {
		t.Errorf("%+v, %v, after %d runs", got, err, ran)
	}
	installer("exit 0")
	if got, err = b.measure(t.Context(), r); err != nil || got.LeftOut != "" || len(got.Contenders) != 1 || ran != 1 {
		t.Errorf("%+v, %v, after %d runs", got, err, ran)
	}
}

func TestSamplesOfOneRunAreContendersOfTheirOwn(t *testing.T) {
	b := &bench{settings: settings{rounds: 2}, memory: t.TempDir()}
	c := contender{name: "whole", also: []string{"part"}, run: func(context.Context, string) (sample, error) {
		return sample{CPU: 3, also: []sample{{CPU: 1}}}, nil
	}}
	got, err := b.measure(t.Context(), row{name: "r", contenders: []contender{c}})
	if err != nil || len(got.Contenders) != 2 || got.Contenders[1].Name != "part" || got.Contenders[1].Runs[1].CPU != 1 || got.Contenders[0].Runs[0].CPU != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	c.also = nil
	if _, err := b.measure(t.Context(), row{name: "r", contenders: []contender{c}}); err == nil {
		t.Error("a sample without a name is lost in silence")
	}
}
