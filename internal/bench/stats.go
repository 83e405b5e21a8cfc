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

func (s series) addSample(name string, d time.Duration) {
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

// formatTimes formats a variant for the table: median [99th percentile].
func (s series) formatTimes(name string) string {
	return fmt.Sprintf("%.2f ms [%.2f]", s.p50(name), s.p99(name))
}

// medianRow is the row of one variant whose median has to be at most limit milliseconds, as goal says.
func (s series) medianRow(name, what, goal string, limit float64) row {
	return row{
		What: what, Goal: goal, Measured: s.formatTimes(name), Met: s.p50(name) <= limit,
		Figures: s.figures(), Samples: s,
	}
}

// figures returns the medians and 99th percentiles of all variants.
func (s series) figures() map[string]float64 {
	out := map[string]float64{}
	for name := range s {
		out[name+" p50 ms"], out[name+" p99 ms"] = s.p50(name), s.p99(name)
	}
	return out
}

// alternate returns all, the other way round in each second round, so that none always comes after the same
// one.
func alternate[T any](all []T, round int) []T {
	if round%2 == 0 {
		return all
	}
	out := slices.Clone(all)
	slices.Reverse(out)
	return out
}

// medianInterval returns the median of samples and the ends of its 95 % confidence interval, by the order of
// the samples: it assumes nothing of how they are distributed.
func medianInterval(samples []float64) (median, low, high float64) {
	sorted := slices.Sorted(slices.Values(samples))
	n := float64(len(sorted))
	if len(sorted) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}

	at := func(rank float64) float64 { return sorted[min(max(int(rank), 1), len(sorted))-1] }

	// The ranks of the interval follow from the binomial distribution, by its normal approximation.
	half := 1.96 * math.Sqrt(n) / 2

	return quantile(samples, 0.5), at(math.Floor(n/2 - half)), at(math.Ceil(n/2 + half + 1))
}
