package memory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAccountBorrowsWhatIsInNoShareAndNotInUse(t *testing.T) {
	b := New(100)
	fetch, write, upload := b.Open("fetch", 20), b.Open("write", 30), b.Open("upload", 10)
	steps := []struct {
		name                string
		account             *Account
		add                 int64
		fetch, write, place int64 // room after it
	}{
		{"nothing is held", fetch, 0, 60, 70, 50},
		{"what is in a share takes nothing from others", fetch, 20, 40, 70, 50},
		{"what is borrowed does", write, 50, 20, 20, 30},
		{"all that is free is borrowed", write, 20, 0, 0, 10},
		{"a share stays its owner's", upload, 10, 0, 0, 0},
		{"too much is no room, and no debt of others", fetch, 40, 0, 0, 0},
		{"what is given back is free again", write, -70, 0, 30, 0},
		{"for all", fetch, -60, 60, 70, 40},
	}
	for _, s := range steps {
		s.account.Add(s.add)
		got := []int64{fetch.Room(), write.Room(), upload.Room()}
		if diff := cmp.Diff([]int64{s.fetch, s.write, s.place}, got); diff != "" {
			t.Errorf("%s: room of fetch, write, upload: %s", s.name, diff)
		}
	}
	want := []Use{{"fetch", 20, 0, 60}, {"write", 30, 0, 70}, {"upload", 10, 10, 10}}
	if diff := cmp.Diff(want, b.Use()); diff != "" {
		t.Error(diff)
	}
	if first, second := b.TakePeak(), b.TakePeak(); first != 140 || second != 10 {
		t.Errorf("peaks %d, then %d", first, second)
	}
}
