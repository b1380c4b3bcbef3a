package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// CgroupLimit is the least memory limit, in bytes, of the process's cgroup and those around it, of version 1 or 2. root is
// the machine's file system; where it has no cgroups there is no limit.
func CgroupLimit(root fs.FS) (limit int64, limited bool, err error) {
	list, err := fs.ReadFile(root, "proc/self/cgroup")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	limit = math.MaxInt64
	for line := range strings.Lines(string(list)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if fields[1] == "memory" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if fields[1] != "" {
			continue
		}
		least, err := leastLimit(root, mount, fields[2], file)
		if err != nil {
			return 0, false, err
		}
		limit = min(limit, least)
	}
	return limit, limit < unlimited, nil
}

// unlimited is from where on a limit is none: version 1 has the greatest multiple of the page size instead of a word.
const unlimited = math.MaxInt64 / 2

// leastLimit looks at a group and those above it. Those that a container does not see are passed over.
func leastLimit(root fs.FS, mount, group, file string) (int64, error) {
	least := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		text, err := fs.ReadFile(root, path.Join(mount, group, file))
		switch word := strings.TrimSpace(string(text)); {
		case errors.Is(err, fs.ErrNotExist), err == nil && word == "max":
		case err != nil:
			return 0, err
		default:
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", path.Join("/", mount, group, file), err)
			}
			least = min(least, n)
		}
		if group == "/" {
			return least, nil
		}
	}
}
