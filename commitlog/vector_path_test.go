package commitlog

import "testing"

func TestVectorsLieWhereTheirIDsSay(t *testing.T) {
	for v, want := range map[DeletionVector]string{
		{StorageType: "u", PathOrInlineDv: "ab^-aqEH.-t@S}K{vb[*k^"}:  "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
		{StorageType: "u", PathOrInlineDv: "^-aqEH.-t@S}K{vb[*k^"}:    "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
		{StorageType: "u", PathOrInlineDv: "x y^-aqEH.-t@S}K{vb[*k^"}: "x%20y/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
		{StorageType: "p", PathOrInlineDv: "s3://b/t/dv%20.bin"}:      "s3://b/t/dv%20.bin",
		{StorageType: "i", PathOrInlineDv: "anything"}:                "",
	} {
		if got, err := v.Path(); err != nil || got != want {
			t.Errorf("%+v lies at %q, %v", v, got, err)
		}
	}
	for _, v := range []DeletionVector{{StorageType: "u", PathOrInlineDv: "short"}, {StorageType: "u", PathOrInlineDv: "\"-aqEH.-t@S}K{vb[*k^"}, {StorageType: "x"}} {
		if got, err := v.Path(); err == nil {
			t.Errorf("%+v lies at %q", v, got)
		}
	}
	for _, text := range []string{"abcd", "ab\"cd", "%%%%%"} {
		if b, err := DecodeZ85(text); err == nil {
			t.Errorf("%q is %x", text, b)
		}
	}
}
