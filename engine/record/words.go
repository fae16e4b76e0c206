package record

import "fmt"

// Counted is a number with what it counts, for a sentence: "1 task", "2 tasks".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
