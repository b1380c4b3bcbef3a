package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/retry"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/table"
)

// OpenStore returns the store at a local path or an s3:// URL, for commands that are not told by a pipeline file how to
// reach S3: the environment says so. It does no I/O.
func OpenStore(path, version string) (storage.Store, error) {
	store, _, err := openStore(path, version)
	return store, err
}

// OpenStoreToWrite is OpenStore for commands that write. It finds out whether a store in S3 has conditional puts, and refuses
// one that has not.
func OpenStoreToWrite(ctx context.Context, path, version string) (storage.Store, error) {
	store, raw, err := openStore(path, version)
	if raw == nil || err != nil {
		return store, err
	}
	return store, raw.ConditionalPuts(ctx)
}

// openStore also returns a store in S3 as it is, nil for a local one.
func openStore(path, version string) (storage.Store, *s3.Store, error) {
	switch {
	case isRemote(path):
	case schemeOf(path) != "":
		return nil, nil, &table.ArgumentError{Err: fmt.Errorf("open %s: it is a URL of a kind that this version does not support; write a local path, or s3://bucket/prefix", path)}
	default:
		return local.New(path), nil, nil
	}
	r, err := newRemote(Storage{}, s3.Options{Version: version})
	if err != nil {
		return nil, nil, err
	}
	return r.open(path)
}

// TableStore is the store of one of a pipeline's tables.
type TableStore struct {
	Path  string
	Store storage.Store
	Maybe bool // there need not be a table: nothing may have come yet that belongs there
}

// OpenTables returns the stores of the pipeline's tables, for commands that maintain them. If they write, it finds out whether a
// store in S3 has conditional puts, and refuses one that has not.
func (f *File) OpenTables(ctx context.Context, version string, write bool) ([]TableStore, error) {
	tables := []TableStore{{Path: f.Table.Path}}
	if f.OnError.Policy == PolicyQuarantine {
		tables = append(tables, TableStore{Path: f.QuarantinePath(), Maybe: true})
	}
	if !isRemote(f.Table.Path) {
		for i := range tables {
			tables[i].Store = local.New(tables[i].Path)
		}
		return tables, nil
	}
	r, err := newRemote(f.Storage, s3.Options{Version: version})
	if err != nil {
		return nil, err
	}
	for i := range tables {
		store, raw, err := r.open(tables[i].Path)
		if err == nil && write && i == 0 { // they share a bucket
			err = raw.ConditionalPuts(ctx)
		}
		if err != nil {
			return nil, err
		}
		tables[i].Store = store
	}
	return tables, nil
}

// remotePoll is between two looks into a landing folder in S3: each costs a request for every thousand objects.
const remotePoll = 10 * time.Second

// remote is S3 as a pipeline reaches it.
type remote struct {
	client *s3.Client
	// written are the stores that a run writes to, by bucket.
	written map[string]*s3.Store
}

// newRemote makes the client from what the file says, and options beside it.
func newRemote(in Storage, options s3.Options) (*remote, error) {
	options.Region, options.Endpoint, options.PathStyle, options.CAFile = in.Region, in.Endpoint, in.PathStyle, in.CA
	options.SSE, options.KMSKeyID, options.RequestPayer = in.SSE, in.KMSKeyID, in.RequestPayer
	client, err := s3.New(options)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return &remote{client: client, written: map[string]*s3.Store{}}, nil
}

// open returns the store at an s3:// URL: as it is used, and as it is.
func (r *remote) open(url string) (storage.Store, *s3.Store, error) {
	bucket, prefix, err := s3.ParseURL(url)
	if err != nil {
		return nil, nil, &table.ArgumentError{Err: fmt.Errorf("open %s: %w; write s3://bucket/prefix", url, err)}
	}
	raw, err := r.client.Store(bucket, prefix)
	if err != nil {
		return nil, nil, err
	}
	return r.client.Retrier().Wrap(raw), raw, nil
}

// open returns the store at a path of the file. Nothing is written to the landing folder.
func (p *Pipeline) open(name, path string, o BuildOptions) (storage.Store, error) {
	if !isRemote(path) {
		return local.New(path), nil
	}
	if p.remote == nil {
		var err error
		if p.remote, err = newRemote(p.File.Storage, p.remoteOptions(o)); err != nil {
			return nil, err
		}
	}
	store, raw, err := p.remote.open(path)
	if err != nil {
		return nil, err
	}
	if bucket, _, _ := s3.ParseURL(path); name == "table" || name != "landing" && p.remote.written[bucket] == nil {
		p.remote.written[bucket] = raw
	}
	return store, nil
}

func (p *Pipeline) remoteOptions(o BuildOptions) s3.Options {
	waiting := retry.Policy{Outages: p.Outages, Service: "S3"}
	if o.Retried != nil {
		waiting.Failed = func(err error) { o.Retried("s3", s3.Cause(err)) }
	}
	return s3.Options{Version: o.Version, Retry: waiting, Memory: p.accounts.upload, Requested: func(operation string) {
		p.requests.add(operation)
		if o.Requested != nil {
			o.Requested(operation)
		}
	}}
}

// tally counts by name. Safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	counts map[string]int64
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int64{}
	}
	t.counts[name]++
}

// totals returns a copy, nil when nothing was counted.
func (t *tally) totals() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// probe refuses a run that would write to a store without conditional puts, of which nothing would be exactly once.
func (p *Pipeline) probe(ctx context.Context) error {
	if p.remote == nil {
		return nil
	}
	var err error
	for _, store := range p.remote.written {
		err = errors.Join(err, store.ConditionalPuts(ctx))
	}
	return err
}

// Run runs the pipeline by its trigger, after it has found that where it writes has conditional puts.
func (p *Pipeline) Run(ctx context.Context) error {
	if err := p.File.checkCgroup(machine()); err != nil {
		return err
	}
	return p.Engine.Run(ctx)
}
