package files

import "strings"

// temporary tells whether a path has a name that writers give to what they have not finished. The list is in the
// package comment.
func temporary(name string) bool {
	for name != "" {
		var element string
		element, name, _ = strings.Cut(name, "/")
		if temporaryElement(element) {
			return true
		}
	}
	return false
}

func temporaryElement(element string) bool {
	if strings.HasPrefix(element, "_") || strings.HasPrefix(element, ".") {
		return true
	}
	switch encodingOf(element) {
	case gzipped:
		element = element[:len(element)-len(".gz")]
	case zstandard:
		element = element[:len(element)-len(".zst")]
	}
	if strings.HasSuffix(element, "~") {
		return true
	}
	dot := strings.LastIndexByte(element, '.')
	if dot < 0 {
		return false
	}
	switch strings.ToLower(element[dot:]) {
	case ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".filepart", ".inprogress", ".incomplete",
		".pending", ".writing", ".uploading", ".swp", "._copying_":
		return true
	}
	return false
}
