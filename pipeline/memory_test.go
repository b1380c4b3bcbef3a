package pipeline

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestMemoryTooLittleForTheRestIsAFault(t *testing.T) {
	for text, want := range map[string]string{
		"memory: 1MiB": "memory: is less than 128MiB, below which nothing is left for rows; write memory: 128MiB, or more",
		"memory: 256MiB": "memory: 256MiB is too little for records of 33554432 bytes, the longest that are read: it has to be 16 times that; " +
			"write memory: 512MiB, or source.format.json.max_record_bytes: 16MiB",
		"memory: ${MEMORY}": "memory: environment variable MEMORY is not set",
	} {
		_, err := Parse("p.yaml", []byte(base+text+"\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	kafka := "name: x\nsource: {kafka: {brokers: ['a:1'], topics: [t]}}\ntable: {path: lake/t}\nmemory: 128MiB\n"
	if f := mustParse(t, kafka); f.Memory != 128<<20 {
		t.Errorf("memory %d", f.Memory)
	}
}

func TestSharesOfMemoryLeaveItsHalf(t *testing.T) {
	for _, text := range []string{
		base,
		"name: x\nsource: {kafka: {brokers: ['a:1'], topics: [t]}}\ntable: {path: s3://b/t}\non_error: quarantine\nmemory: 128MiB\n",
	} {
		f := mustParse(t, text)
		var shares int64
		a := f.accounts()
		for _, u := range a.budget.Use() {
			shares += u.Share
		}
		if a.budget.Total() != f.Memory/2 || shares > a.budget.Total() {
			t.Errorf("shares of %d in a budget of %d of %d bytes", shares, a.budget.Total(), f.Memory)
		}
	}
}

func TestRunInACgroupThatIsTooSmallIsRefused(t *testing.T) {
	f := mustParse(t, base)
	for limit, want := range map[string]string{
		"max":        "",
		"603979776":  "",
		"603979775":  "do not fit into this cgroup's limit of 576MiB; write memory: 511MiB, or raise the limit to 576MiB",
		"1048576":    "do not fit into this cgroup's limit of 1MiB; raise the limit to 576MiB",
		"1073741824": "",
	} {
		err := f.checkCgroup(fstest.MapFS{
			"proc/self/cgroup":         {Data: []byte("0::/\n")},
			"sys/fs/cgroup/memory.max": {Data: []byte(limit + "\n")},
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("limit %s: %v", limit, err)
		}
	}
}
