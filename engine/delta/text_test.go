package delta

import "testing"

func TestNumbersForPeople(t *testing.T) {
	rate, number := &Metric{Kind: KindRate}, &Metric{Kind: KindNumber}
	for _, c := range []struct {
		m    *Metric
		v    float64
		want string
	}{
		{rate, 0.1234, "+0.123"}, {rate, -0.1234, "-0.123"}, {rate, 0, "0.000"}, {rate, -0.0001, "0.000"}, {rate, 0.0001, "0.000"}, {rate, 1, "+1.000"},
		{number, 1234, "+1234"}, {number, -2.5, "-2.5"}, {number, 0, "0"},
	} {
		if got := signed(c.m, c.v); got != c.want {
			t.Errorf("signed(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}
