package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestPasswordIsNeverPrinted(t *testing.T) {
	f, err := Load("testdata/kafka.yaml", environment)
	if err != nil {
		t.Fatal(err)
	}
	sasl := *f.Source.Kafka.SASL
	if sasl.Password.Reveal() != "hunter2" {
		t.Fatal("the password was not read")
	}
	var printed []string
	for _, v := range []any{f, *f, f.Source, sasl, &sasl, sasl.Password, []Secret{sasl.Password}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t"} {
			printed = append(printed, fmt.Sprintf(verb, v))
		}
		asJSON, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		asYAML, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		printed = append(printed, string(asJSON), string(asYAML), log.String())
	}
	inHex := fmt.Sprintf("%x", "hunter2")
	for _, p := range printed {
		if strings.Contains(p, "hunter2") || strings.Contains(strings.ToLower(p), inHex) {
			t.Errorf("printed: %s", p)
		}
	}
}
