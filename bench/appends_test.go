package main

import "testing"

func TestSampleOfSomeAppends(t *testing.T) {
	all := took{Wall: []float64{9, 1, 3, 2, 9}, CPU: []float64{8, 1, 1, 2, 8}}
	s := all.sample(appends{commits: 5, rows: 10}, 1, 4)
	if s.Wall != 2 || s.CPU != 4 || s.Records != 30 {
		t.Errorf("the sample is %+v", s)
	}
}
