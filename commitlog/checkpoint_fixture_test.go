package commitlog

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Rows of a log checkpoint, as Spark writes them.
type (
	cpRow struct {
		Protocol *cpProtocol `parquet:"protocol,optional"`
		MetaData *cpMetadata `parquet:"metaData,optional"`
		Txn      *cpTxn      `parquet:"txn,optional"`
		Domain   *cpDomain   `parquet:"domainMetadata,optional"`
		Sidecar  *cpSidecar  `parquet:"sidecar,optional"`
		Add      *cpAdd      `parquet:"add,optional"`
		Remove   *cpRemove   `parquet:"remove,optional"`
	}
	cpProtocol struct {
		MinReaderVersion int32    `parquet:"minReaderVersion"`
		MinWriterVersion int32    `parquet:"minWriterVersion"`
		ReaderFeatures   []string `parquet:"readerFeatures,optional,list"`
		WriterFeatures   []string `parquet:"writerFeatures,optional,list"`
	}
	cpMetadata struct {
		ID               string            `parquet:"id"`
		Format           *cpFormat         `parquet:"format,optional"`
		SchemaString     string            `parquet:"schemaString"`
		PartitionColumns []string          `parquet:"partitionColumns,optional,list"`
		Configuration    map[string]string `parquet:"configuration,optional"`
		CreatedTime      int64             `parquet:"createdTime,optional"`
	}
	cpFormat struct {
		Provider string            `parquet:"provider"`
		Options  map[string]string `parquet:"options,optional"`
	}
	cpTxn struct {
		AppID       string `parquet:"appId"`
		Version     int64  `parquet:"version"`
		LastUpdated *int64 `parquet:"lastUpdated,optional"`
	}
	cpDomain struct {
		Domain        string `parquet:"domain"`
		Configuration string `parquet:"configuration"`
		Removed       bool   `parquet:"removed"`
	}
	cpSidecar struct {
		Path string `parquet:"path"`
	}
	cpAdd struct {
		Path             string             `parquet:"path"`
		PartitionValues  map[string]*string `parquet:"partitionValues,optional" parquet-value:",optional"`
		Size             int64              `parquet:"size"`
		ModificationTime int64              `parquet:"modificationTime"`
		Tags             map[string]string  `parquet:"tags,optional"`
		DV               *cpDV              `parquet:"deletionVector,optional"`
		BaseRowID        *int64             `parquet:"baseRowId,optional"`
		RowVersion       *int64             `parquet:"defaultRowCommitVersion,optional"`
		Clustering       *string            `parquet:"clusteringProvider,optional"`
		Stats            *string            `parquet:"stats,optional"`
		Parsed           *cpStats           `parquet:"stats_parsed,optional"`
	}
	cpDV struct {
		StorageType    string `parquet:"storageType"`
		PathOrInlineDv string `parquet:"pathOrInlineDv"`
		Offset         *int32 `parquet:"offset,optional"`
		SizeInBytes    int32  `parquet:"sizeInBytes"`
		Cardinality    int64  `parquet:"cardinality"`
	}
	cpStats struct {
		NumRecords  int64     `parquet:"numRecords,optional"`
		MinValues   *cpBounds `parquet:"minValues,optional"`
		NullCount   *cpNulls  `parquet:"nullCount,optional"`
		TightBounds *bool     `parquet:"tightBounds,optional"`
	}
	cpBounds struct {
		I *int32   `parquet:"i,optional"`
		S *string  `parquet:"s \"q\",optional"`
		D *int32   `parquet:"d,optional,date"`
		T *int64   `parquet:"t,optional,timestamp(microsecond)"`
		N *int64   `parquet:"n,optional,decimal(3:18)"`
		F *float64 `parquet:"f,optional"`
	}
	cpNulls struct {
		I *int64 `parquet:"i,optional"`
	}
	cpRemove struct {
		Path string `parquet:"path"`
	}
)

// cpHead are the rows that every log checkpoint has.
func cpHead() []cpRow {
	return []cpRow{
		{Protocol: &cpProtocol{MinReaderVersion: 1, MinWriterVersion: 2}},
		{MetaData: &cpMetadata{
			ID: "T", Format: &cpFormat{Provider: "parquet"}, SchemaString: strings.ReplaceAll(lineSchema, `\"`, `"`),
			PartitionColumns: []string{}, Configuration: map[string]string{},
		}},
	}
}

func cpFiles(paths ...string) (rows []cpRow) {
	for _, path := range paths {
		rows = append(rows, cpRow{Add: &cpAdd{Path: path, PartitionValues: map[string]*string{}, Size: 10, ModificationTime: 1}})
	}
	return rows
}

func cpBytes(t testing.TB, rows ...[]cpRow) string {
	t.Helper()
	return cpPages(t, parquet.DefaultPageBufferSize, rows...)
}

// cpPages is cpBytes with pages of about so many bytes.
func cpPages(t testing.TB, size int, rows ...[]cpRow) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[cpRow](&b, parquet.PageBufferSize(size))
	for _, group := range rows {
		if _, err := w.Write(group); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pathsOf are the live files at a version.
func pathsOf(s *memStore, version int64) (string, error) {
	state, err := New(s).Files(context.Background(), version)
	if err != nil {
		return "", err
	}
	var paths []string
	for path := range state.Files.Paths() {
		paths = append(paths, path)
	}
	if state.Metadata.ID != "T" || state.Protocol.MinWriterVersion != 2 || len(paths) != state.Files.Len() {
		return "", fmt.Errorf("state %+v", state)
	}
	return strings.Join(paths, " "), nil
}
