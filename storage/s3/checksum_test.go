package s3

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// TestChecksumsAreThoseOfTheirCatalogues compares with the check values of "123456789".
func TestChecksumsAreThoseOfTheirCatalogues(t *testing.T) {
	none := ""
	for want, head := range map[string]*s3.HeadObjectOutput{
		"e3069283":         {ChecksumCRC32C: &none},
		"ae8b14860a799888": {ChecksumCRC64NVME: &none},
		"cbf43926":         {ChecksumCRC32: &none},
		"15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225": {ChecksumSHA256: &none},
	} {
		_, h := wholeSum(head)
		h.Write([]byte("123456789"))
		raw, err := base64.StdEncoding.DecodeString(*encodedSum(h))
		if got := hex.EncodeToString(raw); err != nil || got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if _, h := wholeSum(&s3.HeadObjectOutput{ChecksumCRC32C: &none, ChecksumType: types.ChecksumTypeComposite}); h != nil {
		t.Error("a checksum of checksums is taken for one of the whole")
	}
	if _, h := wholeSum(&s3.HeadObjectOutput{}); h != nil {
		t.Error("a checksum where there is none")
	}
}
