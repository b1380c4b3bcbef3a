package main

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/fsck"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/source/files"
	"github.com/sluicedata/sluice/source/kafka"
	"github.com/sluicedata/sluice/storage/retry"
	"github.com/sluicedata/sluice/storage/s3"
	"github.com/sluicedata/sluice/table"
)

// Exit codes, for those who run the program from a scheduler. docs/operating.md says what to do about each.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2 // the call or the pipeline file is wrong
	exitCorrupt = 3 // two records that must agree do not: checkpoint and table, or an audit's
	exitFenced  = 4 // another process runs the pipeline
	exitLost    = 5 // the source no longer has what was to be read
)

// kind is what all errors of one kind mean: to a scheduler, in status, in the log and in metrics.
type kind struct {
	name   string
	exit   int
	class  batch.Class
	remedy string // for errors that bring none of their own
	fits   func(error) bool
}

// kinds are all there are, in the order in which they are tried: an error that clearing up has added to does not hide what
// it came from. The last one fits every error.
func kinds() []kind {
	const (
		passes = batch.Retrying
		stays  = batch.NeedsYou
	)
	return []kind{
		{"fenced", exitFenced, passes, "find out why two processes run this pipeline; nothing was lost or doubled", func(err error) bool {
			return errors.Is(err, batch.ErrFenced)
		}},
		{"lost", exitLost, stays, "decide what is to become of what the source has lost", func(err error) bool {
			return is[*kafka.DataLostError](err) || is[*kafka.RecreatedError](err) || is[*kafka.TruncatedError](err) || is[*kafka.DeletedError](err) || is[*files.ChangedError](err)
		}},
		{"corrupt", exitCorrupt, stays, "find out which side is right; until then delete nothing and do not run it again", func(err error) bool {
			return is[*batch.RefusedError](err) || is[*batch.AuditError](err) || is[*offsetlog.CorruptError](err) || is[*commitlog.CorruptError](err) || is[*files.CorruptError](err) || is[*fsck.FaultsError](err)
		}},
		{"usage", exitUsage, stays, "correct the call or the pipeline file", func(err error) bool {
			return is[usageError](err) || is[pipeline.Faults](err) || is[*table.ArgumentError](err) || is[*vacuum.RetentionError](err) || strings.HasPrefix(err.Error(), "unknown command")
		}},
		{"bad_record", exitFailed, stays, "mend the source, or set on_error", is[*batch.BadRecordError]},
		{"unfit_table", exitFailed, stays, "declare the columns as the table has them, or use another table", func(err error) bool {
			return is[*table.SchemaError](err) || is[*table.NotNullError](err) || is[*commitlog.UnsupportedError](err)
		}},
		{"unfit_store", exitFailed, stays, "use a store with conditional puts", is[*s3.NotConditionalError]},
		{"missing", exitFailed, stays, "create what is missing, or correct its name", func(err error) bool {
			return is[*kafka.MissingError](err) || answered(err, 404)
		}},
		{"denied", exitFailed, stays, "correct the credentials, or grant what the message names", func(err error) bool {
			return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || answered(err, 401, 403) || asked(err, (*kafka.RequestError).Denied)
		}},
		{"disk_full", exitFailed, stays, "free space on that disk; the next run goes on", func(err error) bool {
			return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
		}},
		{"disk", exitFailed, stays, "check that disk; the next run goes on", func(err error) bool { return errors.Is(err, syscall.EIO) }},
		{"throttled", exitFailed, passes, "nothing, unless it lasts: then ask less of the bucket, or have its limits raised", func(err error) bool {
			return s3.Passes(err) == retry.Throttled
		}},
		{"s3_away", exitFailed, passes, "nothing, unless it lasts: then see to S3, or to the way there", func(err error) bool { return s3.Passes(err) == retry.Transient }},
		{"kafka_away", exitFailed, passes, "nothing, unless it lasts: then see to the brokers, or to the way there", func(err error) bool {
			return asked(err, (*kafka.RequestError).Passes)
		}},
		{"stalled", exitFailed, passes, "nothing, unless it lasts: then find the open transaction (kafka-transactions.sh find-hanging) and abort it", is[*kafka.StalledError]},
		{"conflict", exitFailed, passes, "nothing: the next run goes on from what the table holds then", func(err error) bool {
			return is[*commitlog.ConflictError](err) || is[*commitlog.UnknownError](err)
		}},
		{"failed", exitFailed, stays, "see to what the message names; the next run goes on", func(error) bool { return true }},
	}
}

func kindOf(err error) kind {
	all := kinds()
	return all[slices.IndexFunc(all, func(k kind) bool { return k.fits(err) })]
}

func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	return kindOf(err).exit
}

// judge is what an error means to an operator, with the way out that it brings itself, if it does.
func judge(err error) batch.Verdict {
	k := kindOf(err)
	remedy := ""
	var knows interface{ Remedy() string }
	if errors.As(err, &knows) {
		remedy = knows.Remedy()
	}
	return batch.Verdict{Kind: k.name, Class: k.class, Remedy: cmp.Or(remedy, k.remedy)}
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// answered says whether S3 has answered with one of the statuses.
func answered(err error, statuses ...int) bool {
	var answer *s3.Error
	return errors.As(err, &answer) && slices.Contains(statuses, answer.Status)
}

// asked says what a request to Kafka, if err is of one, says of itself.
func asked(err error, what func(*kafka.RequestError) bool) bool {
	var request *kafka.RequestError
	return errors.As(err, &request) && what(request)
}
