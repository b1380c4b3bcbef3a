package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes bounds a pipeline file.
const maxFileBytes = 1 << 20

// Load reads and checks the pipeline file at path. env looks up environment variables (os.LookupEnv); nil has none.
// Everything that is wrong with the file's content comes as Faults.
func Load(path string, env func(string) (string, bool)) (*File, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read pipeline file: %w; check the path, or make a new file with sluice init", err)
	}
	return Parse(path, data, env)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}

// Parse checks the bytes of a pipeline file. name is its path: it is shown in faults, and its folder is what relative
// paths in the file are relative to; nothing is read from there. Any error is Faults.
func Parse(name string, data []byte, env func(string) (string, bool)) (*File, error) {
	r := &reader{file: name, env: env, positions: map[string]Position{}}
	f := &File{origin: name, positions: r.positions}
	if root, ok := r.document(data); ok {
		r.readPipeline(f, value{node: root})
	}
	if len(r.faults) > 0 {
		r.faults.sort()
		return nil, r.faults
	}
	return f, nil
}

// document returns the root of the only YAML document in data.
func (r *reader) document(data []byte) (*yaml.Node, bool) {
	start := value{node: &yaml.Node{Line: 1, Column: 1}}
	if len(data) > maxFileBytes {
		r.fault(start, fmt.Sprintf("the file is longer than %d bytes", maxFileBytes), "name a pipeline file, not a data file")
		return nil, false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		r.fault(start, "the file is empty", "write name, source and table; sluice init makes a file to begin with")
		return nil, false
	} else if err != nil {
		r.syntaxFault(data, err)
		return nil, false
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		r.fault(value{node: &next}, "a second YAML document begins here", "write one pipeline a file")
		return nil, false
	case !errors.Is(err, io.EOF):
		r.syntaxFault(data, err)
		return nil, false
	}
	return resolved(doc.Content[0]), true
}

// syntaxFault gives a YAML error the place of the first character of its line, which is all that the error tells.
func (r *reader) syntaxFault(data []byte, err error) {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(problem); m != nil {
		line, _ = strconv.Atoi(m[1])
		problem = problem[len(m[0]):]
	}
	column := 1
	if lines := bytes.Split(data, []byte("\n")); line >= 1 && line <= len(lines) {
		text := lines[line-1]
		column += len(text) - len(bytes.TrimLeft(text, " "))
	}
	if at, ok := r.bareVariable(data); ok {
		r.fault(at, "is not YAML: ${…} inside of braces or brackets is without quotes", `write "${NAME}"`)
		return
	}
	at := value{node: &yaml.Node{Line: max(line, 1), Column: column}}
	r.fault(at, "is not YAML: "+problem,
		`check the indentation, colons and brackets from here and on the line above; inside {…} and […], text with commas, brackets or ${NAME} needs quotes`)
}

func (r *reader) readPipeline(f *File, root value) {
	fields, ok := r.section(root, "")
	if !ok {
		return
	}
	if v, ok := r.need(fields, root, "name", "my-pipeline"); ok {
		f.Name, _ = r.name(v)
	}
	if v, ok := r.need(fields, root, "source", "{files: {path: landing}}"); ok {
		r.readSource(f, v)
	}
	if v, ok := fields["columns"]; ok {
		f.Columns = r.columns(v, f.Source)
	}
	if v, ok := r.need(fields, root, "table", "{path: lake/my_table}"); ok {
		f.Table = r.table(v)
	}
	r.checkPartitions(f.Table.PartitionBy, f.Columns)
	if v, ok := fields["checkpoint"]; ok {
		f.Checkpoint, _ = r.place(v, "checkpoints/my-pipeline")
	} else if f.Table.Path != "" {
		f.Checkpoint = joinPath(f.Table.Path, "_sluice", f.Name)
	}
	if v, ok := fields["storage"]; ok {
		f.Storage = r.storage(v)
	}
	f.Trigger = Trigger{Mode: AvailableNow}
	if v, ok := fields["trigger"]; ok {
		r.readTrigger(&f.Trigger, v)
	}
	f.Batch = r.batch(fields)
	f.OnError = r.onError(fields)
	f.Memory = defaultMemory
	if v, ok := fields["memory"]; ok {
		r.readMemory(&f.Memory, v)
	}
	r.checkMemory(f)
	f.Maintenance = r.maintenance(fields)
	r.checkFolders(f)
	r.checkStorage(f)
}

// bareVariable finds the first ${ inside of a line's braces or brackets that no quote is before.
func (r *reader) bareVariable(data []byte) (value, bool) {
	bare := regexp.MustCompile(`^[^#'"]*?[^$#'"][{\[][^#'"]*?\$\{`)
	for i, line := range bytes.Split(data, []byte("\n")) {
		if m := bare.Find(line); m != nil {
			return value{node: &yaml.Node{Line: i + 1, Column: utf8.RuneCount(m) - 1}}, true
		}
	}
	return value{}, false
}

const maxNameLength = 128

func (r *reader) name(v value) (string, bool) {
	s, ok := r.textScalar(v, "my-pipeline")
	if !ok {
		return "", false
	}
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(s.text) || len(s.text) > maxNameLength {
		r.fault(v, s.shown()+" is not a pipeline name, which is also the name of a folder",
			fmt.Sprintf("write a letter or digit, then letters, digits, '.', '_' and '-', at most %d in all", maxNameLength))
		return "", false
	}
	return s.text, true
}
