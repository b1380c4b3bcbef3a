package s3

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/sluicedata/sluice/storage"
)

// Store is the objects of a bucket below a prefix. It makes each request once; see Client.Retrier.
type Store struct {
	client *Client
	bucket string
	prefix string // "" or ends in a slash
	url    string
}

var _ storage.Store = (*Store)(nil)

// URL returns s3://bucket/prefix.
func (s *Store) URL() string { return s.url }

// Close does nothing: there is nothing that a sweep would find out by it.
func (s *Store) Close() error { return nil }

// begin checks what every operation needs: a living context, a legal key, the SDK's client.
func (s *Store) begin(ctx context.Context, op, key string) (*s3.Client, error) {
	err := ctx.Err()
	if err == nil {
		err = storage.CheckKey(key)
	}
	if err != nil {
		return nil, s.fail(ctx, op, key, err)
	}
	api, err := s.client.connect(ctx)
	if err != nil {
		return nil, s.fail(ctx, op, key, err)
	}
	return api, nil
}

func (s *Store) name(key string) *string { return aws.String(s.prefix + key) }

func (s *Store) payer() types.RequestPayer {
	if s.client.options.RequestPayer {
		return types.RequestPayerRequester
	}
	return ""
}

// Elsewhere is for storage.Elsewhere: a store of any bucket that the client reaches.
func (s *Store) Elsewhere(root string) (storage.Store, error) {
	bucket, prefix, err := ParseURL(root)
	if err != nil {
		return nil, &storage.Error{Op: "open", Key: root, Err: err}
	}
	return s.client.Store(bucket, prefix)
}

// Get reads a whole object, and checks it against its checksum.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) { return s.GetInto(ctx, key, nil) }

// GetInto is storage.GetInto.
func (s *Store) GetInto(ctx context.Context, key string, buf []byte) ([]byte, error) {
	api, err := s.begin(ctx, "get", key)
	if err != nil {
		return nil, err
	}
	out, err := api.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.bucket, Key: s.name(key), ChecksumMode: types.ChecksumModeEnabled, RequestPayer: s.payer(),
	})
	if err != nil {
		return nil, s.fail(ctx, "get", key, err)
	}
	body, err := readBody(out, buf)
	if err != nil {
		return nil, s.fail(ctx, "get", key, err)
	}
	return body, nil
}

// readBody reads what a GetObject gives to its end, where the SDK compares checksums.
func readBody(out *s3.GetObjectOutput, buf []byte) ([]byte, error) {
	body := slices.Grow(buf[:0], int(aws.ToInt64(out.ContentLength))+1) // one more, so that the end is met without growing
	for {
		n, err := out.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			_ = out.Body.Close()
			return nil, &damagedError{err}
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
	if err := out.Body.Close(); err != nil {
		return nil, &damagedError{err}
	}
	if want := aws.ToInt64(out.ContentLength); int64(len(body)) != want {
		return nil, &damagedError{io.ErrUnexpectedEOF}
	}
	return body, nil
}

// Stat describes an object.
func (s *Store) Stat(ctx context.Context, key string) (storage.Info, error) {
	head, err := s.head(ctx, "stat", key)
	if err != nil {
		return storage.Info{}, err
	}
	return storage.Info{Key: key, Size: aws.ToInt64(head.ContentLength), Modified: aws.ToTime(head.LastModified), ETag: unquoted(head.ETag)}, nil
}

func unquoted(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }

// head asks for what is known of an object. The answer to a HEAD has no body, so that a missing bucket looks like a
// missing object, and all refusals (expired credentials, a wrong clock, no rights) alike: that is asked for separately.
func (s *Store) head(ctx context.Context, op, key string) (*s3.HeadObjectOutput, error) {
	api, err := s.begin(ctx, op, key)
	if err != nil {
		return nil, err
	}
	head, err := api.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: &s.bucket, Key: s.name(key), ChecksumMode: types.ChecksumModeEnabled, RequestPayer: s.payer(),
	})
	if err == nil {
		return head, nil
	}
	switch statusOf(err) {
	case http.StatusNotFound:
		if _, gone := api.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket}); statusOf(gone) == http.StatusNotFound {
			err = &Error{Status: http.StatusNotFound, Code: "NoSuchBucket", Message: "there is no bucket " + s.bucket, Err: gone}
		}
	case http.StatusBadRequest, http.StatusForbidden:
		err = s.refusal(ctx, api, key, err)
	}
	return nil, s.fail(ctx, op, key, err)
}

// refusal returns the words for a refused HEAD: those that a GET of the object's first byte is refused with.
func (s *Store) refusal(ctx context.Context, api *s3.Client, key string, refused error) error {
	out, err := api.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.name(key), Range: aws.String("bytes=0-0"), RequestPayer: s.payer()})
	if err != nil {
		return err
	}
	return errors.Join(refused, out.Body.Close())
}

// PutIfAbsent puts with If-None-Match: *, once.
func (s *Store) PutIfAbsent(ctx context.Context, key string, body []byte) (storage.Outcome, error) {
	api, err := s.begin(ctx, "put", key)
	if err != nil {
		return storage.Unknown, err
	}
	_, err = api.PutObject(ctx, s.put(key, body))
	switch {
	case err == nil:
		return storage.Stored, nil
	case statusOf(err) == http.StatusPreconditionFailed:
		return storage.Exists, nil
	default:
		return storage.Unknown, s.fail(ctx, "put", key, err)
	}
}
