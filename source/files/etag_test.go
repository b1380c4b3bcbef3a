package files

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage"
)

// bucket is a landing folder whose files have etags: the MD5 of their content.
type bucket struct{ *inMemory }

func (b bucket) tagged(info storage.Info) storage.Info {
	sum := md5.Sum(b.objects[info.Key].body)
	info.ETag = hex.EncodeToString(sum[:])
	return info
}

func (b bucket) Stat(ctx context.Context, key string) (storage.Info, error) {
	info, err := b.inMemory.Stat(ctx, key)
	return b.tagged(info), err
}

func (b bucket) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	return b.inMemory.List(ctx, prefix, startAfter, func(i storage.Info) error { return fn(b.tagged(i)) })
}

// etagOne is the etag of "one\n".
const etagOne = "5bbf5a52328e7439ae6e719dfe712200"

func TestPlanNamesTheEtag(t *testing.T) {
	in := bucket{newMemory()}
	in.write(t, "a", "one\n", at(1))
	s := open(t, in, nil)
	restore(t, s, nil)
	got := next(t, s, source.Limits{}).Ranges
	want := []offsetlog.Range{{Partition: "landing/a", ID: fmt.Sprintf("%d/%s", at(1).UnixNano(), etagOne), To: 4}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"landing/a:1:one"}, records(t, s, got)); diff != "" {
		t.Error(diff)
	}
}

func TestFileWithAnEtagIsAnotherWhenItsEtagIs(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		when    time.Time
		another bool
	}{
		"the same content again":               {"one\n", at(9), false},
		"other content of the same size":       {"two\n", at(9), true},
		"other content within the same second": {"two\n", at(1), true},
	} {
		t.Run(name, func(t *testing.T) {
			in := bucket{newMemory()}
			in.write(t, "a", "one\n", at(1))
			s := open(t, in, nil)
			restore(t, s, nil)
			ranges := next(t, s, source.Limits{}).Ranges
			in.write(t, "a", c.content, c.when)
			_, readErr := s.Read(t.Context(), ranges, func(*source.Block) error { return nil })
			s.Advance(0, ranges)
			_, nextErr := s.Next(t.Context(), source.Limits{})
			if (readErr != nil) != c.another || (nextErr != nil) != c.another {
				t.Errorf("Read: %v; Next: %v", readErr, nextErr)
			}
			if c.another {
				mustContain(t, readErr, "etag "+etagOne)
				mustContain(t, nextErr, "4 bytes and another etag", "has been overwritten")
			}
		})
	}
}
