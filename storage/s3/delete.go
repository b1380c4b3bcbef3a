package s3

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/sluicedata/sluice/storage"
)

// mostDeleted is how many objects one request may delete.
const mostDeleted = 1000

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error { return s.remove(ctx, "delete", key) }

func (s *Store) remove(ctx context.Context, op, key string) error {
	api, err := s.begin(ctx, op, key)
	if err != nil {
		return err
	}
	if _, err := api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.name(key), RequestPayer: s.payer()}); err != nil {
		if err := s.fail(ctx, op, key, err); !errors.Is(err, storage.ErrNotExist) {
			return err
		}
	}
	return nil
}

// DeleteAll removes a thousand objects a request, and one by one where the store cannot do that.
func (s *Store) DeleteAll(ctx context.Context, keys []string) error {
	for some := range slices.Chunk(keys, mostDeleted) {
		err := s.deleteSome(ctx, some)
		if code := codeOf(err); code == "NotImplemented" || code == "MethodNotAllowed" {
			err = s.deleteEach(ctx, some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteEach(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := s.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteSome(ctx context.Context, keys []string) error {
	const op = "delete all"
	api, err := s.begin(ctx, op, keys[0])
	if err != nil {
		return err
	}
	objects := make([]types.ObjectIdentifier, len(keys))
	for i, key := range keys {
		if err := storage.CheckKey(key); err != nil {
			return s.fail(ctx, op, key, err)
		}
		objects[i].Key = s.name(key)
	}
	out, err := api.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &s.bucket, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)}, RequestPayer: s.payer(),
	})
	if err != nil {
		return s.fail(ctx, op, keys[0], err)
	}
	for _, e := range out.Errors {
		if code := aws.ToString(e.Code); code != "NoSuchKey" {
			return s.fail(ctx, op, strings.TrimPrefix(aws.ToString(e.Key), s.prefix), &Error{
				Status: statusOfCode(code), Code: code, Message: aws.ToString(e.Message), Err: errors.New("it was not deleted"),
			})
		}
	}
	return nil
}

// statusOfCode is the status of an answer that has only a code, as far as it tells what to do.
func statusOfCode(code string) int {
	switch code {
	case "AccessDenied":
		return http.StatusForbidden
	case "SlowDown", "ServiceUnavailable":
		return http.StatusServiceUnavailable
	case "InternalError":
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// Unsettled knows no keys: uploads are not objects, and whether anything refers to an object the store does not know. By
// its age an object is as little in doubt as an upload that a sweep aborts.
func (s *Store) Unsettled(ctx context.Context, _ func(key string) error) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, s.fail(ctx, "unsettled", "", err)
	}
	return s.client.options.StaleUploads, nil
}
