package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/sluicedata/sluice/storage"
)

const (
	firstSpan   = 256 << 10 // bytes that are asked for, at the least
	longestSpan = 8 << 20   // that are asked for where others ended
	leastPart   = 2 << 20   // of a request among those that ask for a span side by side
	partsOfSpan = 4         // at the most
	spanMemory  = 16 << 20  // held by one open object
)

// Open pins an object as it is now. Its reads end with ctx.
func (s *Store) Open(ctx context.Context, key string) (storage.Object, error) {
	head, err := s.head(ctx, "open", key)
	if err != nil {
		return nil, err
	}
	o := &object{ctx: ctx, store: s, key: key, size: aws.ToInt64(head.ContentLength), etag: head.ETag}
	o.wantSum, o.sum = wholeSum(head)
	return o, nil
}

// object reads ranges of more bytes than it is asked for and keeps the newest, so that many small reads, one behind the
// other or in several places at once, are few requests. Long ranges are requests side by side, which do not wait for each
// other. What is read from the beginning to the end without a gap is
// checked against the object's checksum with its last byte.
type object struct {
	ctx   context.Context // reads have none of their own
	store *Store
	key   string
	size  int64
	etag  *string

	mu      sync.Mutex
	spans   []span // newest last
	held    int
	wantSum string
	sum     hash.Hash // nil when there is none to check
	summed  int64     // bytes from the beginning that are in sum
}

type span struct {
	off  int64
	body []byte
}

func (s span) end() int64 { return s.off + int64(len(s.body)) }

func (o *object) Size() int64  { return o.size }
func (o *object) Close() error { return nil }

// ReadAt is safe for concurrent use; calls wait for each other.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, o.store.fail(o.ctx, "read", o.key, fmt.Errorf("negative offset %d", off))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for n < len(p) && off < o.size {
		at, err := o.spanAt(off, len(p)-n)
		if err != nil {
			return n, err
		}
		copied := copy(p[n:], at.body[off-at.off:])
		n, off = n+copied, off+int64(copied)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// spanAt returns a span that holds the byte at off, if need be one that is asked for, of at least want bytes.
func (o *object) spanAt(off int64, want int) (span, error) {
	length := firstSpan
	for _, s := range o.spans {
		if s.off <= off && off < s.end() {
			return s, nil
		}
		if s.end() == off {
			length = min(2*len(s.body), longestSpan)
		}
	}
	length = int(min(int64(max(length, want)), o.size-off))
	body, err := o.fetch(off, length)
	if err == nil {
		err = o.check(off, body)
	}
	if err != nil {
		return span{}, o.store.fail(o.ctx, "read", o.key, err)
	}
	o.keep(span{off, body})
	return span{off, body}, nil
}

func (o *object) keep(s span) {
	o.spans = append(o.spans, s)
	o.held += len(s.body)
	for o.held > spanMemory && len(o.spans) > 1 {
		o.held -= len(o.spans[0].body)
		o.spans = o.spans[1:]
	}
}

// fetch asks for a range, in parts side by side.
func (o *object) fetch(off int64, length int) ([]byte, error) {
	part := max(leastPart, (length+partsOfSpan-1)/partsOfSpan)
	if length <= part {
		return o.fetchPart(off, length)
	}
	n := (length + part - 1) / part
	bodies, errs := make([][]byte, n), make([]error, n)
	var parts sync.WaitGroup
	for i := range n {
		begin := i * part
		parts.Go(func() { bodies[i], errs[i] = o.fetchPart(off+int64(begin), min(part, length-begin)) })
	}
	parts.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return slices.Concat(bodies...), nil
}

func (o *object) fetchPart(off int64, length int) ([]byte, error) {
	api, err := o.store.begin(o.ctx, "read", o.key)
	if err != nil {
		return nil, err
	}
	out, err := api.GetObject(o.ctx, &s3.GetObjectInput{
		Bucket: &o.store.bucket, Key: o.store.name(o.key), IfMatch: o.etag, RequestPayer: o.store.payer(),
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", off, off+int64(length)-1)),
	})
	if statusOf(err) == http.StatusPreconditionFailed {
		return nil, errors.New("the object was replaced while it was read")
	}
	if err != nil {
		return nil, err
	}
	body, err := readBody(out, nil)
	if err == nil && len(body) != length {
		err = &damagedError{fmt.Errorf("%d bytes where %d were asked for: %w", len(body), length, io.ErrUnexpectedEOF)}
	}
	return body, err
}

// check adds what follows on what was summed, and compares at the end. What is summed is dropped after a mismatch, so
// that another try reads all from the beginning or is not checked at all.
func (o *object) check(off int64, body []byte) error {
	if o.sum == nil || off != o.summed {
		return nil
	}
	o.sum.Write(body)
	o.summed += int64(len(body))
	if o.summed < o.size {
		return nil
	}
	got := *encodedSum(o.sum)
	o.sum.Reset()
	o.summed = 0
	if got != o.wantSum {
		o.spans, o.held = nil, 0
		return fmt.Errorf("its checksum is %s, and that of the bytes read from beginning to end %s: they were damaged on the way or in the store; read it again", o.wantSum, got)
	}
	return nil
}
