package pipeline

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/table"
)

const (
	defaultMemory = 512 << 20
	leastMemory   = 128 << 20
	// recordMemory is how often a record is in memory on its way from a file into a row group, at most, with what Go has not
	// collected yet.
	recordMemory = 16
	// besideMemory is what a process takes, in bytes, that Go's memory limit does not count: the program itself.
	besideMemory = 64 << 20
)

func (r *reader) readMemory(dst *int64, v value) {
	n, ok := r.size(v, "512MiB")
	switch {
	case !ok:
	case n < leastMemory:
		r.fault(v, fmt.Sprintf("is less than %s, below which nothing is left for rows", mebibytes(leastMemory)), "write memory: "+mebibytes(leastMemory)+", or more")
	default:
		*dst = n
	}
}

// checkMemory finds fault with records that would not fit.
func (r *reader) checkMemory(f *File) {
	if record := f.Source.Format.JSON.MaxRecordBytes; f.Source.Files != nil && record > f.Memory/recordMemory {
		r.faultAt("memory", fmt.Sprintf("%s is too little for records of %d bytes, the longest that are read: it has to be %d times that", mebibytes(f.Memory), record, recordMemory),
			fmt.Sprintf("write memory: %s, or source.format.json.max_record_bytes: %s", mebibytes(record*recordMemory), mebibytes(f.Memory/recordMemory)))
	}
}

// mebibytes is a size, rounded up, as a pipeline file has it.
func mebibytes(bytes int64) string { return fmt.Sprintf("%dMiB", (bytes+1<<20-1)>>20) }

// accounts are the parts of a pipeline's memory. Half of it is for data; the other half is for copies of that on their way
// through codecs and connections, and for garbage.
type accounts struct {
	budget      *memory.Budget
	fetch       *memory.Account // records of topics, or of the files behind the one being read, that wait to be decoded
	decode      *memory.Account // decoded rows
	write       *memory.Account // rows and row groups on their way into the table, which also borrow all that is free
	quarantine  *memory.Account // and into the quarantine table; nil without
	maintenance *memory.Account // what maintenance beside the run holds; nil without
	upload      *memory.Account // parts of objects on their way into S3; nil for local tables
}

func (f *File) accounts() accounts {
	data := f.Memory / 2
	a := accounts{budget: memory.New(data)}
	if f.Source.Kafka != nil {
		a.fetch = a.budget.Open("fetch", data/8)
	} else {
		a.fetch = a.budget.Open("fetch", data/16)
	}
	a.decode = a.budget.Open("decode", data/8)
	a.write = a.budget.Open("write", data/4)
	if f.OnError.Policy == PolicyQuarantine {
		a.quarantine = a.budget.Open("quarantine", data/16)
	}
	switch {
	case f.Maintenance.Compact.MinFiles > 0:
		a.maintenance = a.budget.Open("maintenance", data/8)
	case f.Maintenance.any():
		a.maintenance = a.budget.Open("maintenance", data/16)
	}
	if isRemote(f.Table.Path) {
		a.upload = a.budget.Open("upload", min(data*7/16, a.budget.Unshared()))
	}
	return a
}

// openFiles is how many files a table keeps open over a batch: one in S3 takes a part's memory, as one that maintenance writes does.
func (p *Pipeline) openFiles() int {
	if p.accounts.upload == nil {
		return table.DefaultOpenFiles
	}
	files := p.remote.client.Stageable()
	if p.accounts.maintenance != nil {
		files = max(1, files-1)
	}
	return min(table.DefaultOpenFiles, files)
}

// checkCgroup refuses a run in a cgroup that has less memory than the run may take: it would be killed, sooner or later.
func (f *File) checkCgroup(root fs.FS) error {
	limit, limited, err := memory.CgroupLimit(root)
	if err != nil {
		return fmt.Errorf("%s: find the cgroup's memory limit: %w", f.Name, err)
	}
	if !limited || limit >= f.Memory+besideMemory {
		return nil
	}
	fix := fmt.Sprintf("raise the limit to %s", mebibytes(f.Memory+besideMemory))
	if fits := limit - besideMemory; fits >= leastMemory {
		fix = fmt.Sprintf("write memory: %dMiB, or %s", fits>>20, fix)
	}
	return Faults{f.Fault("memory", fmt.Sprintf("%s, and %s beside it for the program itself, do not fit into this cgroup's limit of %s", mebibytes(f.Memory), mebibytes(besideMemory), mebibytes(limit)), fix)}
}

// machine is where the kernel says what a process may take.
func machine() fs.FS { return os.DirFS("/") }
