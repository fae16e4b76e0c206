package tui

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(testFolder())
	os.Exit(code)
}
