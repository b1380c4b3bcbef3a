package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// upload is a multipart upload of this process. Its parts go side by side, each tried again alone.
type upload struct {
	store *Store
	key   string
	id    string
	sent  int32 // number of the last part

	sending sync.WaitGroup
	mu      sync.Mutex
	parts   []types.CompletedPart
	err     error // of the first part that failed
}

func (s *Store) createUpload(ctx context.Context, key, attempt string) (*upload, error) {
	in := &s3.CreateMultipartUploadInput{
		Bucket: &s.bucket, Key: s.name(key), Metadata: map[string]string{attemptKey: attempt}, RequestPayer: s.payer(),
		ChecksumAlgorithm: types.ChecksumAlgorithmCrc32c, ChecksumType: types.ChecksumTypeFullObject,
		ServerSideEncryption: types.ServerSideEncryption(s.client.options.SSE),
	}
	if id := s.client.options.KMSKeyID; id != "" {
		in.SSEKMSKeyId = &id
	}
	var out *s3.CreateMultipartUploadOutput
	err := s.client.retrier.Do(ctx, func() error {
		api, err := s.client.connect(ctx)
		if err != nil {
			return err
		}
		out, err = api.CreateMultipartUpload(ctx, in)
		return err
	})
	if err != nil {
		return nil, &partError{explain(err)}
	}
	u := &upload{store: s, key: key, id: aws.ToString(out.UploadId)}
	s.client.begin(u.id)
	return u, nil
}

// send puts a part on its way once there is room for it, and takes the buffer over. The error may be that of a part
// before.
func (u *upload) send(ctx context.Context, body []byte) error {
	if u.sent == mostParts {
		return fmt.Errorf("the object is larger than %d parts of %d bytes", mostParts, u.store.client.options.PartBytes)
	}
	if err := u.failed(); err != nil {
		return err
	}
	if err := u.store.client.acquire(ctx); err != nil {
		return err
	}
	u.sent++
	number := u.sent
	memory := u.store.client.options.Memory
	memory.Add(int64(cap(body)))
	u.sending.Go(func() {
		defer u.store.client.release()
		defer memory.Add(-int64(cap(body)))
		part, err := u.put(ctx, number, body)
		u.mu.Lock()
		defer u.mu.Unlock()
		if err != nil && u.err == nil {
			u.err = &partError{fmt.Errorf("part %d: %w", number, err)}
		}
		u.parts = append(u.parts, part)
	})
	return nil
}

func (u *upload) put(ctx context.Context, number int32, body []byte) (part types.CompletedPart, err error) {
	sum := crc32cOf(body)
	err = u.store.client.retrier.Do(ctx, func() error {
		api, err := u.store.client.connect(ctx)
		if err != nil {
			return err
		}
		out, err := api.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &u.store.bucket, Key: u.store.name(u.key), UploadId: &u.id, PartNumber: &number, Body: bytes.NewReader(body),
			ContentLength: aws.Int64(int64(len(body))), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32c, ChecksumCRC32C: sum,
			RequestPayer: u.store.payer(),
		})
		if err != nil {
			return err
		}
		part = types.CompletedPart{PartNumber: &number, ETag: out.ETag, ChecksumCRC32C: sum}
		return nil
	})
	return part, explain(err)
}

func (u *upload) failed() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// wait returns the parts in order when all of them are there.
func (u *upload) wait() ([]types.CompletedPart, error) {
	u.sending.Wait()
	if err := u.failed(); err != nil {
		return nil, err
	}
	slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return cmp.Compare(*a.PartNumber, *b.PartNumber) })
	return u.parts, nil
}

func (u *upload) complete(ctx context.Context, parts []types.CompletedPart, sum *string, size int64) error {
	api, err := u.store.client.connect(ctx)
	if err != nil {
		return err
	}
	_, err = api.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &u.store.bucket, Key: u.store.name(u.key), UploadId: &u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		IfNoneMatch: aws.String("*"), ChecksumCRC32C: sum, ChecksumType: types.ChecksumTypeFullObject, MpuObjectSize: &size,
		RequestPayer: u.store.payer(),
	})
	return err
}

// abort ends the upload after the parts that are on their way, which would keep it alive.
func (u *upload) abort(ctx context.Context) error {
	u.sending.Wait()
	api, err := u.store.client.connect(ctx)
	if err != nil {
		return err
	}
	if err := u.store.abortUpload(ctx, api, u.store.name(u.key), &u.id); err != nil {
		return err
	}
	u.store.client.end(u.id)
	return nil
}

func (s *Store) abortUpload(ctx context.Context, api *s3.Client, name, id *string) error {
	_, err := api.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: name, UploadId: id, RequestPayer: s.payer()})
	var gone *types.NoSuchUpload
	if errors.As(err, &gone) || codeOf(err) == "NoSuchUpload" {
		return nil
	}
	return err
}
