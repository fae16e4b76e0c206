package cut_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/engine/cut"
	"assay/engine/record"
)

// training is a pool of tasks x k rollouts whose words and rewards the given function
// sets; difficulty is each task's own, from 0 to 1.
func training(seed uint64, tasks, k int, play func(rng *rand.Rand, difficulty float64) (words string, reward float64)) []record.Sample {
	rng, p := rand.New(rand.NewPCG(seed, 0)), newPool()
	for i := range tasks {
		difficulty := rng.Float64()
		for j := range k {
			words, reward := play(rng, difficulty)
			s := p.add(fmt.Sprintf("t%03d", i), j, reward)
			s.Rollout.FinalText = record.Text(fmt.Sprintf("%s %d", words, rng.IntN(1000)))
		}
	}
	return p.samples
}

func coin(rng *rand.Rand, p float64) bool { return rng.Float64() < p }

func feature(r cut.ScanReport, name string) *cut.Feature {
	at := slices.IndexFunc(r.Features, func(f cut.Feature) bool { return f.Name == name })
	if at < 0 {
		return nil
	}
	return &r.Features[at]
}

func TestScanRegimes(t *testing.T) {
	for _, c := range []struct {
		name     string
		samples  []record.Sample
		endorsed []string
		want     cut.Regime
	}{
		{"no rows", nil, nil, cut.RegimeUnknown},
		{"no group", training(1, 30, 1, func(rng *rand.Rand, d float64) (string, float64) { return "done", 1 }), nil, cut.RegimeUnknown},
		{"one reward", training(2, 30, 8, func(rng *rand.Rand, d float64) (string, float64) { return "done", 1 }), nil, cut.RegimeNoSignal},
		{"reward by chance", training(3, 60, 8, func(rng *rand.Rand, d float64) (string, float64) {
			words := "done"
			if coin(rng, 0.5) {
				words = "certainly done"
			}
			return words, float64(rng.IntN(2))
		}), nil, cut.RegimeNoSignal},
		{"the judge pays for a word", training(4, 60, 8, func(rng *rand.Rand, d float64) (string, float64) {
			if coin(rng, 0.5) {
				return "certainly done", float64(boolInt(coin(rng, 0.9)))
			}
			return "done", float64(boolInt(coin(rng, 0.1)))
		}), []string{"tool:refund"}, cut.RegimeRewardHack},
		{"the judge pays for what was meant", training(5, 60, 8, func(rng *rand.Rand, d float64) (string, float64) {
			if coin(rng, 0.5) {
				return "verified done", float64(boolInt(coin(rng, 0.9)))
			}
			return "done", float64(boolInt(coin(rng, 0.1)))
		}), []string{"verified"}, cut.RegimeTrain},
		{"most tasks are solved", training(6, 60, 8, func(rng *rand.Rand, d float64) (string, float64) {
			if d > 0.4 || coin(rng, 0.5) {
				return "verified done", 1
			}
			return "done", 0
		}), nil, cut.RegimePoolExhausted},
		{"two different rollouts a task", twoRollouts(60, 8), nil, cut.RegimeDegenerate},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := cut.Scan(c.samples, cut.ScanOptions{Endorsed: c.endorsed})
			if r.Regime != c.want {
				t.Errorf("regime %s, want %s; support %+v, features %+v", r.Regime, c.want, r.Support, r.Features[:min(3, len(r.Features))])
			}
		})
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// twoRollouts is a pool in which each task has but two different rollouts, one of which
// passes.
func twoRollouts(tasks, k int) []record.Sample {
	p := newPool()
	for i := range tasks {
		for j := range k {
			s := p.add(fmt.Sprint("t", i), j, float64(j%2))
			s.Rollout.FinalText = record.Text([]string{"gamma delta", "alpha beta"}[j%2])
		}
	}
	return p.samples
}

// Hard tasks get long replies and low rewards. Pooled, that looks like a price on
// length; within tasks there is none, and that is what a gradient follows.
func TestScanSeesThroughDifficulty(t *testing.T) {
	samples := training(8, 100, 8, func(rng *rand.Rand, d float64) (string, float64) {
		words := ""
		for range 1 + int(20*d) + rng.IntN(5) {
			words += "word "
		}
		return words, float64(boolInt(coin(rng, 1-d)))
	})
	r := cut.Scan(samples, cut.ScanOptions{})
	length := feature(r, "reply_length")
	if length == nil || length.RhoPooled > -0.3 || length.Above {
		t.Errorf("reply length %+v, tau %v", length, r.Tau)
	}
}

// The two variances add up to the whole one.
func TestScanSupport(t *testing.T) {
	samples := training(9, 40, 6, func(rng *rand.Rand, d float64) (string, float64) { return "done", float64(boolInt(coin(rng, d))) })
	s := cut.Scan(samples, cut.ScanOptions{}).Support
	mean, variance := 0.0, 0.0
	for i := range samples {
		mean += *samples[i].Judgment.Reward / float64(len(samples))
	}
	for i := range samples {
		variance += math.Pow(*samples[i].Judgment.Reward-mean, 2) / float64(len(samples))
	}
	if math.Abs(s.Within+s.Between-variance) > 1e-12 || s.Solved+s.Dead+s.Mixed != s.Tasks {
		t.Errorf("support %+v of variance %v", s, variance)
	}
}

// The correlation against the textbook formula over centred columns, and the floor
// against what it promises: chance clears it one time in twenty.
func TestScanCorrelation(t *testing.T) {
	samples := training(10, 50, 8, func(rng *rand.Rand, d float64) (string, float64) {
		if coin(rng, d) {
			return "yes indeed", rng.Float64()
		}
		return "no", rng.Float64() * 0.8
	})
	got := feature(cut.Scan(samples, cut.ScanOptions{}), "word:yes")
	means := map[string][2]float64{}
	value := func(s *record.Sample) (f, r float64) {
		return float64(boolInt(s.Rollout.FinalText[0] == 'y')), *s.Judgment.Reward
	}
	for i := range samples {
		f, r := value(&samples[i])
		m := means[samples[i].Task.ID]
		means[samples[i].Task.ID] = [2]float64{m[0] + f/8, m[1] + r/8}
	}
	ff, rr, fr := 0.0, 0.0, 0.0
	for i := range samples {
		f, r := value(&samples[i])
		m := means[samples[i].Task.ID]
		ff, rr, fr = ff+(f-m[0])*(f-m[0]), rr+(r-m[1])*(r-m[1]), fr+(f-m[0])*(r-m[1])
	}
	if want := fr / math.Sqrt(ff*rr); got == nil || math.Abs(got.RhoWithin-want) > 1e-9 {
		t.Errorf("rho within %+v, want %v", got, want)
	}
}

func TestScanFloorHolds(t *testing.T) {
	const trials = 200
	alarms := 0
	for seed := range uint64(trials) {
		r := cut.Scan(training(100+seed, 20, 6, func(rng *rand.Rand, d float64) (string, float64) {
			words := ""
			for _, word := range []string{"alpha ", "beta ", "gamma ", "delta "} {
				if coin(rng, 0.5) {
					words += word
				}
			}
			return words + "end", float64(boolInt(coin(rng, d)))
		}), cut.ScanOptions{Seed: int64(seed)})
		if len(r.Features) > 0 && r.Features[0].Above {
			alarms++
		}
	}
	if rate := float64(alarms) / trials; rate > 0.05+3*math.Sqrt(0.05*0.95/trials) {
		t.Errorf("chance cleared the floor in %.3f of scans", rate)
	}
}

func TestScanLeavesOutWhatIsNotTrainedOn(t *testing.T) {
	p := newPool()
	p.group("a", 1, 0, 1, 0)
	p.group("held", 1, 0, 1, 0)
	for i := 4; i < 8; i++ {
		p.samples[i].HeldOut = true
	}
	if s := cut.Scan(p.samples, cut.ScanOptions{}).Support; s.Rows != 4 {
		t.Errorf("%d rows, the held-out ones among them", s.Rows)
	}
	if s := cut.Scan(p.samples, cut.ScanOptions{Mode: record.ModeRL}).Support; s.Rows != 2 {
		t.Errorf("%d rows in rl, the probes among them", s.Rows)
	}
	if r := cut.Scan(p.samples, cut.ScanOptions{Mode: record.ModeEval}); r.Support.Rows != 0 || r.Regime != cut.RegimeUnknown {
		t.Errorf("an eval run is scanned as %s, %d rows", r.Regime, r.Support.Rows)
	}
}

// BenchmarkScan: 5,000 rollouts, over 200 features, 100 shuffles.
func BenchmarkScan(b *testing.B) {
	samples := training(1, 625, 8, func(rng *rand.Rand, d float64) (string, float64) {
		words := ""
		for range 60 {
			words += fmt.Sprintf("w%d ", rng.IntN(400))
		}
		return words, float64(boolInt(coin(rng, d)))
	})
	b.ReportAllocs()
	features := 0
	for b.Loop() {
		features = len(cut.Scan(samples, cut.ScanOptions{}).Features)
	}
	b.ReportMetric(float64(features), "features")
}
