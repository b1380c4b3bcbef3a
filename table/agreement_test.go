package table

import "testing"

func TestLeavesOfAListHaveTheSameItems(t *testing.T) {
	l, err := newLayout(parseSchema(t, "m:map<string,date>,l:array<struct<a:int,b:array<int>>>"), map[string]string{}, engineName, codec{})
	if err != nil {
		t.Fatal(err)
	}
	const key, value, a, b = 0, 1, 2, 3
	// Of the map: null 0, empty 1, an item 2, its value 3. Of the list: null 0, empty 1, an item that is null 2, that is not 3; in it a value 4, an inner list 4, its item 5, its value 6.
	// A map of two items, of none, of one; lists of two structs, the first with an inner list of two.
	right := map[int][]levelled{
		key:   {{rep: []uint8{0, 1, 0, 0}, def: []uint8{2, 2, 1, 2}}},
		value: {{rep: []uint8{0, 1}, def: []uint8{3, 2}}, {rep: []uint8{0, 0}, def: []uint8{1, 3}}},
		a:     {{rep: []uint8{0, 1}}},
		b:     {{rep: []uint8{0, 2, 1}, def: []uint8{6, 5, 3}}},
	}
	for name, c := range map[string]struct {
		leaf    int
		instead []levelled
		fails   bool
	}{
		"all agree":                              {key, right[key], false},
		"a value fewer":                          {value, []levelled{{rep: []uint8{0, 1, 0}, def: []uint8{3, 2, 1}}}, true},
		"as many in another row":                 {value, []levelled{{rep: []uint8{0, 0, 0, 1}, def: []uint8{3, 1, 3, 3}}}, true},
		"null for empty":                         {value, []levelled{{rep: []uint8{0, 1, 0, 0}, def: []uint8{3, 3, 0, 3}}}, true},
		"empty for an item":                      {key, []levelled{{rep: []uint8{0, 1, 0, 0}, def: []uint8{2, 2, 1, 1}}}, true},
		"an inner list is of one leaf":           {b, []levelled{{rep: []uint8{0, 2, 2, 2, 1}, def: []uint8{6, 6, 6, 6, 4}}}, false},
		"but it is in the same item":             {b, []levelled{{rep: []uint8{0, 2, 2}, def: []uint8{6, 6, 6}}}, true},
		"whether an item is null is the leaves'": {a, []levelled{{rep: []uint8{0, 1}, def: []uint8{2, 4}}}, false},
	} {
		sums := newAgreement(l.columns)
		for range 2 { // row groups
			sums.begin()
			for _, leaf := range []int{key, value, a, b} {
				parts := right[leaf]
				if leaf == c.leaf {
					parts = c.instead
				}
				for i := range parts {
					sums.take(leaf, &parts[i])
				}
			}
			if err := sums.check(); (err != nil) != c.fails {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
