package json

import "bytes"

// detect tells the layout of a file from its beginning; whole says that there is no more of it.
//
//   - A file whose first byte, but for space, is neither { nor [ has lines.
//   - When its first line that is not blank is a whole value, it has lines; but a file of that one line alone is an array
//     when an object is the first thing in it.
//   - When that line is not whole, the file is an array ([) or a document ({), unless the next line begins with the same
//     bracket at a place where no value can stand: then both have lines, and the first is broken.
//   - When the beginning has no whole line, the file is an array if it begins with [ and an object, and has lines if not.
func detect(head []byte, whole bool) Layout {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '[' && head[0] != '{' {
		return LayoutLines
	}
	objects := head[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t\r\n"), []byte{'{'})
	line, rest, ended := bytes.Cut(head, []byte{'\n'})
	rest = bytes.TrimLeft(rest, " \t\r\n")
	shape := shapeOf(line)
	switch {
	case !ended && !whole, shape.closed && len(rest) == 0:
		if objects {
			return LayoutArray
		}
		return LayoutLines
	case shape.closed:
		return LayoutLines
	case len(rest) > 0 && rest[0] == head[0] && !shape.wantsValue:
		return LayoutLines
	case len(rest) == 0 && head[0] == '{':
		return LayoutLines
	case head[0] == '[':
		return LayoutArray
	default:
		return LayoutDocument
	}
}

// lineShape is what a line that begins with a bracket leaves open.
type lineShape struct {
	closed     bool // all brackets are closed
	wantsValue bool // a value may come next
}

func shapeOf(line []byte) lineShape {
	var open []byte
	inString, escaped := false, false
	last := byte(0)
	for _, c := range line {
		switch {
		case inString:
			inString = escaped || c != '"'
			escaped = !escaped && c == '\\'
		case c == '"':
			inString = true
			last = c
		case isSpace(c):
		default:
			if c == '{' || c == '[' {
				open = append(open, c)
			} else if (c == '}' || c == ']') && len(open) > 0 {
				open = open[:len(open)-1]
			}
			last = c
		}
	}
	if len(open) == 0 {
		return lineShape{closed: true}
	}
	inArray := open[len(open)-1] == '['
	return lineShape{wantsValue: last == '[' || last == ':' || last == ',' && inArray}
}
