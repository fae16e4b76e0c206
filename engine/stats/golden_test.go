package stats_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"assay/engine/stats"
)

func marshal(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// golden reads the published values that live outside the project.
func golden(t *testing.T) (g struct {
	Wilson struct {
		Tolerance float64
		Cases     []struct {
			K, N   int
			Lo, Hi float64
		}
	}
	AgreementKappa struct {
		Tolerance float64
		Cases     []struct {
			Name           string
			TP, FP, FN, TN int
			Agreement      float64
			AgreementLo    float64 `json:"agreement_lo"`
			AgreementHi    float64 `json:"agreement_hi"`
			Kappa          float64
			LeakRate       float64 `json:"leak_rate"`
			MissRate       float64 `json:"miss_rate"`
		}
	} `json:"agreement_kappa"`
	McNemar struct {
		Tolerance float64
		Cases     []struct {
			B, C int
			P    float64
		}
	} `json:"mcnemar_exact"`
	HoldoutSize struct {
		Cases []struct {
			Effect, Base float64
			K            int
			SD           float64 `json:"sd_paired"`
			Tasks        int     `json:"n_tasks"`
		}
		TaskStd []struct {
			SD     float64 `json:"task_std"`
			Effect float64
			Tasks  int `json:"n_tasks"`
		} `json:"task_std_cases"`
		Detectable []struct {
			Tasks  int `json:"n_tasks"`
			Base   float64
			K      int
			Effect float64
		} `json:"detectable_effect"`
	} `json:"holdout_size"`
	NoiseBand struct {
		Tolerance float64
		Cases     []struct {
			RunStd     float64 `json:"run_std"`
			Runs       *int
			FloorExact bool `json:"floor_exact"`
			Before     int  `json:"n_before"`
			After      int  `json:"n_after"`
			Band       float64
		}
		RunMeans []struct {
			Means []float64
			Std   float64 `json:"run_std_sample"`
		} `json:"run_means"`
	} `json:"noise_band"`
	Power struct {
		Cases []struct {
			Effect float64
			N      int
			Power  float64
		}
	} `json:"power_of_paired_delta"`
}) {
	t.Helper()
	dir := os.Getenv("ASSAY_CASES")
	if dir == "" {
		t.Skip("ASSAY_CASES names no folder of published values")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGolden(t *testing.T) {
	g := golden(t)
	for _, c := range g.Wilson.Cases {
		lo, hi := stats.Wilson(c.K, c.N, stats.Z95)
		near(t, "Wilson lower", lo, c.Lo, g.Wilson.Tolerance)
		near(t, "Wilson upper", hi, c.Hi, g.Wilson.Tolerance)
	}
	for _, c := range g.AgreementKappa.Cases {
		table := stats.Confusion{TP: c.TP, FP: c.FP, FN: c.FN, TN: c.TN}
		near(t, c.Name+" agreement", *table.Agreement().Value, c.Agreement, g.AgreementKappa.Tolerance)
		near(t, c.Name+" lower", *table.Agreement().Lo, c.AgreementLo, g.AgreementKappa.Tolerance)
		near(t, c.Name+" upper", *table.Agreement().Hi, c.AgreementHi, g.AgreementKappa.Tolerance)
		near(t, c.Name+" kappa", *table.Kappa(stats.Z95).Value, c.Kappa, g.AgreementKappa.Tolerance)
		near(t, c.Name+" leak", *table.PassWhenGoldFails().Value, c.LeakRate, g.AgreementKappa.Tolerance)
		near(t, c.Name+" miss", *table.FailWhenGoldPasses().Value, c.MissRate, g.AgreementKappa.Tolerance)
	}
	for _, c := range g.McNemar.Cases {
		near(t, "McNemar p", stats.McNemarExact(c.B, c.C), c.P, g.McNemar.Tolerance)
	}
	for _, c := range g.HoldoutSize.Cases {
		sd := stats.BinomialSD(c.Base, c.Effect, c.K)
		near(t, "sd", sd, c.SD, 5e-5)
		if n := stats.SampleSize(c.Effect, sd, 0.05, 0.80); n != c.Tasks {
			t.Errorf("size for %g at %g = %d, want %d", c.Effect, c.Base, n, c.Tasks)
		}
	}
	for _, c := range g.HoldoutSize.TaskStd {
		if n := stats.SampleSize(c.Effect, c.SD, 0.05, 0.80); n != c.Tasks {
			t.Errorf("size for %g with sd %g = %d, want %d", c.Effect, c.SD, n, c.Tasks)
		}
	}
	for _, c := range g.HoldoutSize.Detectable {
		effect := stats.DetectableEffect(c.Tasks, 0.05, 0.80, 1-c.Base, func(effect float64) float64 {
			return stats.BinomialSD(c.Base, effect, c.K)
		})
		near(t, "detectable effect", effect, c.Effect, 5e-5)
	}
	for _, c := range g.NoiseBand.Cases {
		df := math.Inf(1)
		if !c.FloorExact {
			df = float64(*c.Runs - 1)
		}
		near(t, "band", stats.Band(stats.TQuantile(0.975, df), c.RunStd, c.Before, c.After), c.Band, g.NoiseBand.Tolerance)
	}
	for _, c := range g.NoiseBand.RunMeans {
		near(t, "run std", stats.StdDev(c.Means), c.Std, g.NoiseBand.Tolerance)
	}
	for _, c := range g.Power.Cases {
		near(t, "power", stats.Power(c.Effect, stats.BinomialSD(0.6, c.Effect, 1), c.N, 0.05), c.Power, 5e-4)
	}
}
