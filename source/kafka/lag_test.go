package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/storage/retry"
)

func TestTransactionThatIsOpenForLongIsSaidAndSoIsItsEnd(t *testing.T) {
	var said notices
	p := begin(t, kafkatest.Fake(t), func(cfg *Config) { cfg.Outages = retry.NewOutages(said.add) }, "orders")
	begun := time.Now()
	look := func(after time.Duration, stable, high int64) {
		p.source.observe(&view{at: begun.Add(after), bounds: map[partition]bounds{{topic: "orders"}: {stable: stable, high: high}}})
	}
	look(0, 5, 9)
	look(heldNotice-time.Second, 5, 9)
	look(heldNotice, 6, 9) // another transaction
	look(2*heldNotice-time.Second, 6, 9)
	if said.String() != "" {
		t.Errorf("said too soon: %s", &said)
	}
	look(2*heldNotice, 6, 12)
	if want := "orders/0: the last stable offset 6 does not move while the high watermark grows (now 12)"; !strings.HasPrefix(said.String(), want) {
		t.Errorf("said %q, want %q", &said, want)
	}
	look(2*heldNotice+time.Second, 12, 12)
	if want := "read orders/0 past its last stable offset: works again"; !strings.Contains(said.String(), want) {
		t.Errorf("said %q, want %q", &said, want)
	}
}
