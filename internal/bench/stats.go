//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// series are samples in milliseconds, by variant.
type series map[string][]float64

func (s series) add(name string, d time.Duration) {
	s[name] = append(s[name], math.Round(float64(d)/float64(time.Microsecond))/1000)
}

// quantile returns the q-th quantile of samples by nearest rank.
func quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func (s series) p50(name string) float64 { return quantile(s[name], 0.50) }
func (s series) p99(name string) float64 { return quantile(s[name], 0.99) }

// span formats a variant for the table: median [99th percentile].
func (s series) span(name string) string {
	return fmt.Sprintf("%.2f ms [%.2f]", s.p50(name), s.p99(name))
}

// figures returns the medians and 99th percentiles of all variants.
func (s series) figures() map[string]float64 {
	out := map[string]float64{}
	for name := range s {
		out[name+" p50 ms"], out[name+" p99 ms"] = s.p50(name), s.p99(name)
	}
	return out
}
