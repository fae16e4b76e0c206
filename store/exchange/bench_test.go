package exchange

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// rowsReader makes a file of rows as it is read, so that none of it is in memory.
type rowsReader struct {
	left    int
	n       int
	pending bytes.Buffer
}

func (r *rowsReader) Read(p []byte) (int, error) {
	for r.pending.Len() < len(p) && r.left > 0 {
		result := strings.Repeat("a line of what the tool said. ", 60)
		fmt.Fprintf(&r.pending, `{"schema_version":"1","scenario_id":"s%d","rollout_index":%d,"prompt":"Restart it","steps":[{"tool":"restart","arguments":{"id":%d},"result":{"log":%q}}],"final_text":"Done.","reward":1,"markers":{"a":1,"b":0}}`+"\n",
			r.n/4, r.n%4, r.n, result)
		r.n++
		r.left--
	}
	if r.pending.Len() == 0 {
		return 0, io.EOF
	}
	return r.pending.Read(p)
}

// BenchmarkImport reads a file of b.N rows of 2 kB. The heap that the whole took
// from the system is reported beside the rate: it must not grow with b.N.
func BenchmarkImport(b *testing.B) {
	db := openNew(b)
	begin := time.Now()
	report, err := Import(b.Context(), db, []File{{"rows.jsonl", &rowsReader{left: b.N}}}, ImportOptions{RunID: "r", Started: start})
	if err != nil || report.Rows != b.N {
		b.Fatal(report, err)
	}
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "rows/s")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MB")
}
