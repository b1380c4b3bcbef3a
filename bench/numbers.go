package main

import (
	"fmt"
	"slices"
)

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// quantile is the least number that so large a part of them do not exceed.
func quantile(of []float64, part float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// spread is median and range.
func spread(of []float64) string {
	return fmt.Sprintf("%s (%s–%s)", digits(median(of)), digits(slices.Min(of)), digits(slices.Max(of)))
}

// digits is a number with three digits that count.
func digits(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.4f", x)
	}
}
