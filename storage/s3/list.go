package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/sluicedata/sluice/storage"
)

// List asks for page after page, a thousand keys each, and holds one at a time. What ends in a slash is a folder that
// some tool has drawn, and is left out; any other key that is not a clean path is an error, since it would be missing.
func (s *Store) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	if err := ctx.Err(); err != nil {
		return s.fail(ctx, "list", prefix, err)
	}
	api, err := s.client.connect(ctx)
	if err != nil {
		return s.fail(ctx, "list", prefix, err)
	}
	in := &s3.ListObjectsV2Input{
		Bucket: &s.bucket, Prefix: aws.String(s.prefix + prefix), EncodingType: types.EncodingTypeUrl, RequestPayer: s.payer(),
	}
	if startAfter != "" {
		in.StartAfter = s.name(startAfter)
	}
	for {
		page, err := api.ListObjectsV2(ctx, in)
		if err != nil {
			return s.fail(ctx, "list", prefix, err)
		}
		for _, o := range page.Contents {
			info, err := s.info(o, page.EncodingType == types.EncodingTypeUrl)
			if err != nil {
				return s.fail(ctx, "list", prefix, err)
			}
			if info.Key <= startAfter || !strings.HasPrefix(info.Key, prefix) || strings.HasSuffix(info.Key, "/") {
				continue
			}
			if err := storage.CheckKey(info.Key); err != nil {
				return s.fail(ctx, "list", info.Key, fmt.Errorf("%w; give the object another name", err))
			}
			if err := fn(info); err != nil {
				return err
			}
		}
		if !aws.ToBool(page.IsTruncated) {
			return nil
		}
		if aws.ToString(page.NextContinuationToken) == "" {
			return s.fail(ctx, "list", prefix, errors.New("the store says that there is more, but not where"))
		}
		in.ContinuationToken = page.NextContinuationToken
	}
}

// info describes a listed object, by its key below the prefix.
func (s *Store) info(o types.Object, encoded bool) (storage.Info, error) {
	name := aws.ToString(o.Key)
	if encoded {
		var err error
		if name, err = url.QueryUnescape(name); err != nil {
			return storage.Info{}, fmt.Errorf("a listed key: %w", err)
		}
	}
	key, ok := strings.CutPrefix(name, s.prefix)
	if !ok {
		return storage.Info{}, fmt.Errorf("the store lists %q, which is not below %q", name, s.prefix)
	}
	return storage.Info{Key: key, Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified), ETag: unquoted(o.ETag)}, nil
}
