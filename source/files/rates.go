package files

// rateMemory is the number of bytes after which what was learned counts half.
const rateMemory = 1 << 30

// rates estimates the number of records in files by what files of the same encoding held. The zero value knows nothing.
type rates [encodings]struct{ bytes, records int64 }

func (r *rates) learn(name string, bytes, records int64) {
	rate := &r[encodingOf(name)]
	rate.bytes += bytes
	rate.records += records
	if rate.bytes > rateMemory {
		rate.bytes, rate.records = rate.bytes/2, rate.records/2
	}
}

// estimate is at least 1.
func (r *rates) estimate(name string, bytes int64) int64 {
	e := encodingOf(name)
	rate := r[e]
	perRecord := 256.0
	if e != plain {
		perRecord = 32
	}
	if rate.records > 0 {
		perRecord = float64(rate.bytes) / float64(rate.records)
	}
	return max(1, int64(float64(bytes)/perRecord))
}
