package memory

import (
	"testing"
	"testing/fstest"
)

func TestCgroupLimitIsTheLeastAround(t *testing.T) {
	const none = "9223372036854771712\n"
	for name, c := range map[string]struct {
		files   map[string]string
		limit   int64
		limited bool
	}{
		"no cgroups": {},
		"version 1": {map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:memory:/pods/a\n0::/\n",
			"sys/fs/cgroup/memory/pods/a/memory.limit_in_bytes": "1000000\n",
			"sys/fs/cgroup/memory/pods/memory.limit_in_bytes":   "2000000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":        none,
		}, 1000000, true},
		"version 1, the one around is less": {map[string]string{
			"proc/self/cgroup": "4:memory:/pods/a\n",
			"sys/fs/cgroup/memory/pods/a/memory.limit_in_bytes": none,
			"sys/fs/cgroup/memory/pods/memory.limit_in_bytes":   "2000000\n",
		}, 2000000, true},
		"version 1, unlimited": {map[string]string{
			"proc/self/cgroup":                           "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": none,
		}, 0, false},
		"version 2": {map[string]string{
			"proc/self/cgroup":                "0::/pods/a\n",
			"sys/fs/cgroup/pods/a/memory.max": "max\n",
			"sys/fs/cgroup/pods/memory.max":   "3000000\n",
		}, 3000000, true},
		"version 2, in a container that sees its own group as the root": {map[string]string{
			"proc/self/cgroup":         "0::/pods/a\n",
			"sys/fs/cgroup/memory.max": "4000000\n",
		}, 4000000, true},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		limit, limited, err := CgroupLimit(root)
		if err != nil || limited != c.limited || limited && limit != c.limit {
			t.Errorf("%s: limit %d, %v, %v", name, limit, limited, err)
		}
	}
	broken := fstest.MapFS{
		"proc/self/cgroup":         {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max": {Data: []byte("much")},
	}
	if _, _, err := CgroupLimit(broken); err == nil {
		t.Error("a limit that is no number is passed over")
	}
}
