package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/uuid"

	"github.com/sluicedata/sluice/storage"
)

// attemptKey is the metadata that tells which attempt has published an object.
const attemptKey = "sluice-attempt"

// Stage begins an object in memory. Parts that it grows into are sent while ctx lives.
func (s *Store) Stage(ctx context.Context, key string) (storage.Staged, error) {
	if _, err := s.begin(ctx, "stage", key); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	return &staged{ctx: ctx, cancel: cancel, store: s, key: key, attempt: uuid.NewString(), sum: newCRC32C()}, nil
}

type staged struct {
	ctx     context.Context // of parts
	cancel  context.CancelFunc
	store   *Store
	key     string
	attempt string

	buffer     []byte // what no part holds yet
	held       int    // bytes of the buffer's memory, as counted
	sum        hash.Hash
	size       int64
	upload     *upload // nil while the buffer holds all
	publishing bool    // the object may be there
	published  bool
}

func (w *staged) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		if len(w.buffer) == w.store.client.options.PartBytes {
			if err := w.flush(); err != nil {
				return written, w.store.fail(w.ctx, "write", w.key, err)
			}
		}
		if w.buffer == nil && w.upload != nil {
			w.buffer = make([]byte, 0, w.store.client.options.PartBytes)
		}
		n := min(len(p)-written, w.store.client.options.PartBytes-len(w.buffer))
		w.buffer = append(w.buffer, p[written:written+n]...)
		w.sum.Write(p[written : written+n])
		written += n
		w.size += int64(n)
		w.count()
	}
	return written, nil
}

// count tells the account what the buffer takes.
func (w *staged) count() {
	w.store.client.options.Memory.Add(int64(cap(w.buffer) - w.held))
	w.held = cap(w.buffer)
}

// flush sends the buffer away as the next part.
func (w *staged) flush() error {
	if w.upload == nil {
		u, err := w.store.createUpload(w.ctx, w.key, w.attempt)
		if err != nil {
			return err
		}
		w.upload = u
	}
	if err := w.upload.send(w.ctx, w.buffer); err != nil {
		return err
	}
	w.buffer = nil // the upload has it
	w.count()
	return nil
}

// Publish may be called again after an error.
func (w *staged) Publish(ctx context.Context) error {
	if w.published {
		return nil
	}
	if _, err := w.store.begin(ctx, "publish", w.key); err != nil {
		return err
	}
	err := w.publish(ctx)
	if status := statusOf(err); w.publishing && (status == http.StatusPreconditionFailed || codeOf(err) == "NoSuchUpload") {
		err = w.recognise(ctx, err)
	}
	if err != nil {
		return w.store.fail(ctx, "publish", w.key, err)
	}
	w.published, w.buffer = true, nil
	w.count()
	if w.upload != nil {
		w.store.client.end(w.upload.id)
	}
	return nil
}

func (w *staged) publish(ctx context.Context) error {
	if w.upload == nil {
		w.publishing = true
		return w.store.putAttempt(ctx, w.key, w.buffer, w.attempt)
	}
	if len(w.buffer) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	parts, err := w.upload.wait()
	if err != nil {
		return err
	}
	w.publishing = true
	return w.upload.complete(ctx, parts, encodedSum(w.sum), w.size)
}

// recognise tells an object of our own, put by an earlier try whose answer was lost, from another's.
func (w *staged) recognise(ctx context.Context, cause error) error {
	head, err := w.store.head(ctx, "publish", w.key)
	switch {
	case errors.Is(err, storage.ErrNotExist):
		return cause
	case err != nil:
		return err
	case head.Metadata[attemptKey] != w.attempt:
		w.publishing = false
		return fmt.Errorf("%w: another attempt has stored it under this key: %w", storage.ErrExist, explain(cause))
	default:
		return nil
	}
}

// Settle does nothing: no sweep removes what is published.
func (w *staged) Settle(context.Context) error {
	w.cancel()
	return nil
}

// Abort ends the upload, and deletes what was or may have been published. A put that is still on its way somewhere can
// appear after it; no commit refers to it.
func (w *staged) Abort(ctx context.Context) error {
	w.cancel()
	w.buffer = nil
	w.count()
	if w.upload != nil {
		if err := w.upload.abort(ctx); err != nil {
			return w.store.fail(ctx, "abort", w.key, err)
		}
	}
	if !w.publishing {
		return nil
	}
	return w.store.remove(ctx, "abort", w.key)
}

// put is a conditional put.
func (s *Store) put(key string, body []byte) *s3.PutObjectInput {
	in := &s3.PutObjectInput{
		Bucket: &s.bucket, Key: s.name(key), Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))), IfNoneMatch: aws.String("*"),
		ChecksumAlgorithm: types.ChecksumAlgorithmCrc32c, ChecksumCRC32C: crc32cOf(body), RequestPayer: s.payer(),
		ServerSideEncryption: types.ServerSideEncryption(s.client.options.SSE),
	}
	if id := s.client.options.KMSKeyID; id != "" {
		in.SSEKMSKeyId = &id
	}
	return in
}

func (s *Store) putAttempt(ctx context.Context, key string, body []byte, attempt string) error {
	api, err := s.client.connect(ctx)
	if err != nil {
		return err
	}
	in := s.put(key, body)
	in.Metadata = map[string]string{attemptKey: attempt}
	_, err = api.PutObject(ctx, in)
	return err
}
