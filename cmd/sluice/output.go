package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// output is the form of a verb's result: a table for people, or one JSON document.
type output struct{ form string }

func (o *output) flag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.form, "output", "o", "table", "form of the result: table or json")
}

func (o *output) check() error {
	if o.form != "table" && o.form != "json" {
		return usageError{fmt.Errorf("--output %q: write table or json", o.form)}
	}
	return nil
}

// print writes document as JSON, or what people prints.
func (o *output) print(w io.Writer, document any, people func(w io.Writer)) error {
	if o.form == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(document)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	people(t)
	return t.Flush()
}

// row writes one line of a table.
func row(w io.Writer, cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	fmt.Fprintln(w, strings.TrimRight(strings.Join(texts, "\t"), "\t "))
}

// number writes an integer with thin groups, 1,234,567.
func number(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// several writes how many there are of what one of is called so: 1 file, 2 files.
func several(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + one + "s"
}

// counts writes numbers by name, GetObject=1 PutObject=3.
func counts(of map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, of[name]))
	}
	return strings.Join(parts, " ")
}

// size writes a number of bytes for people.
func size(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	i := -1
	for f >= 1000 && i < len(units)-1 {
		f /= 1000
		i++
	}
	return fmt.Sprintf("%.1f %cB", f, units[i])
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// known writes -1, which stands for "none", as a dash.
func known(n int64) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// list is a table, or a JSON document with an array, that is printed as it comes.
type list struct {
	w     io.Writer
	table *tabwriter.Writer // nil for JSON
	n     int
	name  string
}

// flushRows is after how many rows a table's columns may get other widths.
const flushRows = 200

// list begins a list of that name in the document, with those heads over the columns.
func (o *output) list(w io.Writer, name string, heads ...any) *list {
	l := &list{w: w, name: name}
	if o.form != "json" {
		l.table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		row(l.table, heads...)
	}
	return l
}

func (l *list) add(document any, cells ...any) error {
	l.n++
	if l.table != nil {
		row(l.table, cells...)
		if l.n%flushRows == 0 {
			return l.table.Flush()
		}
		return nil
	}
	before := ",\n    "
	if l.n == 1 {
		before = fmt.Sprintf("{\n  %q: [\n    ", l.name)
	}
	var b bytes.Buffer
	b.WriteString(before)
	e := json.NewEncoder(&b)
	e.SetIndent("    ", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(document); err != nil {
		return err
	}
	_, err := l.w.Write(bytes.TrimRight(b.Bytes(), "\n"))
	return err
}

func (l *list) end() error {
	switch {
	case l.table != nil:
		return l.table.Flush()
	case l.n == 0:
		_, err := fmt.Fprintf(l.w, "{\n  %q: []\n}\n", l.name)
		return err
	}
	_, err := io.WriteString(l.w, "\n  ]\n}\n")
	return err
}

// told writes -1, which stands for a number that is not known, as a question mark.
func told(n int64) string {
	if n < 0 {
		return "?"
	}
	return fmt.Sprint(n)
}
