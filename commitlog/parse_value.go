package commitlog

// path reads a file's path, which is never empty.
func (p *parser) path() string {
	s := p.string()
	if s == "" {
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
		key := string(name)
		if p.null() {
			return
		}
		m[key] = p.scalar(key)
	})
	return m
}

// partitionValues reads an object of strings and nulls, with the same leniency.
func (p *parser) partitionValues() map[string]*string {
	m := map[string]*string{}
	p.object(func(name []byte) {
		key := string(name)
		if p.null() {
			m[key] = nil
			return
		}
		v := p.scalar(key)
		m[key] = &v
	})
	return m
}

// scalar reads a string, or the text of a number or boolean.
func (p *parser) scalar(key string) string {
	switch p.peek() {
	case '"':
		return p.string()
	case '{', '[':
		p.failf("an object or array where the string %q should be", key)
		return ""
	}
	return string(p.skip())
}
