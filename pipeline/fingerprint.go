package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Fingerprint is a hash of all that determines the rows which a range of the source becomes: the kind of source, its
// isolation, the format and its options, the columns, the partitioning and the error policy. Names, paths, limits, the
// trigger and logins do not count. It is 32 hexadecimal digits, the same on every machine and in every version that reads
// the file alike.
func (f *File) Fingerprint() string {
	type column struct {
		Name, Type, From, Meta string
		Nullable               bool
	}
	logic := struct {
		Source, Isolation string
		Format            Format
		Columns           []column
		PartitionBy       []string
		OnError           Policy
	}{Source: "files", Format: f.Source.Format, PartitionBy: append([]string{}, f.Table.PartitionBy...), OnError: f.OnError.Policy}
	if k := f.Source.Kafka; k != nil {
		logic.Source, logic.Isolation = "kafka", string(k.Isolation)
	}
	for _, c := range f.Columns {
		logic.Columns = append(logic.Columns, column{c.Name, c.Type.DDL(), c.From.String(), c.Meta, c.Nullable})
	}
	// Strings, numbers and booleans alone: encoding them cannot fail.
	text, _ := json.Marshal(logic)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
