package commitlog

// path reads a file's path, which is never empty.
func (p *parser) path() []byte {
	s := p.text()
	if len(s) == 0 {
		p.failf("an empty path")
	}
	return s
}

func (p *parser) intPointer() *int64 {
	n := p.int(64)
	return &n
}

func (p *parser) strings() []string {
	list := []string{}
	p.array(func() { list = append(list, p.string()) })
	return list
}

// stringMap reads an object of strings. Numbers and booleans, which other readers take too, become their text; a null is
// as good as absent.
func (p *parser) stringMap() map[string]string {
	m := map[string]string{}
	p.object(func(name []byte) {
		if !p.null() {
			m[string(name)] = string(p.scalar(name))
		}
	})
	return m
}

// partitionValues reads an object of strings and nulls, with the same leniency, into one text; see appendTupleValue.
func (p *parser) partitionValues() []byte {
	start := len(p.tuples)
	p.object(func(name []byte) {
		if p.null() {
			p.tuples = appendTupleValue(p.tuples, name, nil, false)
		} else {
			p.tuples = appendTupleValue(p.tuples, name, p.scalar(name), true)
		}
	})
	return p.tuples[start:len(p.tuples):len(p.tuples)]
}

// scalar reads a string, or the text of a number or boolean.
func (p *parser) scalar(key []byte) []byte {
	switch p.peek() {
	case '"':
		return p.text()
	case '{', '[':
		p.failf("an object or array where the string %q should be", key)
		return nil
	}
	return p.skip()
}
