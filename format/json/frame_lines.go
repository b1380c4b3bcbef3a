package json

import "bytes"

// lines cuts at line feeds. A carriage return in front of one belongs to it. Blank lines count as lines, and are no
// records. It returns how many lines there are.
func (f *framing) lines() (int64, error) {
	for line := int64(1); ; line++ {
		line += f.usual(line)
		text, long, err := f.line()
		switch {
		case err != nil:
			return 0, err
		case text == nil:
			return line - 1, f.flush()
		case long > 0:
			err = f.addFault(text, line, "a line of %d bytes is longer than the %d that a record may have; its first %d are kept",
				long, f.options.MaxRecordBytes, len(text))
		case !isBlank(text):
			err = f.add(text, line)
		}
		if err != nil {
			return 0, err
		}
	}
}

// usual adds the next lines, of which the first has that number, as long as the block has room for another record behind them and
// they are as nearly all are: whole, not too long, and without space in front. It returns how many.
func (f *framing) usual(line int64) int64 {
	rest, values, positions := f.in.rest(), f.block.Values, f.block.Positions
	for len(values) < f.options.BlockRecords-1 {
		end := bytes.IndexByte(rest, '\n')
		if end <= 0 || rest[0] <= ' ' {
			break
		}
		text := rest[:end]
		if text[end-1] == '\r' {
			text = text[:end-1]
		}
		if len(text) > f.options.MaxRecordBytes {
			break
		}
		values, positions = append(values, text), append(positions, line)
		rest = rest[end+1:]
		line++
	}
	added := len(values) - len(f.block.Values)
	f.block.Values, f.block.Positions = values, positions
	f.take(f.in.to - f.in.from - len(rest))
	return int64(added)
}

// line returns the next line without its end, or nil at the end of the file. Of one that is too long it returns the
// beginning, and the whole length.
func (f *framing) line() (text []byte, long int64, err error) {
	for {
		rest := f.in.rest()
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			text, long = f.bounded(f.take(end + 1)[:end])
			return text, long, nil
		}
		if f.in.ended {
			if len(rest) == 0 {
				return nil, 0, nil
			}
			text, long = f.bounded(f.take(len(rest)))
			return text, long, nil
		}
		if len(rest) > f.options.MaxRecordBytes+1 {
			return f.longLine()
		}
		if err := f.refill(); err != nil {
			return nil, 0, err
		}
	}
}

func (f *framing) bounded(text []byte) ([]byte, int64) {
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	if len(text) <= f.options.MaxRecordBytes {
		return text, 0
	}
	return text[:min(len(text), keptBytes)], int64(len(text))
}

// longLine moves over a line that is longer than a record may be, without holding more of it than the beginning.
func (f *framing) longLine() (kept []byte, long int64, err error) {
	for {
		rest := f.in.rest()
		end := bytes.IndexByte(rest, '\n')
		if end >= 0 {
			return keep(kept, f.take(end + 1)[:end]), long + int64(end), nil
		}
		kept = keep(kept, f.take(len(rest)))
		long += int64(len(rest))
		if f.in.ended {
			return kept, long, nil
		}
		if err := f.refill(); err != nil {
			return nil, 0, err
		}
	}
}

// keep copies the next bytes of something too long behind what is kept of it, within bounds.
func keep(kept, next []byte) []byte {
	return append(kept, next[:min(len(next), keptBytes-len(kept))]...)
}

func isBlank(text []byte) bool {
	for _, c := range text {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
