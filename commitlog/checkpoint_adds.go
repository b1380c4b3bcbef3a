package commitlog

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// noFile marks the rows that are no add.
const noFile = math.MaxUint32

// adds takes the row group's adds, column by column, and leaves their statistics where they are: in that of the run, whose version and
// key are set.
func (g *rowGroup) adds(files *Files, run statsRun) error {
	path := g.leaf("add", "path")
	if path == nil {
		return nil
	}
	files.grow(int(g.rows))
	run.group, run.first = g.index, files.rows.n
	vectors := g.vectors("add")
	ids := make([]uint32, g.rows) // by row
	for row := range ids {
		v, ok, err := path.next()
		if err != nil {
			return err
		}
		dv, err := vectors.next()
		if err != nil {
			return err
		}
		if ids[row] = noFile; ok {
			if len(v.ByteArray()) == 0 {
				return errors.New("an empty path")
			}
			ids[row] = files.insert(v.ByteArray(), dv)
		}
	}
	if run.n = files.rows.n - run.first; run.n > 0 {
		files.runs = append(files.runs, run)
	}
	for _, read := range []func(*Files, []uint32) error{g.numbers, g.partitionValues, g.tags} {
		if err := read(files, ids); err != nil {
			return err
		}
	}
	return nil
}

// vectors reads the columns of a deletion vector.
type vectors struct{ kind, path, offset, size, cardinality *leaf }

func (g *rowGroup) vectors(action string) *vectors {
	at := func(name string) *leaf { return g.leaf(action, "deletionVector", name) }
	return &vectors{at("storageType"), at("pathOrInlineDv"), at("offset"), at("sizeInBytes"), at("cardinality")}
}

// next is the next row's, nil when it has none.
func (d *vectors) next() (*DeletionVector, error) {
	if d.kind == nil {
		return nil, nil
	}
	kind, there, err := d.kind.next()
	path, ok1, err1 := d.path.next()
	offset, at, err2 := d.offset.next()
	size, ok2, err3 := d.size.next()
	cardinality, ok3, err4 := d.cardinality.next()
	if err := errors.Join(err, err1, err2, err3, err4); err != nil || !there {
		return nil, err
	}
	if !ok1 || !ok2 || !ok3 {
		return nil, errors.New("deletionVector without pathOrInlineDv, sizeInBytes or cardinality")
	}
	v := &DeletionVector{
		StorageType: string(kind.ByteArray()), PathOrInlineDv: string(path.ByteArray()),
		SizeInBytes: int32(intOf(size)), Cardinality: intOf(cardinality),
	}
	if at {
		n := int32(intOf(offset))
		v.Offset = &n
	}
	return v, nil
}

func (g *rowGroup) numbers(files *Files, ids []uint32) error {
	sized := 0
	for _, column := range []struct {
		name string
		set  func(id uint32, n int64)
	}{
		{"size", func(id uint32, n int64) {
			if r := files.rows.at(id); r.dead {
				r.size = n
			} else {
				files.setSize(r, n)
			}
			sized++
		}},
		{"modificationTime", func(id uint32, n int64) { files.rows.at(id).modified = n }},
		{"baseRowId", files.base.set},
		{"defaultRowCommitVersion", files.since.set},
	} {
		l := g.leaf("add", column.name)
		if l == nil {
			continue
		}
		for _, id := range ids {
			v, ok, err := l.next()
			if err != nil {
				return fmt.Errorf("%s: %w", column.name, err)
			}
			if ok && id != noFile {
				column.set(id, intOf(v))
			}
		}
	}
	if sized != count(ids) {
		return errors.New("a file without size")
	}
	return nil
}

func count(ids []uint32) int {
	n := 0
	for _, id := range ids {
		if id != noFile {
			n++
		}
	}
	return n
}

func (g *rowGroup) partitionValues(files *Files, ids []uint32) error {
	m, err := g.mapping("add", "partitionValues")
	if err != nil {
		return err
	}
	if m == nil {
		return errors.New("files without partitionValues")
	}
	var tuple, last []byte
	known, entries := uint32(noFile), 0
	for _, id := range ids {
		tuple, entries = tuple[:0], 0
		ok, err := m.next(func(key, value []byte, there bool) {
			tuple = appendTupleValue(tuple, key, value, there)
			entries++
		})
		switch {
		case err != nil:
			return fmt.Errorf("partitionValues: %w", err)
		case id == noFile:
			continue
		case !ok:
			return errors.New("a file without partitionValues")
		}
		if known == noFile || !bytes.Equal(tuple, last) {
			known = files.tuples.id(tuple)
			last = append(last[:0], tuple...)
		}
		files.rows.at(id).tuple = known
	}
	return nil
}

// tags takes what few files have.
func (g *rowGroup) tags(files *Files, ids []uint32) error {
	m, err := g.mapping("add", "tags")
	if err != nil {
		return err
	}
	clustering := g.leaf("add", "clusteringProvider")
	for _, id := range ids {
		var tags map[string]string
		if m != nil {
			_, err := m.next(func(key, value []byte, there bool) {
				if tags == nil {
					tags = map[string]string{}
				}
				if there {
					tags[string(key)] = string(value)
				}
			})
			if err != nil {
				return fmt.Errorf("tags: %w", err)
			}
		}
		provider, ok, err := clustering.next()
		if err != nil {
			return fmt.Errorf("clusteringProvider: %w", err)
		}
		if id == noFile || tags == nil && !ok {
			continue
		}
		e := files.extras[id]
		e.tags = tags
		if ok {
			e.clustering = string(provider.ByteArray())
		}
		files.extras[id] = e
	}
	return nil
}
