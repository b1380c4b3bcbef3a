package table

// ArgumentError says that what the caller asks for cannot be had of this table, or of any: a column that is not there, a property with a value
// that it does not take, a path that is none. What it names has to be corrected; asking again does not help.
type ArgumentError struct{ Err error }

func (e *ArgumentError) Error() string { return e.Err.Error() }

func (e *ArgumentError) Unwrap() error { return e.Err }

// argument is an *ArgumentError for what stands against an argument, nil for nothing.
func argument(err error) error {
	if err == nil {
		return nil
	}
	return &ArgumentError{err}
}
