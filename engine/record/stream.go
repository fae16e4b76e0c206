package record

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// digest hashes the parts with their lengths, so that ("ab","c") and ("a","bc")
// differ. Only strings and integers name a stream: their text is the same on
// every machine.
func digest(parts []any) [32]byte {
	var buf [256]byte
	b := buf[:0]
	for _, p := range parts {
		mark := len(b)
		b = append(b, 0, 0, 0, 0)
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case Text:
			b = append(b, p...)
		case int:
			b = strconv.AppendInt(b, int64(p), 10)
		case int64:
			b = strconv.AppendInt(b, p, 10)
		case uint64:
			b = strconv.AppendUint(b, p, 10)
		default:
			panic(fmt.Sprintf("record: a stream is named by strings and integers, not %T", p))
		}
		binary.BigEndian.PutUint32(b[mark:], uint32(len(b)-mark-4))
	}
	return sha256.Sum256(b)
}

// Stream is a source of random draws named by what they are for, for example
// Stream("agent", seed, taskID, evalRun, k). Equal names give equal draws on
// every machine; a draw in one stream never moves another.
func Stream(parts ...any) *rand.Rand {
	d := digest(parts)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(d[0:8]), binary.BigEndian.Uint64(d[8:16])))
}

// Rank is a uniform 64-bit number that depends on the parts alone. What is
// kept, dropped or dealt is decided by a row's own rank, so that one row never
// moves another.
func Rank(parts ...any) uint64 {
	d := digest(parts)
	return binary.BigEndian.Uint64(d[:8])
}

// Under reports whether the parts' rank lies in the lowest share of all ranks.
// A share of 0 or less is never, 1 or more always.
func Under(share float64, parts ...any) bool {
	switch {
	case share <= 0 || math.IsNaN(share):
		return false
	case share >= 1:
		return true
	}
	// 2^53 steps are exact in a double, so the comparison is the same everywhere.
	return float64(Rank(parts...)>>11) < share*(1<<53)
}

// SeedOf is a seed for programs outside: 0 to 2^53-1, which every JSON reader
// holds exactly.
func SeedOf(parts ...any) int64 {
	return int64(Rank(parts...) >> 11)
}
