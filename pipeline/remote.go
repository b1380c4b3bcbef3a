package pipeline

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/sluicedata/sluice/source/files"
	"github.com/sluicedata/sluice/storage/s3"
)

// Storage is how to reach S3, for all of the file's s3:// paths. The zero value leaves it to the environment.
type Storage struct {
	Region       string // empty: the environment's
	Endpoint     string // URL; empty: the environment's, or Amazon's
	PathStyle    *bool  // nil: with any endpoint but Amazon's
	CA           string // PEM file, resolved against the file's folder; empty: the system's
	SSE          string // AES256 or aws:kms; empty: the bucket's default
	KMSKeyID     string // for aws:kms; empty: the bucket's
	RequestPayer bool
}

// isRemote says whether a path of the file is a place in S3.
func isRemote(p string) bool { return strings.HasPrefix(p, s3.Scheme) }

// joinPath returns the path of something below a folder, here or in S3.
func joinPath(folder string, elements ...string) string {
	if isRemote(folder) {
		return folder + "/" + path.Join(elements...)
	}
	return filepath.Join(append([]string{folder}, elements...)...)
}

// place returns a local path, resolved against the file's folder, or an s3:// URL; empty when there is a fault.
func (r *reader) place(v value, example string) (string, bool) {
	s, ok := r.textScalar(v, example)
	switch {
	case !ok:
		return "", false
	case !isRemote(s.text):
		return r.path(v, example)
	}
	return r.remote(s, s.text)
}

// remote returns an s3:// URL in its one spelling.
func (r *reader) remote(s scalar, url string) (string, bool) {
	bucket, prefix, err := s3.ParseURL(url)
	if err != nil {
		r.fault(s.value, s.shown()+" is not a place in S3"+s.because(err.Error()), "write s3://bucket/prefix")
		return "", false
	}
	return strings.TrimSuffix(s3.Scheme+bucket+"/"+prefix, "/"), true
}

// remoteLanding splits an s3:// URL into the folder and the glob below it.
func (r *reader) remoteLanding(out *Files, s scalar) {
	root, pattern := files.SplitGlob(strings.TrimPrefix(s.text, s3.Scheme))
	if root == "." {
		r.fault(s.value, s.shown()+" has a wildcard in the bucket's name", "write s3://bucket/prefix/*.ndjson")
		return
	}
	if _, err := files.ParseGlob(pattern); err != nil {
		r.fault(s.value, s.shown()+" is not a glob"+s.because(err.Error()), "write a prefix, or a glob such as s3://bucket/landing/**/*.ndjson")
		return
	}
	place, ok := r.remote(s, s3.Scheme+root)
	if !ok {
		return
	}
	out.Root, out.Pattern, out.Written, out.Path = place, pattern, place, place+"/"+pattern
	if pattern == "**" && !strings.Contains(s.text, "*") {
		out.Path = place
	}
}

func (r *reader) storage(v value) Storage {
	var out Storage
	fields, ok := r.section(v, "storage")
	if !ok {
		return out
	}
	text := func(dst *string, key, example string) {
		if f, ok := fields[key]; ok {
			*dst, _ = r.str(f, example)
		}
	}
	text(&out.Region, "region", "eu-central-1")
	text(&out.KMSKeyID, "kms_key_id", "alias/lake")
	if e, ok := fields["endpoint"]; ok {
		out.Endpoint = r.endpoint(e)
	}
	if p, ok := fields["path_style"]; ok {
		if on, ok := r.boolean(p); ok {
			out.PathStyle = &on
		}
	}
	if c, ok := fields["ca"]; ok {
		out.CA, _ = r.path(c, "tls/ca.pem")
	}
	if e, ok := fields["sse"]; ok {
		oneOf(r, e, &out.SSE, s3.SSES3, s3.SSEKMS)
	}
	if p, ok := fields["request_payer"]; ok {
		out.RequestPayer, _ = r.boolean(p)
	}
	if key, ok := fields["kms_key_id"]; ok && out.SSE != s3.SSEKMS {
		r.fault(key, "is a key for sse: aws:kms, which is not set", "write sse: aws:kms beside it, or delete it")
	}
	return out
}

func (r *reader) endpoint(v value) string {
	const example = "https://minio.example.com:9000"
	s, ok := r.textScalar(v, example)
	if !ok {
		return ""
	}
	scheme, host, _ := strings.Cut(s.text, "://")
	if scheme != "https" && scheme != "http" || host == "" {
		r.fault(v, s.shown()+" is not the URL of an endpoint", "write "+example)
		return ""
	}
	if strings.Contains(host, "@") { // which is not shown
		r.fault(v, "has a login in its URL", "leave it out: credentials come from the environment, as for all tools of AWS")
		return ""
	}
	return s.text
}

// checkStorage finds fault with a storage section that nothing is reached by.
func (r *reader) checkStorage(f *File) {
	if _, ok := r.positions["storage"]; !ok || len(r.faults) > 0 {
		return
	}
	if !f.isRemote() {
		r.faultAt("storage", "is about S3, and no path of this file is in S3", "delete it, or write s3://bucket/prefix for table.path, checkpoint or source.files.path")
	}
}

// isRemote says whether any path of the file is in S3.
func (f *File) isRemote() bool {
	return isRemote(f.Table.Path) || isRemote(f.Checkpoint) || f.Source.Files != nil && isRemote(f.Source.Files.Root)
}
