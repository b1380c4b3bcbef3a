package json

import "bytes"

// values cuts an array into its elements, or a document into its values.
func (f *framing) values(layout Layout) error {
	v := valueFramer{framing: f, line: 1}
	var err error
	if layout == LayoutArray {
		err = v.array()
	} else {
		err = v.document()
	}
	if err != nil {
		return err
	}
	return f.flush()
}

type valueFramer struct {
	*framing
	line int64 // of the next byte
	lost bool  // the rest of the file is a fault
}

// space moves over space and returns the byte behind it, which stays, or 0 at the end of the file.
func (v *valueFramer) space() (byte, bool, error) {
	for {
		rest := v.in.rest()
		for i, c := range rest {
			if !isSpace(c) {
				v.take(i)
				return c, true, nil
			}
			if c == '\n' {
				v.line++
			}
		}
		v.take(len(rest))
		if v.in.ended {
			return 0, false, nil
		}
		if err := v.refill(); err != nil {
			return 0, false, err
		}
	}
}

func (v *valueFramer) document() error {
	for {
		c, ok, err := v.space()
		switch {
		case err != nil || !ok:
			return err
		case bytes.IndexByte([]byte(",:]}"), c) >= 0:
			return v.tail("expected a value, found %q", string(rune(c)))
		}
		if err := v.value("the file ends inside a value"); err != nil {
			return err
		}
	}
}

func (v *valueFramer) array() error {
	c, ok, err := v.space()
	switch {
	case err != nil || !ok:
		return err
	case c != '[':
		return v.tail("expected an array")
	}
	v.take(1)
	c, ok, err = v.space()
	switch {
	case err != nil:
		return err
	case ok && c == ']':
		v.take(1)
		return v.behind()
	}
	for {
		more, err := v.element()
		if err != nil || !more {
			return err
		}
	}
}

// element cuts one element and the comma behind it. It returns false at the end of the array, or where nothing more can be
// cut.
func (v *valueFramer) element() (bool, error) {
	c, ok, err := v.space()
	if err != nil {
		return false, err
	}
	if !ok {
		return false, v.addFault(nil, v.line, "the file ends inside the array")
	}
	if c == ',' || c == ']' {
		err = v.addFault(nil, v.line, "an element is missing in front of %q", string(rune(c)))
	} else {
		err = v.value("the file ends inside an element of the array")
	}
	if err != nil {
		return false, err
	}
	c, ok, err = v.space()
	switch {
	case err != nil:
		return false, err
	case !ok && !v.lost:
		return false, v.addFault(nil, v.line, "the file ends inside the array")
	case !ok:
		return false, nil
	case c == ',':
		v.take(1)
		return true, nil
	case c == ']':
		v.take(1)
		return false, v.behind()
	default:
		return false, v.tail("expected ',' or ']' behind an element, found %q", string(rune(c)))
	}
}

// behind reports what stands behind the array.
func (v *valueFramer) behind() error {
	_, ok, err := v.space()
	if err != nil || !ok {
		return err
	}
	return v.tail("more behind the end of the array")
}

// value cuts the value that begins at the next byte. One that does not end with the file is a fault with that reason.
func (v *valueFramer) value(unended string) error {
	line, at := v.line, 0
	var scan valueScan
	for {
		n, done := scan.scan(v.in.rest()[at:])
		at += n
		switch {
		case at > v.options.MaxRecordBytes:
			return v.longValue(&scan, at, done)
		case done || v.in.ended && scan.bare:
			value := v.take(at)
			v.line += int64(bytes.Count(value, []byte{'\n'}))
			return v.add(value, line)
		case v.in.ended:
			return v.tail("%s", unended)
		}
		if err := v.refill(); err != nil {
			return err
		}
	}
}

// longValue moves over a value that is longer than a record may be. Its first at bytes have been scanned.
func (v *valueFramer) longValue(scan *valueScan, at int, done bool) error {
	line, long := v.line, int64(0)
	var kept []byte
	for {
		text := v.take(at)
		kept = keep(kept, text)
		v.line += int64(bytes.Count(text, []byte{'\n'}))
		long += int64(at)
		if done || v.in.ended {
			return v.addFault(kept, line, "a record of %d bytes is longer than the %d that one may have; its first %d are kept",
				long, v.options.MaxRecordBytes, len(kept))
		}
		if err := v.refill(); err != nil {
			return err
		}
		at, done = scan.scan(v.in.rest())
	}
}

// tail makes one fault of all that is left of the file, in which no more records can be told apart.
func (v *valueFramer) tail(format string, args ...any) error {
	v.lost = true
	line, long := v.line, int64(0)
	var kept []byte
	for {
		text := v.take(len(v.in.rest()))
		kept = keep(kept, text)
		long += int64(len(text))
		if v.in.ended {
			break
		}
		if err := v.refill(); err != nil {
			return err
		}
	}
	args = append(args, long, len(kept))
	return v.addFault(kept, line, format+" (the last %d bytes of the file are one bad record; its first %d are kept)", args...)
}
