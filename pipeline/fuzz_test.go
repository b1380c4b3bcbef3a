package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzParse looks for input that panics, fails with anything but Faults, or loads into a file that is not whole.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/faults/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("a: &a [*a]\nname: *a"))
	f.Add([]byte("\xff\xfea\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("dir/p.yaml", data, environment)
		var faults Faults
		switch {
		case err == nil:
			checkWhole(t, file)
		case !errors.As(err, &faults) || len(faults) == 0:
			t.Errorf("not Faults: %#v", err)
		default:
			for _, fault := range faults {
				if fault.Line < 1 || fault.Column < 1 || fault.Problem == "" {
					t.Errorf("incomplete fault: %#v", fault)
				}
			}
		}
	})
}

func checkWhole(t *testing.T, f *File) {
	if f.Name == "" || f.Table.Path == "" || f.Checkpoint == "" || (f.Source.Files == nil) == (f.Source.Kafka == nil) {
		t.Errorf("incomplete file: %+v", f)
	}
	if f.Batch.MaxRecords < 1 || f.Batch.MaxBytes < 1 || f.Batch.MaxFiles < 1 || f.Batch.MinRecords < 0 || f.Batch.MaxDelay < 0 {
		t.Errorf("limits: %+v", f.Batch)
	}
	for _, c := range f.Columns {
		if c.Name == "" || c.Type == nil {
			t.Errorf("incomplete column: %+v", c)
		}
	}
	if len(f.Fingerprint()) != 32 {
		t.Error("no fingerprint")
	}
	if again, err := ParseTrigger(f.Trigger.String()); err != nil || again != f.Trigger {
		t.Errorf("trigger %v does not read back: %v", f.Trigger, err)
	}
}

// FuzzQuote checks that any text survives being written into a pipeline file.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"a", "yes", "$x", "${A:-b}", "12", "\"\\\n", "- x", "a: b #c", "\u2028\ufeff\x7f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || !utf8.ValidString(s) || len(s) > 1<<16 {
			return
		}
		text := "name: x\nsource: {files: {path: landing}}\ntable: {path: lake/t, properties: {a: " + quoteValue(s) + "}}\n"
		file, err := Parse("p.yaml", []byte(text), nil)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if got := file.Table.Properties["a"]; got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}
