package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/source/files"
	"github.com/sluicedata/sluice/source/kafka"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
)

// sampleRecords is how many records init looks at.
const sampleRecords = 10_000

func (a *app) initCommand() *cobra.Command {
	var from, name, tablePath string
	cmd := &cobra.Command{
		Use:   "init --from SAMPLE FILE.yaml",
		Short: "Write a commented pipeline file, with columns inferred from a sample",
		Long: `Write a commented pipeline file, with columns inferred from the first records of a sample.

SAMPLE is a file, a folder, a glob, each also in S3 (s3://bucket/prefix, reached as the environment says), or a Kafka topic as
kafka://host:port/topic.`,
		Example: "  sluice init --from landing/ orders.yaml\n  sluice init --from 's3://bucket/landing/**/*.ndjson' orders.yaml\n" +
			"  sluice init --from kafka://localhost:9092/orders orders.yaml",
		Args: exactly("FILE.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if from == "" {
				return usageError{errors.New("init wants --from: a file, a folder, a glob, s3://bucket/prefix, or kafka://host:port/topic")}
			}
			file := args[0]
			t := pipeline.Template{Name: name}
			inferrer := json.NewInferrer()
			if err := sample(cmd.Context(), from, file, inferrer, &t); err != nil {
				return fmt.Errorf("init from %s: %w", from, err)
			}
			var err error
			if t.Columns, t.Notices, err = inferrer.Columns(); err != nil {
				return fmt.Errorf("init from %s: %w", from, err)
			}
			t.Name = cmp.Or(t.Name, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
			t.Table = cmp.Or(tablePath, "lake/"+t.Name)
			return a.writeNew(file, t)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "sample: a file, a folder, a glob, s3://bucket/prefix, or kafka://host:port/topic")
	cmd.Flags().StringVar(&name, "name", "", "the pipeline's name (default: that of FILE)")
	cmd.Flags().StringVar(&tablePath, "table", "", "path of the table (default: lake/NAME)")
	return cmd
}

// sample shows records of the sample to the inferrer, and notes in t where the pipeline is to read.
func sample(ctx context.Context, from, file string, inferrer *json.Inferrer, t *pipeline.Template) error {
	if brokers, topic, isKafka := strings.Cut(strings.TrimPrefix(from, "kafka://"), "/"); isKafka && strings.HasPrefix(from, "kafka://") {
		t.Brokers, t.Topics = strings.Split(brokers, ","), []string{topic}
		blocks, err := kafka.Sample(ctx, kafka.Config{Brokers: t.Brokers, Topics: t.Topics}, sampleRecords)
		for _, b := range blocks {
			err = errors.Join(err, inferrer.Infer(b))
		}
		return err
	}
	in, err := landing(ctx, from, filepath.Dir(file))
	if err != nil {
		return err
	}
	if _, err := files.ParseGlob(in.pattern); err != nil {
		return usageError{fmt.Errorf("the glob %q %w", in.pattern, err)}
	}
	t.Landing = in.written
	framer, err := json.NewFramer(json.FrameOptions{})
	if err != nil {
		return err
	}
	store, err := pipeline.OpenStore(in.folder, version)
	if err != nil {
		return err
	}
	cfg := files.Config{Store: store, Pattern: in.pattern, DisplayRoot: in.folder, Framer: framer}
	return errors.Join(files.Sample(ctx, cfg, sampleRecords, inferrer.Infer), store.Close())
}

// place is a landing folder: where it is, the pattern of its files, and both as a pipeline file in another folder writes them.
type place struct{ folder, pattern, written string }

// landing turns a sample into a folder and a pattern, which for a single local file is its name.
func landing(ctx context.Context, from, base string) (place, error) {
	if strings.HasPrefix(from, s3.Scheme) {
		return remoteLanding(ctx, from)
	}
	p := place{folder: from, pattern: "**"}
	switch info, err := os.Stat(from); {
	case err == nil && !info.IsDir():
		p.folder, p.pattern = filepath.Dir(from), files.QuoteGlob(filepath.Base(from))
	case err != nil:
		if p.folder, p.pattern = files.SplitGlob(from); p.pattern == "**" && !strings.Contains(from, "*") {
			return place{}, err
		}
	}
	relative, err := relativeTo(base, p.folder)
	p.written = filepath.ToSlash(relative)
	if p.pattern != "**" {
		p.written += "/" + p.pattern
	}
	return p, err
}

// remoteLanding splits an s3:// URL as a pipeline file does, which takes one without wildcards for a folder.
func remoteLanding(ctx context.Context, from string) (place, error) {
	root, pattern := files.SplitGlob(strings.TrimPrefix(from, s3.Scheme))
	p := place{folder: s3.Scheme + root, pattern: pattern, written: strings.TrimRight(from, "/")}
	bucket, prefix, err := s3.ParseURL(p.folder)
	switch {
	case root == ".":
		return place{}, usageError{errors.New("it names no bucket: write s3://bucket/prefix, with wildcards only behind the bucket")}
	case err != nil:
		return place{}, usageError{err}
	}
	if prefix == "" || pattern != "**" {
		return p, nil
	}
	store, err := pipeline.OpenStore(s3.Scheme+bucket, version)
	if err != nil {
		return place{}, err
	}
	defer store.Close()
	switch _, err := store.Stat(ctx, prefix); {
	case err == nil:
		return place{}, usageError{errors.New("it is an object, and a path without wildcards means all objects below it: write its folder, or a glob such as s3://bucket/landing/*.ndjson")}
	case !errors.Is(err, storage.ErrNotExist):
		return place{}, err
	}
	return p, nil
}

func relativeTo(base, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Rel(base, path)
}

// writeNew renders the file; it never replaces one.
func (a *app) writeNew(file string, t pipeline.Template) error {
	var b bytes.Buffer
	if err := pipeline.Write(&b, file, t); err != nil {
		return err
	}
	w, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("write the pipeline file: %w; choose another name, or remove it first", err)
	}
	_, err = w.Write(b.Bytes())
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("write the pipeline file: %w", err)
	}
	fmt.Fprintf(a.stderr, "wrote %s: %d columns; next: sluice validate %s, then sluice run %s\n", file, len(t.Columns), file, file)
	return nil
}
