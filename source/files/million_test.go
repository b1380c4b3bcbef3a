package files

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// listing is a landing folder of which only the listing exists.
type listing struct {
	storage.Store // nil
	infos         []storage.Info
}

func (l *listing) List(_ context.Context, prefix, _ string, fn func(storage.Info) error) error {
	for _, info := range l.infos {
		if strings.HasPrefix(info.Key, prefix) {
			if err := fn(info); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *listing) Stat(_ context.Context, key string) (storage.Info, error) {
	for _, info := range l.infos {
		if info.Key == key {
			return info, nil
		}
	}
	return storage.Info{}, storage.ErrNotExist
}

func landed(n int) storage.Info {
	return storage.Info{Key: fmt.Sprintf("2026/05/events-%09d.ndjson.gz", n), Size: int64(1000 + n), Modified: noon.Add(time.Duration(n))}
}

func TestAMillionSeenFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("a million files take a few seconds")
	}
	const files, perBatch, fresh = 1_000_000, 1000, 10
	books := newMemory()
	in := &listing{}
	config := func(c *Config) { c.Bookkeeping = books }
	writer := open(t, in, config)
	restore(t, writer, nil)
	for n := 0; n < files; n += perBatch {
		ranges := make([]offsetlog.Range, perBatch)
		for i := range ranges {
			info := landed(n + i)
			in.infos = append(in.infos, info)
			ranges[i] = versionOf(info).asRange("landing/" + info.Key)
		}
		batch := int64(n / perBatch)
		writer.Advance(batch, ranges)
		if err := writer.Keep(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if perFile := books.putBytes / files; perFile > 15*entryBytes {
		t.Errorf("%d bytes a file were written to the seen log", perFile)
	}
	if n := len(books.keys()); n > 20 {
		t.Errorf("the seen log has %d segments", n)
	}
	t.Logf("seen log: %d segments, %d bytes a file written in all", len(books.keys()), books.putBytes/files)
	runtime.KeepAlive(writer)

	before := heap()
	began := time.Now()
	s := open(t, in, config)
	restore(t, s, []plan{{batch: files/perBatch - 1}})
	restored := time.Since(began)
	perFile := float64(heap()-before) / files
	t.Logf("restored in %v, %.1f bytes a file", restored, perFile)
	if perFile > 55 {
		t.Errorf("%.1f bytes of memory a file", perFile)
	}

	for n := files; n < files+fresh; n++ {
		in.infos = append(in.infos, landed(n))
	}
	var stats0, stats1 runtime.MemStats
	runtime.ReadMemStats(&stats0)
	began = time.Now()
	planned := next(t, s, source.Limits{})
	listed := time.Since(began)
	runtime.ReadMemStats(&stats1)
	allocated, mallocs := stats1.TotalAlloc-stats0.TotalAlloc, stats1.Mallocs-stats0.Mallocs
	t.Logf("next in %v, %d bytes in %d allocations", listed, allocated, mallocs)
	if len(planned.Ranges) != fresh || planned.Ranges[0].Partition != "landing/"+landed(files).Key {
		t.Errorf("planned %q", partitions(planned))
	}
	if allocated > 1<<20 || mallocs > 10_000 {
		t.Errorf("looking past %d seen files allocates %d bytes in %d pieces", files, allocated, mallocs)
	}
}

// heap is the number of live bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestBacklogOfAnySizeIsReadInOrderFromFewListings(t *testing.T) {
	const files, perBatch = maxQueue + maxQueue/5 + 7, 30_000
	in := newMemory()
	for n := range files {
		in.objects[fmt.Sprintf("f%07d", files-n)] = memoryObject{body: []byte("x\n"), modified: at(n)}
	}
	lists := 0
	s := open(t, counted(in, map[string]*int{"list": &lists}), nil)
	restore(t, s, nil)
	read, batch := 0, int64(0)
	for {
		planned := next(t, s, source.Limits{MaxFiles: perBatch})
		if len(planned.Ranges) == 0 {
			break
		}
		for _, r := range planned.Ranges {
			if want := fmt.Sprintf("landing/f%07d", files-read); r.Partition != want {
				t.Fatalf("file %d is %s, want %s", read, r.Partition, want)
			}
			read++
		}
		if planned.More != (read < files) {
			t.Fatalf("more %v after %d files", planned.More, read)
		}
		s.Advance(batch, planned.Ranges)
		batch++
	}
	if read != files || lists > 4 {
		t.Errorf("%d of %d files in %d listings", read, files, lists)
	}
}
