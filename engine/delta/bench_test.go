package delta_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"assay/engine/delta"
	"assay/engine/record"
)

// large is a comparison of so many tasks, k = 8, 12 metrics.
func large(tasks int) delta.Input {
	w, rng := newWorld(), rand.New(rand.NewPCG(1, 1))
	for i := range tasks {
		name := fmt.Sprintf("t%05d", i)
		for side, p := range []float64{0.5, 0.55} {
			for k := range 8 {
				markers := make([]record.Marker, 11)
				for m := range markers {
					markers[m] = marker(fmt.Sprint("m", m), float64(rng.IntN(2)))
				}
				reward := 0.0
				if rng.Float64() < p {
					reward = 1
				}
				w.add(side, name, k/4, k%4, &reward, markers...)
			}
		}
	}
	return w.input()
}

// BenchmarkCompare: 2,000 tasks x k=8 x 12 metrics x 2,000 draws.
func BenchmarkCompare(b *testing.B) {
	for _, tasks := range []int{200, 2000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			in := large(tasks)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := delta.Compare(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(tasks*16*12)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
		})
	}
}
