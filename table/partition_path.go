package table

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// nullFolder stands for null in Hive's names of folders.
const nullFolder = "__HIVE_DEFAULT_PARTITION__"

// maxFolderName keeps names of folders, in bytes, far from what file systems refuse.
const maxFolderName = 120

// partitionFolder returns where a partition's files lie, relative to the table, with a slash behind; empty without
// partition columns. Values are nil for null.
//
// It is Hive's column=value for every column, where all but [A-Za-z0-9._-] of either is percent-encoded; some readers take values from
// there. Where such a name is longer than maxFolderName, or begins with what makes others overlook it, it is one folder named by a
// hash of the values.
func partitionFolder(columns []string, values []*string) string {
	if len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	for i, c := range columns {
		value := nullFolder
		if values[i] != nil {
			value = escaped(*values[i])
		}
		name := escaped(c) + "=" + value
		if len(name) > maxFolderName || name[0] == '_' || name[0] == '.' {
			return hashedFolder(columns, values)
		}
		b.WriteString(name + "/")
	}
	return b.String()
}

// escaped percent-encodes a name or value, in plain ASCII unlike Hive: engines differ in how they write the rest of Unicode in a path.
// A text that is how null is written does not stay so.
func escaped(text string) string {
	const upperHex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
		if plain && (i > 0 || text != nullFolder) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
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
