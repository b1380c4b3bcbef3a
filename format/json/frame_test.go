package json_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/source"
)

func ExampleFramer() {
	f, err := json.NewFramer(json.FrameOptions{})
	if err != nil {
		panic(err)
	}
	file := strings.NewReader("[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n")
	err = f.Frame(file, func(b *source.Block) error {
		for i, v := range b.Values {
			fmt.Printf("line %d: %s\n", b.Positions[i], v)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// line 2: {"a": 1}
	// line 3: {"a": 2}
	// <nil>
}

// frame returns the records as "line:text", with the reason behind it for a fault, and checks what holds for every file.
func frame(t testing.TB, options json.FrameOptions, data []byte) []string {
	t.Helper()
	f, err := json.NewFramer(options)
	if err != nil {
		t.Fatal(err)
	}
	got, covered := []string{}, int64(0)
	kept := map[*source.Block][]string{} // with what it held when it was emitted
	read := func(into []string, b *source.Block) []string {
		reasons := map[int]string{}
		for _, f := range b.Faults {
			reasons[f.Index] = " !" + f.Reason
		}
		for i, v := range b.Values {
			into = append(into, fmt.Sprintf("%d:%s%s", b.Positions[i], v, reasons[i]))
		}
		return into
	}
	err = f.Frame(bytes.NewReader(data), func(b *source.Block) error {
		covered += b.Bytes
		from := len(got)
		if got = read(got, b); len(got)%3 > 0 { // the others are given back, and their memory is used again
			b.Retain()
			kept[b] = got[from:]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if covered != int64(len(data)) {
		t.Errorf("blocks cover %d bytes of %d", covered, len(data))
	}
	for b, emitted := range kept {
		if diff := cmp.Diff(emitted, read([]string{}, b)); diff != "" {
			t.Errorf("a block that is retained has changed: %s", diff)
		}
		b.Release()
	}
	return got
}

func TestFramerTellsLayoutsApart(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"empty":                        {"", []string{}},
		"blank":                        {" \n\n", []string{}},
		"one line":                     {`{"a":1}`, []string{`1:{"a":1}`}},
		"lines, CRLF, blank lines":     {"{}\r\n\r\n \n[]\n", []string{"1:{}", "4:[]"}},
		"byte order mark":              {"\xEF\xBB\xBF{}\n{}", []string{"1:{}", "2:{}"}},
		"lines of arrays":              {"[1]\n[2]\n", []string{"1:[1]", "2:[2]"}},
		"lines of arrays of objects":   {"[{}]\n[{}]\n", []string{"1:[{}]", "2:[{}]"}},
		"one array of numbers":         {"[1,2]", []string{"1:[1,2]"}},
		"array of objects on one line": {`[{"a":1},{"a":2}]`, []string{`1:{"a":1}`, `1:{"a":2}`}},
		"pretty array":                 {"[\n  {\n  \"a\": 1\n  },\n  {}\n]\n", []string{"2:{\n  \"a\": 1\n  }", "5:{}"}},
		"pretty array of arrays":       {"[\n[1],\n[2]\n]", []string{"2:[1]", "3:[2]"}},
		"array with all kinds":         {"[\n1 , \"a,]\\\"\" ,true\n,null,{\"}\":\"[\"}]", []string{"2:1", "2:\"a,]\\\"\"", "2:true", "3:null", "3:{\"}\":\"[\"}"}},
		"pretty object":                {"{\n\"a\": [\n{}\n]\n}", []string{"1:{\n\"a\": [\n{}\n]\n}"}},
		"pretty objects":               {"{\n}\n{\n}\n", []string{"1:{\n}", "3:{\n}"}},
		"object of lines of objects":   {"{\"features\":[\n{},\n{}\n]}", []string{"1:{\"features\":[\n{},\n{}\n]}"}},
		"lines, the first torn":        {"{\"a\":1\n{\"a\":2}\n", []string{"1:{\"a\":1", "2:{\"a\":2}"}},
		"lines, torn behind a comma":   {"{\"a\":1,\n{\"a\":2}\n", []string{"1:{\"a\":1,", "2:{\"a\":2}"}},
		"lines of text":                {"hello\n\"x\"\n", []string{"1:hello", "2:\"x\""}},
		"empty array":                  {"[\n]\n", []string{}},
	} {
		for _, size := range []int{0, 16} {
			if size > 0 && name != "empty" && !strings.HasPrefix(name, "lines") {
				continue // a layout that shows only behind the first block is taken for lines
			}
			if diff := cmp.Diff(c.want, frame(t, json.FrameOptions{BlockBytes: size}, []byte(c.file))); diff != "" {
				t.Errorf("%s, blocks of %d: %s", name, size, diff)
			}
		}
	}
}

func TestFramerMakesFaultsOfWhatItCannotCut(t *testing.T) {
	const rest = " (the last %d bytes of the file are one bad record; its first %d are kept)"
	for name, c := range map[string]struct {
		layout json.Layout
		file   string
		want   []string
	}{
		"array torn inside an element": {json.LayoutArray, "[1,\n{\"a\":", []string{"1:1", "2:{\"a\": !the file ends inside an element of the array" + fmt.Sprintf(rest, 5, 5)}},
		"array not closed":             {json.LayoutArray, "[1,2", []string{"1:1", "1:2", "1: !the file ends inside the array"}},
		"array ends behind a comma":    {json.LayoutArray, "[1,", []string{"1:1", "1: !the file ends inside the array"}},
		"only a bracket":               {json.LayoutArray, "[", []string{"1: !the file ends inside the array"}},
		"missing elements":             {json.LayoutArray, "[1,,2,]", []string{"1:1", "1: !an element is missing in front of \",\"", "1:2", "1: !an element is missing in front of \"]\""}},
		"no comma":                     {json.LayoutArray, "[1 2]", []string{"1:1", "1:2] !expected ',' or ']' behind an element, found \"2\"" + fmt.Sprintf(rest, 2, 2)}},
		"more behind the array":        {json.LayoutArray, "[1]\n[2]", []string{"1:1", "2:[2] !more behind the end of the array" + fmt.Sprintf(rest, 3, 3)}},
		"not an array":                 {json.LayoutArray, "{}", []string{"1:{} !expected an array" + fmt.Sprintf(rest, 2, 2)}},
		"document torn":                {json.LayoutDocument, "{}\n{\"a\"", []string{"1:{}", "2:{\"a\" !the file ends inside a value" + fmt.Sprintf(rest, 4, 4)}},
		"document with a comma":        {json.LayoutDocument, "{},{}", []string{"1:{}", "1:,{} !expected a value, found \",\"" + fmt.Sprintf(rest, 3, 3)}},
		"scalars in a document":        {json.LayoutDocument, "1 true\n\"a\"null{}", []string{"1:1", "1:true", "2:\"a\"", "2:null", "2:{}"}},
	} {
		for _, size := range []int{0, 16} {
			if diff := cmp.Diff(c.want, frame(t, json.FrameOptions{Layout: c.layout, BlockBytes: size}, []byte(c.file))); diff != "" {
				t.Errorf("%s, blocks of %d: %s", name, size, diff)
			}
		}
	}
}

func TestFramerGoesOnBehindARecordThatIsTooLong(t *testing.T) {
	long := strings.Repeat("x", 100)
	lines := "{}\n\"" + long + "\"\n{}\r\n" + long
	want := []string{
		"1:{}", "2:\"" + long + "\" !a line of 102 bytes is longer than the 20 that a record may have; its first 102 are kept",
		"3:{}", "4:" + long + " !a line of 100 bytes is longer than the 20 that a record may have; its first 100 are kept",
	}
	kept := func(s string, n int) string { return s[:n] }
	for _, size := range []int{16, 32, 4096} {
		got := frame(t, json.FrameOptions{Layout: json.LayoutLines, BlockBytes: size, MaxRecordBytes: 20}, []byte(lines))
		if len(got) != len(want) {
			t.Fatalf("blocks of %d: %q", size, got)
		}
		for i := range got {
			if kept(got[i], 4) != kept(want[i], 4) || strings.Contains(got[i], " bytes is longer than the 20 ") != strings.Contains(want[i], "!") {
				t.Errorf("blocks of %d: %q, want %q", size, got[i], want[i])
			}
		}
		array := frame(t, json.FrameOptions{Layout: json.LayoutArray, BlockBytes: size, MaxRecordBytes: 20}, []byte("[1,\""+long+"\",\n2]"))
		if len(array) != 3 || array[2] != "2:2" || !strings.Contains(array[1], "a record of 102 bytes is longer than the 20") {
			t.Errorf("blocks of %d: array: %q", size, array)
		}
	}
}

func TestFramerEmitsBlocksOfBoundedRecords(t *testing.T) {
	f, err := json.NewFramer(json.FrameOptions{BlockRecords: 3})
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	err = f.Frame(strings.NewReader(strings.Repeat("{}\n", 7)), func(b *source.Block) error {
		sizes = append(sizes, len(b.Values))
		return nil
	})
	if diff := cmp.Diff([]int{3, 3, 1}, sizes); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestFramerReturnsErrorsOfReadAndEmit(t *testing.T) {
	f, err := json.NewFramer(json.FrameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	emitted := 0
	emit := func(b *source.Block) error { emitted += len(b.Values); return nil }
	// The second is the error of a stream that was cut short, as gzip's: what came before it is no whole record.
	for _, broken := range []error{errors.New("disk on fire"), io.ErrUnexpectedEOF} {
		if err := f.Frame(io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(broken)), emit); !errors.Is(err, broken) || emitted > 0 {
			t.Errorf("read: %v, and %d records", err, emitted)
		}
	}
	stop := errors.New("stop")
	err = f.Frame(strings.NewReader("{}\n"), func(*source.Block) error { return stop })
	if err != stop {
		t.Errorf("emit: %v", err)
	}
	if _, err := json.NewFramer(json.FrameOptions{Layout: "xml"}); err == nil {
		t.Error("layout xml is taken")
	}
}

func TestFramerCutsSharedFiles(t *testing.T) {
	for name, records := range map[string]int{
		"data/github_events.json": 30, "data/amazon_cellphones.ndjson": 793, "data/earthquakes.json": 1,
		"data/web_requests-100.ndjson": 100, "data/events-1000.ndjson": 1000,
	} {
		if got := frame(t, json.FrameOptions{}, shared(t, name)); len(got) != records {
			t.Errorf("%s: %d records, want %d", name, len(got), records)
		}
	}
}

// FuzzFrame holds cutting lines against bytes.Split, and all layouts against losing bytes.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{"{}\n{}\n", "a\r\n\r\n b", "[1,\n{\"a\":[2]}]", "{\n}\n{", "\xEF\xBB\xBF[[]]", "[\"\\\"\",1", "\n\n"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		want := []string{}
		for i, line := range bytes.Split(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(bytes.Trim(line, " \t\r\n")) > 0 {
				want = append(want, fmt.Sprintf("%d:%s", i+1, line))
			}
		}
		options := json.FrameOptions{Layout: json.LayoutLines, BlockBytes: int(size), BlockRecords: int(size)}
		if diff := cmp.Diff(want, frame(t, options, data)); diff != "" {
			t.Error(diff)
		}
		for _, layout := range []json.Layout{json.LayoutAuto, json.LayoutArray, json.LayoutDocument} {
			whole := frame(t, json.FrameOptions{Layout: layout}, data)
			if layout == json.LayoutAuto {
				continue
			}
			if diff := cmp.Diff(whole, frame(t, json.FrameOptions{Layout: layout, BlockBytes: int(size)}, data)); diff != "" {
				t.Errorf("%s depends on the size of blocks: %s", layout, diff)
			}
		}
	})
}
