package cover_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/engine/cover"

	"github.com/google/go-cmp/cmp"
)

// volumes is the example of PICT's documentation, shortened, with its kinds of
// constraint.
const volumes = `
# volumes and file systems
Type:          Single, Span, Stripe, Mirror, RAID-5
Size:          10, 100, 500, 1000, 5000, 10000, 40000
Format method: quick (10), slow
File system:   FAT, FAT32 | fat32, NTFS
Cluster size:  512, 1024, 32768, 65536
Compression:   on, off

IF [File system] = "FAT" THEN [Size] <= 4096;
IF [File system] = "FAT32" THEN [Size] <= 32000;
if [Compression] = "on" then [File system] = "ntfs" and [Cluster size] in {512, 1024}
else [Type] like "*s*" or not [Size] > 10000;
[Format method] <> "slow" OR ([Type] <> "RAID-5");
`

func TestParsePICT(t *testing.T) {
	m, err := cover.ParsePICT(strings.NewReader(volumes))
	if err != nil {
		t.Fatal(err)
	}
	want := []cover.Parameter{
		{Name: "Type", Values: []string{"Single", "Span", "Stripe", "Mirror", "RAID-5"}},
		{Name: "Size", Values: []string{"10", "100", "500", "1000", "5000", "10000", "40000"}},
		{Name: "Format method", Values: []string{"quick", "slow"}},
		{Name: "File system", Values: []string{"FAT", "FAT32", "NTFS"}},
		{Name: "Cluster size", Values: []string{"512", "1024", "32768", "65536"}},
		{Name: "Compression", Values: []string{"on", "off"}},
	}
	if diff := cmp.Diff(want, m.Parameters); diff != "" {
		t.Error(diff)
	}
	// The constraints once more, by hand.
	v := ofModel(m)
	v.allowed = func(row []string) bool {
		size, _ := strconv.Atoi(row[1])
		small := row[4] == "512" || row[4] == "1024"
		compressed := row[5] != "on" || row[3] == "NTFS" && small
		plain := row[5] == "on" || strings.ContainsAny(row[0], "sS") || size <= 10000
		return (row[3] != "FAT" || size <= 4096) && (row[3] != "FAT32" || size <= 32000) && compressed && plain &&
			(row[2] != "slow" || row[0] != "RAID-5")
	}
	for strength := 2; strength <= 3; strength++ {
		m.Strength, v.strength = strength, strength
		a, err := cover.Build(context.Background(), m, cover.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v.verify(t, a)
	}
}

func TestPICTReferencesAndNegatives(t *testing.T) {
	m, err := cover.ParsePICT(strings.NewReader("A: 1, 2, ~-1\nB: <A>, 3\nC: x, ~y\nIF [A] = [B] THEN [C] = \"x\";\n"))
	if err != nil {
		t.Fatal(err)
	}
	v := ofModel(m)
	v.allowed = func(row []string) bool {
		negative := strings.Count(strings.Join(row, " "), "~")
		return negative <= 1 && (row[0] != row[1] || row[2] == "x")
	}
	a, err := cover.Build(context.Background(), m, cover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.verify(t, a)
}

func TestParsePICTErrors(t *testing.T) {
	for model, says := range map[string]string{
		"":                                     "no parameter",
		"A 1, 2":                               "line 1: want",
		"A: 1,\n":                              "line 1: parameter \"A\" has an empty value",
		"A: 1\nA: 2":                           "line 2: a parameter \"A\" stands there already",
		"A: 1\nB: <C>":                         "line 2: <C> names no parameter above",
		"A: 1, 1":                              `the value "1" twice`,
		"A: 1\n{ A, B } @ 3":                   `line 2: the submodel names no parameter above: "B"`,
		"A: 1\nB: 1\n{ A, B } @ 3":             "line 3: a submodel of strength 3 has 2 parameters",
		"A: 1\nB: 1\n{ A, b, B } @ 2":          `line 3: the submodel names "B" twice`,
		"A: 1\nB: 1\n{ A, B } @ 12":            "line 3: want a submodel as",
		"A: x, y\n\n# note\n[A] = \"z\";":      `line 4: parameter A has no value "z"`,
		"Alpha: x, y\n[Alfa] = \"x\";":         `line 2: unknown parameter "Alfa" (did you mean "Alpha"?)`,
		"A: x, y\nIF [A] = \"x\"\nELSE;":       "line 3: want THEN",
		"A: x, y\n[A] = \"x\"":                 `line 2: want ";", not the end`,
		"A: x, y\n[A] ! \"x\";":                "line 2: cannot read",
		"A: x, y\n([A] = \"x\";":               `line 2: want ")"`,
		"A: x, y\n[A] IN {\"x\" \"y\"};":       "line 2: want , or }",
		"A: x, y\n[A] LIKE 3;":                 "line 2: want a pattern",
		"A: x, y\n[A] = \"x\";\n[A] <> \"x\";": "line 2 and the constraint on line 3: no value of axis A is left",
		"A: x, y\n" + strings.Repeat("(", 5000) + "[A] = \"x\"" + strings.Repeat(")", 5000) + ";": "nested more than",
	} {
		_, err := cover.ParsePICT(strings.NewReader(model))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q\nsays %v\nwant %s", model, err, says)
		}
	}
}

func FuzzParsePICT(f *testing.F) {
	f.Add(volumes)
	f.Add("A: 1, 2, ~-1\nB: <A>, 3\nIF NOT [A] = [B] THEN [A] >= 2 ELSE [B] IN {1, 2};")
	f.Add("A: nan, inf\n[A] < 5;")
	f.Fuzz(func(t *testing.T, model string) {
		m, err := cover.ParsePICT(strings.NewReader(model))
		if err != nil || m.Size() > 5000 || len(m.Parameters) > 8 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		a, err := cover.Build(ctx, m, quick)
		if err != nil {
			t.Fatalf("a model that parses does not build: %v", err)
		}
		ofModel(m).verify(t, a)
	})
}
