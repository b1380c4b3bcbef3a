package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// document is the table of results as Markdown has it: rows that one run found, or several.
type document []entry

// entry is a row of it.
type entry struct {
	name    string
	lines   [][]string // cells of columnsOfTable; the first line has the row's title
	made    string     // the run that made it, in words
	leftOut bool       // the run tells only why there is nothing
}

func columnsOfTable() []string {
	return []string{"work", "who", "CPU, ratio", "wall, ratio", "CPU s", "wall s", "1000 records a CPU s", "peak RSS MB", "output MB"}
}

// markdown is the table, with the number of its run behind each row, and the list of the runs.
func (d document) markdown() string {
	var table, list strings.Builder
	var runs []string
	line := func(cells ...string) { fmt.Fprintf(&table, "| %s |\n", strings.Join(cells, " | ")) }
	line(append(columnsOfTable(), "run")...)
	table.WriteString(strings.Repeat("|---", len(columnsOfTable())+1) + "|\n")
	for _, e := range d {
		at := slices.Index(runs, e.made)
		if at < 0 {
			at = len(runs)
			runs = append(runs, e.made)
			fmt.Fprintf(&list, "%d. %s\n", at+1, e.made)
		}
		for i, cells := range e.lines {
			run := ""
			if i == 0 {
				run = strconv.Itoa(at + 1)
			}
			line(append(slices.Clone(cells), run)...)
		}
	}
	return table.String() + "\n" + list.String()
}

// parseDocument reads what markdown has written.
func parseDocument(text string) (document, error) {
	var d document
	runs := map[string]string{}
	numbered := regexp.MustCompile(`^([0-9]+)\. (.*)$`)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if run := numbered.FindStringSubmatch(line); run != nil {
			runs[run[1]] = run[2]
			continue
		}
		cells, isRow := cellsOf(line)
		switch {
		case !isRow || cells[0] == columnsOfTable()[0]:
			continue
		case len(cells) != len(columnsOfTable())+1:
			return nil, fmt.Errorf("a row of results has %d cells instead of %d: delete it: %s", len(cells), len(columnsOfTable())+1, line)
		case cells[0] != "":
			name, _, _ := strings.Cut(cells[0], " (")
			d = append(d, entry{name: name, made: cells[len(cells)-1], leftOut: strings.HasPrefix(cells[1], "left out: ")})
		case len(d) == 0:
			return nil, errors.New("the results begin with a row without a name: delete it: " + line)
		}
		last := &d[len(d)-1]
		last.lines = append(last.lines, cells[:len(cells)-1])
	}
	for i, e := range d {
		made, known := runs[e.made]
		if !known {
			return nil, fmt.Errorf("the results name no run %q, which made the row %s: delete the row", e.made, e.name)
		}
		d[i].made = made
	}
	return d, nil
}

func cellsOf(line string) (cells []string, isRow bool) {
	inner, begins := strings.CutPrefix(line, "| ")
	inner, ends := strings.CutSuffix(inner, " |")
	return strings.Split(inner, " | "), begins && ends
}

// over is the document with the rows of an older one that are not in it, or that it leaves out, in the order of the names. Rows without such a
// name are dropped: nobody can measure them again.
func (d document) over(older document, names []string) document {
	var out document
	for _, name := range names {
		named := func(e entry) bool { return e.name == name }
		is, was := slices.IndexFunc(d, named), slices.IndexFunc(older, named)
		switch {
		case was >= 0 && (is < 0 || d[is].leftOut):
			out = append(out, older[was])
		case is >= 0:
			out = append(out, d[is])
		}
	}
	return out
}

// into puts the results into a document, in place of those of the same rows. Those of other rows stay.
func (d document) into(path string, names []string) error {
	const begin, end = "<!-- bench -->\n", "<!-- /bench -->"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(begin))
	older, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return errors.New(path + " has no place for results: write the lines " + begin + end)
	}
	were, err := parseDocument(string(older))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, slices.Concat(before, []byte(begin), []byte(d.over(were, names).markdown()), []byte(end), after), 0o666)
}
