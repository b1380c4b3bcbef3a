package table

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// nullFolder stands for null in Hive's names of folders.
const nullFolder = "__HIVE_DEFAULT_PARTITION__"

// maxFolderName keeps names of folders far from what file systems refuse.
const maxFolderName = 120

// partitionFolder returns where a partition's files lie, relative to the table, with a slash behind; empty without
// partition columns. Values are nil for null.
//
// It is Hive's column=value for every column when that is made of [A-Za-z0-9._=-] alone, else one folder named by a hash of
// the values. So a path never needs an escape: readers disagree on those, and the log, not the folder, says what the values
// are.
func partitionFolder(columns []string, values []*string) string {
	if len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	for i, c := range columns {
		value := nullFolder
		if values[i] != nil {
			value = *values[i]
		}
		name := c + "=" + value
		if !plainName(name) {
			return hashedFolder(columns, values)
		}
		b.WriteString(name + "/")
	}
	return b.String()
}

// plainName says whether a folder may have the name: some readers overlook names that begin with a dot or an underscore.
func plainName(name string) bool {
	if len(name) > maxFolderName || name[0] == '_' || name[0] == '.' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._=-", c) >= 0) {
			return false
		}
	}
	return true
}

func hashedFolder(columns []string, values []*string) string {
	h := sha256.New()
	for i, c := range columns {
		if values[i] == nil {
			fmt.Fprintf(h, "%d:%s-", len(c), c)
			continue
		}
		fmt.Fprintf(h, "%d:%s%d:%s", len(c), c, len(*values[i]), *values[i])
	}
	return "p-" + hex.EncodeToString(h.Sum(nil)[:6]) + "/"
}
