package proof

import (
	"bytes"
	"os"
	"testing"
)

// TestProgramLeavesOutMethodsThatNobodyCalls: once anything that is linked looks up methods by names that are not constants, the
// linker keeps all exported methods of all types, which makes the program, and with it what a run that idles has in memory, a third
// larger. Templates do so, and cobra has them linked only when everything is kept.
func TestProgramLeavesOutMethodsThatNobodyCalls(t *testing.T) {
	program, err := os.ReadFile(binary(t, "sluice"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(program, []byte("text/template.(*state).evalField")) {
		t.Error("the program has templates linked in: find out what looks up methods by `go build -ldflags=-dumpdep ./cmd/sluice 2>&1 | grep ReflectMethod`")
	}
	if !bytes.Contains(program, []byte("main.main")) {
		t.Error("the program has no names of functions, so that nothing can be told from them")
	}
}
