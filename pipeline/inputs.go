package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluicedata/sluice/source/files"
)

const (
	defaultSettle         = 2 * time.Second
	defaultMaxRecordBytes = 32 << 20
)

func isMapping(v value) bool  { return v.node.Kind == yaml.MappingNode }
func isSequence(v value) bool { return v.node.Kind == yaml.SequenceNode }

func (r *reader) readSource(f *File, v value) {
	fields, ok := r.section(v, "source")
	if !ok {
		return
	}
	landing, hasFiles := fields["files"]
	kafka, hasKafka := fields["kafka"]
	switch {
	case hasFiles && hasKafka:
		r.fault(kafka, "stands beside files, and a pipeline has one source", "keep files or kafka, and write a second pipeline file for the other")
	case !hasFiles && !hasKafka:
		r.fault(v, "has neither files nor kafka", "write files: {path: landing} or kafka: {brokers: [localhost:9092], topics: [my_topic]}")
	}
	if hasFiles {
		f.Source.Files = r.files(landing)
	}
	if hasKafka {
		f.Source.Kafka = r.kafka(kafka, f.Name)
	}
	f.Source.Format = r.format(fields, hasFiles, hasKafka)
}

func (r *reader) files(v value) *Files {
	out := &Files{Settle: defaultSettle, Overwritten: OverwrittenError, Order: OrderModified}
	fields, ok := r.section(v, "source.files")
	if !ok {
		return out
	}
	if p, ok := r.need(fields, v, "path", "landing/*.ndjson"); ok {
		r.landing(out, p)
	}
	if s, ok := fields["settle"]; ok {
		out.Settle, _ = r.duration(s, "2s")
	}
	if o, ok := fields["overwritten"]; ok {
		oneOf(r, o, &out.Overwritten, OverwrittenError, OverwrittenIgnore, OverwrittenReprocess)
	}
	if o, ok := fields["order"]; ok {
		oneOf(r, o, &out.Order, OrderModified, OrderLexical)
		if over, ok := fields["overwritten"]; ok && out.Order == OrderLexical {
			r.fault(over, "is about files that were read, and order: lexical never looks at one again", "delete it, or order")
		}
	}
	return out
}

// landing splits a path into the folder and the glob below it. Only what the file says can be a glob: the file's own
// folder may have any name. A path that is a file stands for that file alone.
func (r *reader) landing(out *Files, v value) {
	if s, ok := r.textScalar(v, "landing/*.ndjson"); !ok || isRemote(s.text) {
		if ok {
			r.remoteLanding(out, s)
		}
		return
	}
	s, ok := r.localPath(v, "landing/*.ndjson")
	if !ok {
		return
	}
	root, pattern := files.SplitGlob(s.text)
	if _, err := files.ParseGlob(pattern); err != nil {
		r.fault(v, s.shown()+" is not a glob"+s.because(err.Error()), "write a folder, or a glob such as landing/**/*.ndjson")
		return
	}
	if info, err := os.Stat(r.resolve(root)); pattern == "**" && err == nil && info.Mode().IsRegular() {
		root, pattern = filepath.Dir(root), files.QuoteGlob(filepath.Base(root))
	}
	out.Root, out.Pattern, out.Written = r.resolve(root), pattern, filepath.Clean(root)
	out.Path = filepath.Join(out.Root, pattern)
	if pattern == "**" && !strings.Contains(s.text, "*") {
		out.Path = out.Root
	}
}

func (r *reader) format(source map[string]value, hasFiles, hasKafka bool) Format {
	out := Format{Name: "json", JSON: JSON{Layout: LayoutAuto, MaxRecordBytes: defaultMaxRecordBytes, Tombstones: TombstonesBad}}
	v, ok := source["format"]
	if !ok {
		return out
	}
	if !isMapping(v) {
		oneOf(r, v, &out.Name, "json")
		return out
	}
	fields, ok := r.section(v, "source.format")
	if !ok {
		return out
	}
	options, ok := r.need(fields, v, "json", "{layout: auto}")
	if !ok {
		return out
	}
	r.jsonOptions(&out.JSON, options, hasFiles, hasKafka)
	return out
}

func (r *reader) jsonOptions(out *JSON, v value, hasFiles, hasKafka bool) {
	fields, ok := r.section(v, "source.format.json")
	if !ok {
		return
	}
	if l, ok := fields["layout"]; ok {
		oneOf(r, l, &out.Layout, LayoutAuto, LayoutLines, LayoutArray, LayoutDocument)
		if !hasFiles && hasKafka {
			r.fault(l, "is about files, and the source is kafka, where a message is a record", "delete it")
		}
	}
	if m, ok := fields["max_record_bytes"]; ok {
		if n, ok := r.size(m, "64MB"); ok {
			out.MaxRecordBytes = n
		}
		if !hasFiles && hasKafka {
			r.fault(m, "is about files, and the source is kafka, whose brokers limit a message's size", "delete it")
		}
	}
	if t, ok := fields["tombstones"]; ok {
		oneOf(r, t, &out.Tombstones, TombstonesBad, TombstonesDrop)
		if hasFiles && !hasKafka {
			r.fault(t, "is about Kafka records without a value, and the source is files", "delete it")
		}
	}
}
