package commitlog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// CommitInfo is the commitInfo action: who did what ("Commit Provenance Information"). The protocol leaves its form
// free, but Spark reads it into fixed types when it checks conflicts, so the types here are Spark's. Reading is lenient:
// a member that is unknown, or not of its type, is kept in Extra as it is and written back.
type CommitInfo struct {
	InCommitTimestamp   int64             `json:"inCommitTimestamp,omitempty"` // ms since the epoch
	Timestamp           int64             `json:"timestamp,omitempty"`         // ms since the epoch
	Operation           string            `json:"operation,omitempty"`
	OperationParameters map[string]any    `json:"operationParameters,omitempty"` // values are any JSON; numbers are json.Number once read
	ReadVersion         *int64            `json:"readVersion,omitzero"`
	IsolationLevel      string            `json:"isolationLevel,omitempty"`
	IsBlindAppend       *bool             `json:"isBlindAppend,omitzero"`
	OperationMetrics    map[string]string `json:"operationMetrics,omitempty"`
	UserMetadata        string            `json:"userMetadata,omitempty"`
	Tags                map[string]string `json:"tags,omitempty"`
	EngineInfo          string            `json:"engineInfo,omitempty"`
	TxnID               string            `json:"txnId,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// set takes one member, in its type if it has it.
func (ci *CommitInfo) set(name string, raw json.RawMessage) {
	typed := false
	switch name {
	case "inCommitTimestamp":
		typed = decodeAs(raw, &ci.InCommitTimestamp)
	case "timestamp":
		typed = decodeAs(raw, &ci.Timestamp)
	case "operation":
		typed = decodeAs(raw, &ci.Operation)
	case "operationParameters":
		typed = decodeParameters(raw, &ci.OperationParameters)
	case "readVersion":
		typed = decodeAs(raw, &ci.ReadVersion)
	case "isolationLevel":
		typed = decodeAs(raw, &ci.IsolationLevel)
	case "isBlindAppend":
		typed = decodeAs(raw, &ci.IsBlindAppend)
	case "operationMetrics":
		typed = decodeAs(raw, &ci.OperationMetrics)
	case "userMetadata":
		typed = decodeAs(raw, &ci.UserMetadata)
	case "tags":
		typed = decodeAs(raw, &ci.Tags)
	case "engineInfo":
		typed = decodeAs(raw, &ci.EngineInfo)
	case "txnId":
		typed = decodeAs(raw, &ci.TxnID)
	}
	if typed || string(raw) == "null" {
		delete(ci.Extra, name)
		return
	}
	if ci.Extra == nil {
		ci.Extra = make(map[string]json.RawMessage)
	}
	ci.Extra[name] = raw
}

// decodeAs sets *to from raw, or to its zero value when raw is of another type.
func decodeAs[T any](raw json.RawMessage, to *T) bool {
	var v T
	err := json.Unmarshal(raw, &v)
	if err != nil {
		var zero T
		v = zero
	}
	*to = v
	return err == nil
}

// decodeParameters does the same for values of any kind, and keeps every digit of numbers.
func decodeParameters(raw json.RawMessage, to *map[string]any) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	*to = nil
	if err := d.Decode(to); err != nil {
		*to = nil
		return false
	}
	return true
}

// clone copies what a transaction's tries change.
func (ci *CommitInfo) clone() *CommitInfo {
	if ci == nil {
		return &CommitInfo{}
	}
	c := *ci
	return &c
}

// MarshalJSON writes the typed members in their order, then Extra by name.
func (ci *CommitInfo) MarshalJSON() ([]byte, error) {
	type typed CommitInfo // without this method
	b, err := marshal((*typed)(ci))
	if err != nil || len(ci.Extra) == 0 {
		return b, err
	}
	b = b[:len(b)-1]
	for _, name := range slices.Sorted(maps.Keys(ci.Extra)) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		key, err := marshal(name)
		if err != nil {
			return nil, err
		}
		b = append(b, key...)
		b = append(b, ':')
		b = append(b, ci.Extra[name]...)
	}
	return append(b, '}'), nil
}
