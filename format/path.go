package format

// Path leads from a record to a value in it: meta.producer.timestamp, tags[0], [3].
type Path []Step

// Step is one step of a Path: into a field, or into an array's element when Field is empty.
type Step struct {
	Field string
	Index int
}
