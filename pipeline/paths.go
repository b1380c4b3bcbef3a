package pipeline

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sluicedata/sluice/source/files"
)

// path returns a local path, resolved against the file's folder; empty when there is a fault.
func (r *reader) path(v value, example string) (string, bool) {
	s, ok := r.localPath(v, example)
	if !ok {
		return "", false
	}
	return r.resolve(s.text), true
}

// localPath returns a path as it is written.
func (r *reader) localPath(v value, example string) (scalar, bool) {
	s, ok := r.textScalar(v, example)
	if !ok {
		return s, false
	}
	scheme := schemeOf(s.text)
	write := "write a local path, such as " + example
	switch {
	case strings.HasPrefix(scheme, "s3"):
		r.fault(v, s.shown()+" is not a local file, and only table.path, checkpoint and source.files.path may be s3://bucket/prefix", write)
	case scheme != "":
		r.fault(v, s.shown()+" is a URL of a kind that this version does not support", write)
	case s.text == "~" || strings.HasPrefix(s.text, "~/"):
		r.fault(v, s.shown()+" begins with ~, which is not replaced by a home folder", `write "${HOME}/…"`)
	case strings.ContainsRune(s.text, 0):
		r.fault(v, "holds a zero byte", write)
	default:
		return s, true
	}
	return s, false
}

// schemeOf is what a URL begins with, in small letters; empty for a path that is none.
func schemeOf(p string) string {
	return strings.ToLower(strings.TrimSuffix(regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`).FindString(p), "://"))
}

// resolve makes a path relative to the file's folder one relative to the process's.
func (r *reader) resolve(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(filepath.Dir(r.file), p)
}

// checkFolders finds fault with folders that would read, or clear away, each other's files. Paths are compared by name:
// symbolic links are not followed.
func (r *reader) checkFolders(f *File) {
	table, checkpoint := f.Table.Path, f.Checkpoint
	_, explicit := r.positions["checkpoint"]
	if table == "" {
		return
	}
	if explicit && checkpoint != "" {
		r.checkCheckpoint(table, checkpoint)
	}
	landing := f.Source.Files
	if landing == nil || landing.Root == "" {
		return
	}
	move := "move it out of the landing folder, or narrow source.files.path"
	if reaches(landing, table) {
		r.faultAt("table.path", "lies where source.files.path would read the table's own files", move)
	} else if f.OnError.Policy == PolicyQuarantine && reaches(landing, table+"_quarantine") {
		r.faultAt("table.path", "puts the quarantine table, <table>_quarantine, where source.files.path would read its files", move)
	}
	if rel, ok := below(table, landing.Root); ok && !isHidden(rel) {
		r.faultAt("source.files.path", "lies inside the table, where a VACUUM clears away files that are not the table's",
			"move the landing folder out of the table")
	}
	if explicit && checkpoint != "" {
		if rel, ok := below(landing.Root, checkpoint); ok && rel == "." || reaches(landing, checkpoint) {
			r.faultAt("checkpoint", "lies where source.files.path would read the checkpoint's own files", move)
		}
	}
}

func (r *reader) checkCheckpoint(table, checkpoint string) {
	rel, inside := below(table, checkpoint)
	fix := "delete the key for <table>/_sluice/<name>, or write a folder outside of the table"
	switch {
	case !inside:
		if _, around := below(checkpoint, table); around {
			r.faultAt("checkpoint", "is a folder that holds the table", fix)
		}
	case rel == ".":
		r.faultAt("checkpoint", "is the table's own folder", fix)
	case rel == "_delta_log" || strings.HasPrefix(rel, "_delta_log/"):
		r.faultAt("checkpoint", "is inside the table's log", fix)
	case !isHidden(rel):
		r.faultAt("checkpoint", "is inside the table, in a folder whose files a VACUUM clears away, since its name begins with neither _ nor .", fix)
	}
}

// below returns the path of inner relative to outer, "." when they are the same folder.
func below(outer, inner string) (string, bool) {
	if isRemote(outer) || isRemote(inner) {
		rel, ok := strings.CutPrefix(inner+"/", outer+"/")
		return cmp.Or(strings.TrimSuffix(rel, "/"), "."), ok
	}
	outer, err1 := filepath.Abs(outer)
	inner, err2 := filepath.Abs(inner)
	if err1 != nil || err2 != nil {
		return "", false
	}
	rel, err := filepath.Rel(outer, inner)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// reaches says whether the landing folder's glob can match a file inside folder.
func reaches(landing *Files, folder string) bool {
	rel, ok := below(landing.Root, folder)
	switch {
	case !ok:
		return false
	case rel == ".":
		return true
	case isHidden(rel):
		return false
	default:
		return matchesBelow(landing.Pattern, rel)
	}
}

// matchesBelow says whether a glob can match a path inside folder: a leading part of it matches the folder. A slash inside
// of braces does not count as one.
func matchesBelow(pattern, folder string) bool {
	depth := 0
	for i, c := range pattern {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '/' && depth == 0 && matches(pattern[:i], folder):
			return true
		}
	}
	return (pattern == "**" || strings.HasSuffix(pattern, "/**")) && matches(pattern, folder)
}

func matches(pattern, name string) bool {
	glob, err := files.ParseGlob(pattern)
	return err == nil && glob.Match(name)
}

// isHidden says whether a relative path has an element that landing folders and a table's VACUUM leave alone.
func isHidden(rel string) bool {
	for _, element := range strings.Split(rel, "/") {
		if strings.HasPrefix(element, "_") || strings.HasPrefix(element, ".") && element != "." {
			return true
		}
	}
	return false
}
