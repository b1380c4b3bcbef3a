// Package s3 keeps objects in buckets of Amazon S3 and of stores that speak its protocol.
//
// It is the storage backend for tables, checkpoints and landing folders at s3://bucket/prefix. A Client holds what all
// stores of a process share: credentials, connections, the part budget and the pace of retries; Client.Store gives the
// objects below one prefix. The raw stores make each request once; Client.Retrier().Wrap(store) is what programs use,
// and Classify tells it which errors pass. ConditionalPuts refuses an endpoint on which nothing here would be safe.
//
// How a write becomes durable and visible:
//
//	put      PutObject with If-None-Match: *
//	stage    up to PartBytes in memory; from there on parts of a multipart upload, which nobody can read or list
//	publish  PutObject, or CompleteMultipartUpload, with If-None-Match: *
//	settle   nothing
//
// Invariants:
//
//   - What is sent carries its CRC32C, and of an upload the CRC32C of the whole, so that the store refuses what has been
//     damaged on the way. What is read whole or from end to end is checked against the checksum that the store keeps.
//   - An object is read from as it was when it was opened (If-Match): one that was replaced meanwhile is an error.
//   - A conditional put is never made again by itself. 412 is Exists, success is Stored, all else is Unknown.
//   - A staged object carries its attempt's id (metadata "sluice-attempt"). So an attempt to publish that meets an object
//     under its key knows whether that is its own, of an earlier try whose answer was lost.
//   - S3 cannot tell a dead process from a silent one. A sweep aborts uploads by their age alone, never this process's
//     own. A published object that no commit came to refer to stays until the table is vacuumed; readers never see it.
package s3

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
)

// Options are how to reach a service. The zero value is Amazon S3, with region, endpoint and credentials as the
// environment and the shared files of the AWS SDK say.
type Options struct {
	Region    string // empty: the environment's, or us-east-1
	Endpoint  string // URL of another service than Amazon's; empty: the environment's
	PathStyle *bool  // the bucket in the path and not in the host's name; nil: with any endpoint but Amazon's
	CAFile    string // PEM file of certificates to trust in place of the system's

	SSE          string // server-side encryption of what is written: "", SSES3 or SSEKMS
	KMSKeyID     string // of SSEKMS; empty: the bucket's
	RequestPayer bool   // pay for requests to the buckets of others

	Credentials aws.CredentialsProvider // nil: the SDK's default chain
	Version     string                  // of the program, for the user agent "sluice/<version>"

	// PartBytes is the size of parts of an upload, and what a staged object holds in memory at most; 5 MiB, the least
	// that S3 takes, if 0.
	PartBytes int
	// Concurrency is how many parts of all stores together are on their way at once, so that they hold at most
	// Concurrency times PartBytes beside what the staged objects hold; 4 if 0.
	Concurrency int
	// Memory counts what staged objects and parts on their way hold; nil is an account of the client's own.
	Memory *memory.Account
	// StaleUploads is the age from which on a sweep takes the upload of another process for dead; 24 h if 0. It is to be
	// longer than any batch takes.
	StaleUploads time.Duration
	// Stall is how long a connection may be silent in both directions before it is cut; 30 s if 0.
	Stall time.Duration
	Retry retry.Policy
	// Requested, if set, is told of each request by its name in S3's protocol (PutObject), once a try. It is called from
	// several goroutines.
	Requested func(operation string)
	// Now is the clock by which uploads age; time.Now if nil.
	Now func() time.Time
}

// Values of Options.SSE.
const (
	SSES3  = "AES256"
	SSEKMS = "aws:kms"
)

const (
	leastPartBytes      = 5 << 20
	mostParts           = 10_000
	defaultConcurrency  = 4
	ownMemory           = 64 << 20
	defaultStaleUploads = 24 * time.Hour
	defaultStall        = 30 * time.Second
)

func (o Options) withDefaults() (Options, error) {
	if o.PartBytes == 0 {
		o.PartBytes = leastPartBytes
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.Memory == nil {
		o.Memory = memory.New(ownMemory).Open("upload", ownMemory)
	}
	if o.StaleUploads == 0 {
		o.StaleUploads = defaultStaleUploads
	}
	if o.Stall == 0 {
		o.Stall = defaultStall
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, o.check()
}

func (o Options) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch o.SSE {
	case "", SSES3, SSEKMS:
	default:
		fault("server-side encryption is %q: write %s or %s", o.SSE, SSES3, SSEKMS)
	}
	if o.KMSKeyID != "" && o.SSE != SSEKMS {
		fault("a KMS key without server-side encryption %s", SSEKMS)
	}
	if o.Endpoint != "" && !strings.HasPrefix(o.Endpoint, "https://") && !strings.HasPrefix(o.Endpoint, "http://") {
		fault("endpoint %q is not a URL: write https://host:port", o.Endpoint)
	}
	if o.PartBytes < leastPartBytes {
		fault("parts of %d bytes: S3 takes at least %d", o.PartBytes, leastPartBytes)
	}
	if o.Concurrency < 0 || o.StaleUploads < 0 || o.Stall < 0 {
		fault("concurrency %d, stale uploads %v and stall %v must be above 0", o.Concurrency, o.StaleUploads, o.Stall)
	}
	if len(faults) > 0 {
		return fmt.Errorf("s3: %w", errors.Join(faults...))
	}
	return nil
}

// Client is a service with what all its stores share. Safe for concurrent use.
type Client struct {
	options Options
	retrier *retry.Retrier
	slots   chan struct{} // one for each part on its way

	mu  sync.Mutex
	api *s3.Client          // nil before the first request, and when its credentials have expired
	own map[string]struct{} // ids of uploads that this process has begun and not ended
}

// New makes a client. It does no I/O: credentials, region and certificates are looked up by the first request.
func New(options Options) (*Client, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{options: options, slots: make(chan struct{}, options.Concurrency), own: map[string]struct{}{}}
	c.retrier = retry.New(c.classify, options.Retry)
	return c, nil
}

// Retrier makes operations on this client's stores again; it is what to wrap them with.
func (c *Client) Retrier() *retry.Retrier { return c.retrier }

// Store returns the objects of a bucket whose keys begin with prefix and a slash; all of them if it is empty.
func (c *Client) Store(bucket, prefix string) (*Store, error) {
	url := strings.TrimSuffix(Scheme+bucket+"/"+prefix, "/")
	if bucket == "" || strings.ContainsAny(bucket, "/\x00") {
		return nil, fmt.Errorf("s3: %s: %q is not a bucket", url, bucket)
	}
	if prefix != "" {
		if err := storage.CheckKey(prefix); err != nil {
			return nil, fmt.Errorf("s3: %s: %w", url, err)
		}
		prefix += "/"
	}
	return &Store{client: c, bucket: bucket, prefix: prefix, url: url}, nil
}

// Scheme begins the URLs of this package's stores.
const Scheme = "s3://"

// ParseURL cuts s3://bucket/prefix into its parts; slashes at the end do not count. Its error says what is wrong with url,
// without url.
func ParseURL(url string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(url, Scheme)
	if !ok {
		return "", "", fmt.Errorf("it does not begin with %s", Scheme)
	}
	bucket, prefix, _ = strings.Cut(strings.TrimRight(rest, "/"), "/")
	if bucket == "" {
		return "", "", errors.New("it names no bucket")
	}
	if prefix != "" {
		if err := storage.CheckKey(prefix); err != nil {
			return "", "", fmt.Errorf("prefix %q: %w", prefix, err)
		}
	}
	return bucket, prefix, nil
}

// Stageable is how many staged objects may be open at once so that they, and one more beside them, fit into the memory's
// share beside the parts on their way. At least 1.
func (c *Client) Stageable() int {
	return max(1, int(c.options.Memory.Share())/c.options.PartBytes-c.options.Concurrency-1)
}

// begin notes an upload as this process's own, until end.
func (c *Client) begin(upload string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own[upload] = struct{}{}
}

func (c *Client) end(upload string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.own, upload)
}

func (c *Client) owns(upload string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.own[upload]
	return ok
}

// acquire takes the right to have one part on its way; release gives it back.
func (c *Client) acquire(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) release() { <-c.slots }
