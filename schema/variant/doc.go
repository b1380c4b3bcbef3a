// Package variant reads and writes values of Parquet's Variant binary encoding (parquet-format, VariantEncoding.md), which the columns of
// Delta's type variant hold: each is the metadata, a dictionary of the names of fields, and the value itself.
//
// Package table checks with it what it reads from data files, and encodes what it finds shredded there; package format/json prints it.
//
// Invariants:
//
//   - No bytes make it panic, or take more memory or time than so many bytes can account for.
//   - What the encoding does not allow is an error: names and texts that are no UTF-8, names that are twice in an object.
package variant
