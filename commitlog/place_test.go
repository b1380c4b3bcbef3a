package commitlog

import (
	"errors"
	"testing"
)

func TestPlacesOfPaths(t *testing.T) {
	const local, bucket = "/lake/t", "s3://b/lake/t"
	for _, c := range []struct {
		table, path string
		want        Place
	}{
		{local, "p=1/a%20b.parquet", Place{"", "p=1/a b.parquet"}},
		{local, "p=10:00/a", Place{"", "p=10:00/a"}},
		{local, "p=file:/a", Place{"", "p=file:/a"}},
		{local, "/lake/t/p=1/a", Place{"", "p=1/a"}},
		{local, "file:/lake/t/a", Place{"", "a"}},
		{local, "file:///lake/t/a%2520b", Place{"", "a%20b"}},
		{local, "/lake/%74/a", Place{"", "a"}},
		{local, "/lake/t2/a", Place{"/", "lake/t2/a"}},
		{local, "/lake/other/a%20b%23.parquet", Place{"/", "lake/other/a b#.parquet"}},
		{local, "file:/lake/other/a", Place{"/", "lake/other/a"}},
		{local, "file:///a", Place{"/", "a"}},
		{"/lake/t/", "/lake/t/a", Place{"", "a"}},
		{"file:///lake/t", "/lake/t/a", Place{"", "a"}},
		{"/", "/lake/t/a", Place{"", "lake/t/a"}},
		{"lake/t", "a", Place{"", "a"}},
		{"lake/t", "/lake/t/a", Place{"/", "lake/t/a"}},
		{bucket, "p=1/a%20b", Place{"", "p=1/a b"}},
		{bucket, "s3://b/lake/t/a", Place{"", "a"}},
		{bucket, "s3a://b/lake/t/a%20b", Place{"", "a b"}},
		{bucket, "/lake/t/a", Place{"", "a"}},
		{bucket, "/lake/other/a", Place{"s3://b", "lake/other/a"}},
		{bucket, "s3a://b/lake/t2/a", Place{"s3://b", "lake/t2/a"}},
		{bucket, "s3n://other/lake/t/a%3Fb", Place{"s3://other", "lake/t/a?b"}},
		{"s3://b", "s3://b/t/a", Place{"", "t/a"}},
	} {
		if got, err := PlaceOf(c.table, c.path); err != nil || got != c.want {
			t.Errorf("%s in %s: got %+v, %v, want %+v", c.path, c.table, got, err, c.want)
		}
	}
}

func TestPathsThatLeadToAnotherBackendAreUnsupported(t *testing.T) {
	for _, c := range [][2]string{
		{"s3://b/t", "file:///etc/a"},
		{"s3://b/t", "file:/etc/a"},
		{"s3://b/t", "s3:/b/a"},
		{"s3://b/t", "gs://b/a"},
		{"/lake/t", "s3://b/a"},
		{"/lake/t", "file://host/a"},
		{"/lake/t", "FILE:/a"},
		{"/lake/t", "hdfs://h/a"},
		{"/lake/t", "x:a"},
	} {
		got, err := PlaceOf(c[0], c[1])
		if !errors.As(err, new(*UnsupportedError)) {
			t.Errorf("%s in %s: got %+v, %v", c[1], c[0], got, err)
		}
	}
}

func TestPathsThatLeadNowhereAreRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"/lake/t", "../other/a"},
		{"/lake/t", "p=1/%2E%2E/a"},
		{"/lake/t", "/lake/t/../other/a"},
		{"/lake/t", "/lake/t/"},
		{"/lake/t", "//host/a"},
		{"/lake/t", "/"},
		{"/lake/t", ""},
		{"/lake/t", "/a/%00"},
		{"/lake/t", "/a%2"},
		{"/lake/t", "/a//b"},
		{"s3://b/t", "s3://b"},
		{"s3://b/t", "s3://other/"},
		{"s3://b/t", "s3://other/a/../b"},
		{"s3://b/t", "//other/a"},
	} {
		if got, err := PlaceOf(c[0], c[1]); err == nil || errors.As(err, new(*UnsupportedError)) {
			t.Errorf("%s in %s: got %+v, %v", c[1], c[0], got, err)
		}
	}
}

// FuzzPlaces looks for a place outside of the roots that there are.
func FuzzPlaces(f *testing.F) {
	f.Add("/lake/t", "/lake/t/a%20b")
	f.Add("s3://b/t", "s3a://b/t/../x")
	f.Add("lake", "file:///x")
	f.Fuzz(func(t *testing.T, table, path string) {
		place, err := PlaceOf(table, path)
		if err != nil {
			return
		}
		own, _ := home(table)
		remote := own != "/"
		if place.Root != "" && remote != (len(place.Root) >= len(bucketScheme) && place.Root[:len(bucketScheme)] == bucketScheme) {
			t.Errorf("%q in %q leads to %+v", path, table, place)
		}
	})
}
