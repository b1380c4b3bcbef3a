package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/source/files"
	"github.com/sluicedata/sluice/source/kafka"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
	"github.com/sluicedata/sluice/table"
)

// BuildOptions are what a run brings beside the file.
type BuildOptions struct {
	Version    string // of the program, for the table's log
	Events     batch.Events
	Trigger    *Trigger // in place of the file's
	MaxBatches int64    // 0: no limit
	// Parallelism is how many parts of a batch are decoded, and how many columns of its rows encoded, at a time; 0: GOMAXPROCS.
	Parallelism int
	// TopicRecreated goes on with a Kafka topic that was deleted and created again, from its beginning.
	TopicRecreated bool
	KeepPlans      int64 // of the offset log; 0: the engine's default
	// Sequential plans no batch before the one before is in the table, so that all is done in the same order each time.
	Sequential bool
	// Requested is told of each request to S3, by its name in S3's protocol. nil is silence; it is called from several
	// goroutines.
	Requested func(operation string)
	// Retried is told why something is tried again: of "s3" or "kafka", one of a bounded number of causes. nil is silence;
	// it is called from several goroutines.
	Retried func(service, cause string)
	// Judge says what an error means, for status; nil takes all for such that somebody has to see to.
	Judge func(error) batch.Verdict
	// Now is the clock, which several goroutines look at; nil is time.Now.
	Now func() time.Time
	// Wrap, if set, stands around each store as it is opened: "checkpoint", "seen", "table", "quarantine", "landing".
	Wrap func(name string, s storage.Store) storage.Store
}

// Pipeline is a file's parts, wired:
//
//	landing folder ── source/files ─┐                       ┌── table (lake)
//	                                ├── batch.Engine ───────┤
//	topics ────────── source/kafka ─┘     │        │        └── quarantine table
//	                              format/json   checkpoint
//
// It owns them until Close.
type Pipeline struct {
	File   *File
	Engine *batch.Engine
	Source source.Source
	// Outages are what is being waited for.
	Outages *retry.Outages
	// Memory is the budget of what is held.
	Memory *memory.Budget

	accounts accounts
	lake     *lake
	config   batch.Config
	seen     storage.Store // the landing folder's bookkeeping; nil for topics
	stores   []storage.Store
	remote   *remote // nil while no store is in S3
	requests tally   // to S3
	broken   error   // of a store that could not be made
}

// Build makes the parts of a pipeline file. It does no I/O.
func Build(f *File, o BuildOptions) (*Pipeline, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Pipeline{File: f, Outages: retry.NewOutages(o.Events.Notice), accounts: f.accounts()}
	p.Memory = p.accounts.budget
	if f.Source.Files != nil {
		p.seen = p.store(o, "seen", joinPath(f.Checkpoint, "seen"))
	}
	src, err := p.source(o)
	if err != nil {
		return nil, errors.Join(p.broken, err, p.Close())
	}
	p.Source = src
	shape := &shape{file: f}
	p.lake = p.newLake(o, "table", f.Table.Path, p.accounts.write, shape.create)
	p.config = batch.Config{
		Name: f.Name, Checkpoint: p.store(o, "checkpoint", f.Checkpoint), Bookkeeping: p.seen, Source: src, Table: p.lake,
		Decoding: shape.decoding(o.Events), Fingerprint: f.Fingerprint(), Settings: settings(f, o), Events: o.Events, Now: o.Now,
		Requests: p.requests.totals, Probe: p.probe, Judge: o.Judge, Outages: p.Outages, Memory: p.accounts.decode,
	}
	if k := f.Source.Kafka; k != nil {
		p.config.Start = k.start().String()
	}
	if f.OnError.Policy == PolicyQuarantine {
		p.config.Quarantine = p.newLake(o, "quarantine", f.QuarantinePath(), p.accounts.quarantine, func() *table.Create {
			return &table.Create{Schema: batch.QuarantineColumns()}
		})
	}
	if p.broken != nil {
		return nil, errors.Join(p.broken, p.Close())
	}
	p.config.Maintainers, p.config.Compacted = p.maintainers(o), f.Maintenance.Compact.MinFiles > 0
	p.Engine = batch.New(p.config)
	return p, nil
}

// QuarantinePath is where bad records go under on_error: quarantine.
func (f *File) QuarantinePath() string { return f.Table.Path + "_quarantine" }

func (p *Pipeline) store(o BuildOptions, name, path string) storage.Store {
	s, err := p.open(name, path, o)
	if err != nil {
		p.broken = errors.Join(p.broken, err)
		return nil
	}
	if o.Wrap != nil {
		s = o.Wrap(name, s)
	}
	p.stores = append(p.stores, s)
	return s
}

// newLake opens a table that counts in the account.
func (p *Pipeline) newLake(o BuildOptions, name, path string, account *memory.Account, create func() *table.Create) *lake {
	l := &lake{pipeline: p.File.Name, url: path, create: create}
	if l.store = p.store(o, name, path); l.store != nil {
		l.table = table.New(l.store, table.Options{AppID: p.File.Name, EngineVersion: o.Version, Now: o.Now, Memory: account, OpenFiles: p.openFiles(), Parallelism: o.Parallelism})
	}
	return l
}

// Close ends the source's connections and gives up what is staged.
func (p *Pipeline) Close() error {
	var err error
	if p.Source != nil {
		err = p.Source.Close()
	}
	for _, s := range p.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

func settings(f *File, o BuildOptions) batch.Settings {
	s := batch.Settings{
		Limits:     source.Limits{MaxRecords: f.Batch.MaxRecords, MaxBytes: f.Batch.MaxBytes, MaxFiles: f.Batch.MaxFiles},
		MinRecords: f.Batch.MinRecords, MaxDelay: f.Batch.MaxDelay, MaxBadRecords: f.OnError.MaxBadRecords, MaxBatches: o.MaxBatches,
		KeepPlans: o.KeepPlans, Sequential: o.Sequential, Parallelism: o.Parallelism,
	}
	trigger := f.Trigger
	if o.Trigger != nil {
		trigger = *o.Trigger
	}
	switch trigger.Mode {
	case Continuous:
		s.Trigger.Kind = batch.Continuous
	case Every:
		s.Trigger = batch.Trigger{Kind: batch.Interval, Every: trigger.Every}
	}
	switch f.OnError.Policy {
	case PolicySkip:
		s.OnError = batch.Skip
	case PolicyQuarantine:
		s.OnError = batch.Quarantine
	}
	if f.Source.Files != nil && isRemote(f.Source.Files.Root) {
		s.Poll = remotePoll
	}
	return s
}

func (p *Pipeline) source(o BuildOptions) (source.Source, error) {
	if p.File.Source.Kafka != nil {
		cfg, err := p.File.KafkaConfig()
		if err != nil {
			return nil, err
		}
		if o.TopicRecreated {
			cfg.TopicRecreated = kafka.RecreatedFromEarliest
		}
		cfg.Memory = p.accounts.fetch
		cfg.Outages = p.Outages
		if o.Retried != nil {
			cfg.Failed = func(err error) { o.Retried("kafka", kafka.Cause(err)) }
		}
		return kafka.New(cfg)
	}
	cfg, err := p.File.FilesConfig(p.store(o, "landing", p.File.Source.Files.Root))
	if err != nil {
		return nil, err
	}
	cfg.Bookkeeping = p.seen
	cfg.Memory = p.accounts.fetch
	cfg.Now = o.Now
	return files.New(cfg)
}

// FilesConfig is the configuration of the landing folder's source, without its bookkeeping. landing is the store of its
// root.
func (f *File) FilesConfig(landing storage.Store) (files.Config, error) {
	framer, err := f.framer()
	if err != nil {
		return files.Config{}, err
	}
	in := f.Source.Files
	cfg := files.Config{
		Store: landing, Pattern: in.Pattern, DisplayRoot: in.Written, Settle: in.Settle,
		Overwritten: files.Overwritten(in.Overwritten), Order: files.Order(in.Order), Framer: framer,
	}
	if !isRemote(in.Root) { // whose objects are checked as they are read, from beginning to end
		cfg.PieceBytes = pieceBytes
	}
	return cfg, nil
}

// pieceBytes is of how many bytes pieces of files are that are read side by side. A piece costs as much as a small file to read,
// and all of those that are being read have to fit into the account that they count in.
const pieceBytes = 4 << 20

func (f *File) framer() (format.Framer, error) {
	options := f.Source.Format.JSON
	return json.NewFramer(json.FrameOptions{Layout: json.Layout(options.Layout), MaxRecordBytes: int(options.MaxRecordBytes)})
}

func (k *Kafka) start() kafka.Start {
	return kafka.Start{At: kafka.StartAt(k.Start.Kind), Time: k.Start.Time, Offsets: k.Start.Offsets}
}

// KafkaConfig is the configuration of the topics' source.
func (f *File) KafkaConfig() (kafka.Config, error) {
	in := f.Source.Kafka
	cfg := kafka.Config{
		Brokers: in.Brokers, Topics: in.Topics, Isolation: kafka.Isolation(in.Isolation), OnDataLoss: kafka.OnDataLoss(in.OnDataLoss),
		ClientID: in.ClientID, GroupID: in.Group, Pipeline: f.Name,
		Start: in.start(),
	}
	if in.TLS != nil {
		cfg.TLS = kafka.TLS{Enabled: true, CAFile: in.TLS.CA, CertFile: in.TLS.Cert, KeyFile: in.TLS.Key, ServerName: in.TLS.ServerName}
	}
	if in.SASL != nil {
		cfg.SASL = &kafka.SASL{
			Mechanism: in.SASL.Mechanism, Username: in.SASL.Username, Password: kafka.Secret(in.SASL.Password.Reveal()),
			AllowUnencrypted: in.SASL.AllowUnencrypted,
		}
	}
	if err := cfg.Validate(); err != nil {
		return kafka.Config{}, fmt.Errorf("%s: source.kafka: %w", f.Name, err)
	}
	return cfg, nil
}
