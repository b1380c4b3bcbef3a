package commitlog

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// parquetText turns a value's text, as statistics and partition values have it, into the value that ParquetLeaf of its type
// holds. The bytes of a string are not copied.
func parquetText(t *schema.Type, text []byte) (parquet.Value, error) {
	switch t.Kind {
	case schema.String, schema.Binary:
		return parquet.ByteArrayValue(text), nil
	case schema.Boolean:
		v, err := strconv.ParseBool(strings.ToLower(string(text)))
		return parquet.BooleanValue(v), err
	case schema.Byte, schema.Short, schema.Integer:
		v, err := strconv.ParseInt(string(text), 10, map[schema.Kind]int{schema.Byte: 8, schema.Short: 16, schema.Integer: 32}[t.Kind])
		return parquet.Int32Value(int32(v)), err
	case schema.Long:
		v, err := strconv.ParseInt(string(text), 10, 64)
		return parquet.Int64Value(v), err
	case schema.Float:
		v, err := strconv.ParseFloat(string(text), 32)
		return parquet.FloatValue(float32(v)), err
	case schema.Double:
		v, err := strconv.ParseFloat(string(text), 64)
		return parquet.DoubleValue(v), err
	case schema.Decimal:
		return parquetDecimal(t, string(text))
	case schema.Date:
		v, err := schema.ParseDate(string(text))
		if err == nil && int64(int32(v)) != v {
			err = strconv.ErrRange
		}
		return parquet.Int32Value(int32(v)), err
	case schema.Timestamp, schema.TimestampNTZ:
		v, err := schema.ParseTimestamp(string(text))
		return parquet.Int64Value(v), err
	}
	return parquet.Value{}, fmt.Errorf("the type %s has no text", t)
}

func parquetDecimal(t *schema.Type, text string) (parquet.Value, error) {
	unscaled, err := schema.ParseDecimal(text, t.Scale)
	if err != nil {
		return parquet.Value{}, err
	}
	if limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil); unscaled.CmpAbs(limit) >= 0 {
		return parquet.Value{}, strconv.ErrRange
	}
	switch {
	case t.Precision <= 9:
		return parquet.Int32Value(int32(unscaled.Int64())), nil
	case t.Precision <= 18:
		return parquet.Int64Value(unscaled.Int64()), nil
	}
	b := make([]byte, schema.DecimalBytes(t.Precision))
	if unscaled.Sign() < 0 {
		unscaled.Add(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b)))) // two's complement
	}
	return parquet.FixedLenByteArrayValue(unscaled.FillBytes(b)), nil
}
