package zorder

// source tells rows in the order of their keys, one at a call. A row is valid until the next call.
type source func() (key uint64, row []byte, ok bool, err error)

// merged are the rows of several sources in order. Where keys are the same, those of the earlier source are first.
func merged(sources []source) source {
	m := &merger{}
	for i, s := range sources {
		m.heads = append(m.heads, head{next: s, number: i})
	}
	return m.next
}

// merger is a heap of sources by their next rows.
type merger struct {
	heads []head
	begun bool
}

type head struct {
	key    uint64
	number int // of the source
	row    []byte
	next   source
}

func (m *merger) next() (key uint64, row []byte, ok bool, err error) {
	if !m.begun {
		err = m.begin()
	} else if len(m.heads) > 0 {
		err = m.advance(0)
		m.down(0)
	}
	if err != nil || len(m.heads) == 0 {
		return 0, nil, false, err
	}
	return m.heads[0].key, m.heads[0].row, true, nil
}

func (m *merger) begin() error {
	m.begun = true
	for i := len(m.heads) - 1; i >= 0; i-- {
		if err := m.advance(i); err != nil {
			return err
		}
	}
	for i := len(m.heads)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return nil
}

// advance takes the next row of a source; one that has none is left out, and the last takes its place.
func (m *merger) advance(i int) (err error) {
	h := &m.heads[i]
	ok := false
	if h.key, h.row, ok, err = h.next(); !ok {
		last := len(m.heads) - 1
		m.heads[i] = m.heads[last]
		m.heads = m.heads[:last]
	}
	return err
}

// down moves a source to below those that come before it.
func (m *merger) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heads); child++ {
			if m.heads[child].before(&m.heads[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heads[i], m.heads[least] = m.heads[least], m.heads[i]
		i = least
	}
}

func (h *head) before(other *head) bool {
	return h.key < other.key || h.key == other.key && h.number < other.number
}
