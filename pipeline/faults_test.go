package pipeline

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected faults")

// environment is what the files in testdata see.
func environment(name string) (string, bool) {
	v, ok := map[string]string{
		"NAME": "not a name!", "TRIGGER": "hunter2", "WORD": "hunter2", "KAFKA_PASSWORD": "hunter2", "EMPTY": "",
	}[name]
	return v, ok
}

func TestBrokenFilesReportAllTheirFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no broken files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := Load(file, environment)
			var faults Faults
			if f != nil || !errors.As(err, &faults) {
				t.Fatalf("Load = %v, %v; want Faults", f, err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".faults"
			got := strings.ReplaceAll(faults.Error(), filepath.Dir(file)+"/", "") + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if strings.Contains(got, "hunter2") {
				t.Error("a fault shows a value from the environment")
			}
		})
	}
}
