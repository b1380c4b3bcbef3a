package vacuum

import (
	"slices"
	"strings"
)

const changeData = "_change_data"

// hidden says whether a file is no concern of a vacuum: by the name of its folder, or its own. Folders of partitions are not
// hidden, whatever the column's name begins with; "metadata" is what an Iceberg table keeps beside the same files.
func hidden(key string, partitions []string) bool {
	elements := strings.Split(key, "/")
	for i, name := range elements {
		folder := i < len(elements)-1
		switch {
		case folder && i == 0 && name == changeData:
		case folder && isPartition(name, partitions):
		case name[0] == '_' || name[0] == '.', folder && i == 0 && name == "metadata":
			return true
		}
	}
	return false
}

// isPartition says whether a folder is named after a partition column and its value, as Hive does.
func isPartition(folder string, partitions []string) bool {
	return slices.ContainsFunc(partitions, func(column string) bool { return strings.HasPrefix(folder, column+"=") })
}
