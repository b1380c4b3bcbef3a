package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are the files that a run's profiles are written to, in pprof's form; "" for none.
type profiles struct{ cpu, heap string }

// start begins the profile of the processor, and returns what ends it and writes that of the heap.
func (p profiles) start() (stop func() error, err error) {
	stopCPU, err := p.startCPU()
	if err != nil {
		return nil, fmt.Errorf("--pprof %s: %w", p.cpu, err)
	}
	return func() error {
		if err := errors.Join(stopCPU(), p.writeHeap()); err != nil {
			return fmt.Errorf("write the run's profiles: %w", err)
		}
		return nil
	}, nil
}

func (p profiles) startCPU() (stop func() error, err error) {
	if p.cpu == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(p.cpu)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// writeHeap collects first, since the profile is as of the last collection.
func (p profiles) writeHeap() error {
	if p.heap == "" {
		return nil
	}
	f, err := os.Create(p.heap)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}
