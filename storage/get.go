package storage

import "context"

// GetInto is Get into the memory of buf, where the store knows how and there is room; else into its own. Whoever reads many
// objects, one after the other, so takes the memory of one.
func GetInto(ctx context.Context, s Store, key string, buf []byte) ([]byte, error) {
	if into, ok := s.(interface {
		GetInto(ctx context.Context, key string, buf []byte) ([]byte, error)
	}); ok {
		return into.GetInto(ctx, key, buf)
	}
	return s.Get(ctx, key)
}
