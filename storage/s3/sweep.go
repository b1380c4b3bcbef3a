package s3

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Sweep aborts the uploads below the prefix that are older than Options.StaleUploads and not of this client, and returns
// their number. keep is not asked: what is published stays (see the package comment). A store that does not list uploads
// has none to sweep.
func (s *Store) Sweep(ctx context.Context, _ func(key string) (bool, error)) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, s.fail(ctx, "sweep", "", err)
	}
	api, err := s.client.connect(ctx)
	if err != nil {
		return 0, s.fail(ctx, "sweep", "", err)
	}
	before := s.client.options.Now().Add(-s.client.options.StaleUploads)
	removed := 0
	in := &s3.ListMultipartUploadsInput{Bucket: &s.bucket, Prefix: &s.prefix, RequestPayer: s.payer()}
	for {
		page, err := api.ListMultipartUploads(ctx, in)
		if codeOf(err) == "NotImplemented" {
			return removed, nil
		}
		if err != nil {
			return removed, s.fail(ctx, "sweep", "", err)
		}
		for _, u := range page.Uploads {
			key, below := strings.CutPrefix(aws.ToString(u.Key), s.prefix)
			if !below || u.Initiated == nil || u.Initiated.After(before) || s.client.owns(aws.ToString(u.UploadId)) {
				continue
			}
			if err := s.abortUpload(ctx, api, u.Key, u.UploadId); err != nil {
				return removed, s.fail(ctx, "sweep", key, err)
			}
			removed++
		}
		if !aws.ToBool(page.IsTruncated) || aws.ToString(page.NextKeyMarker) == "" {
			return removed, nil
		}
		in.KeyMarker, in.UploadIdMarker = page.NextKeyMarker, page.NextUploadIdMarker
	}
}
