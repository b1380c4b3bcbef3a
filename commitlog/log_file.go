package commitlog

import (
	"strings"

	"github.com/sluicedata/sluice/storage"
)

// LogFileKind says what a file of a log is.
type LogFileKind string

// The kinds of files that a cleanup deletes.
const (
	CommitFile     LogFileKind = "commit"
	CheckpointFile LogFileKind = "checkpoint" // or a part of one
	SidecarFile    LogFileKind = "sidecar"
	ChecksumFile   LogFileKind = "checksum"   // of a version ("Version Checksum File"), or Hadoop's of a file
	CompactionFile LogFileKind = "compaction" // of a range of commits ("Log Compaction Files")
	TemporaryFile  LogFileKind = "temporary"  // of a writer that died
)

// LogFile is a file of a log.
type LogFile struct {
	storage.Info
	Kind    LogFileKind
	version int64 // that it is of; of a compaction, the first
}

// logFileOf tells what a file in the log's folder is; ok is false for what is none of a cleanup's business.
func logFileOf(info storage.Info) (f LogFile, ok bool) {
	name, ok := strings.CutPrefix(info.Key, logDir)
	if !ok || strings.Contains(name, "/") {
		return f, false
	}
	if of, hadoop := hadoopSum(name); hadoop {
		f, ok = logFileOf(storage.Info{Key: logDir + of})
		f.Info = info
		if f.Kind != TemporaryFile {
			f.Kind = ChecksumFile
		}
		return f, ok
	}
	f.Info = info
	if l, known := parseKey(info.Key); known {
		f.version, f.Kind = l.version, CommitFile
		if !l.commit {
			f.Kind = CheckpointFile
		}
		return f, true
	}
	if strings.HasSuffix(name, ".tmp") {
		f.Kind = TemporaryFile
		return f, true
	}
	if len(name) <= versionDigits {
		return f, false
	}
	if f.version, ok = parseDigits(name[:versionDigits]); !ok {
		return f, false
	}
	f.Kind = ChecksumFile
	if rest := name[versionDigits:]; rest != ".crc" {
		f.Kind, ok = CompactionFile, isCompaction(rest)
	}
	return f, ok
}

// hadoopSum is the name of the file whose checksum Hadoop keeps beside it on a local disk under this name.
func hadoopSum(name string) (of string, is bool) {
	rest, dot := strings.CutPrefix(name, ".")
	of, sum := strings.CutSuffix(rest, ".crc")
	return of, dot && sum
}

// isCompaction tells whether a name goes on behind its first version as that of a log compaction does.
func isCompaction(rest string) bool {
	to, is := strings.CutSuffix(rest, ".compacted.json")
	if !is || len(to) != versionDigits+1 || to[0] != '.' {
		return false
	}
	_, is = parseDigits(to[1:])
	return is
}
