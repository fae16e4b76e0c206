package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"assay/engine"
	"assay/engine/record"
	"assay/tui/ui"
)

type wroteMsg struct {
	files []string
	err   error
}

// endings are the forms that a report is written in: a page with pictures, a text, and
// one for programs.
var endings = []string{".html", ".md", ".json"}

// write puts a report into three files beside the database. Files that are there are
// left alone: another report gets another name.
func write(dir string, r engine.DeltaReport) tea.Cmd {
	return func() tea.Msg {
		raw, err := record.Marshal(r)
		if err != nil {
			return wroteMsg{err: fmt.Errorf("write the delta report: %w", err)}
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, raw, "", "  "); err != nil {
			return wroteMsg{err: fmt.Errorf("write the delta report: %w", err)}
		}
		indented.WriteByte('\n')
		files, err := writeNew(filepath.Join(dir, "delta-"+r.Before+"-"+r.After), map[string][]byte{".html": []byte(r.HTML()), ".md": []byte(r.Markdown()), ".json": indented.Bytes()})
		return wroteMsg{files, err}
	}
}

// mostNames bounds the search for a name that is free.
const mostNames = 1000

// writeNew writes contents by their endings under one name: the given one, or with a
// number where that is taken by something else.
func writeNew(name string, contents map[string][]byte) ([]string, error) {
	for n := 1; n <= mostNames; n++ {
		base := name
		if n > 1 {
			base = fmt.Sprintf("%s-%d", name, n)
		}
		var files []string
		var err error
		for _, ending := range endings {
			if err = writeOne(base+ending, contents[ending]); err != nil {
				break
			}
			files = append(files, base+ending)
		}
		if !errors.Is(err, fs.ErrExist) {
			return files, err
		}
	}
	return nil, fmt.Errorf("write %s: %d reports of that name are there; move some away", name, mostNames)
}

// writeOne makes a file, or finds it there with these very contents.
func writeOne(file string, contents []byte) error {
	if was, err := os.ReadFile(file); err == nil && bytes.Equal(was, contents) {
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write the delta report: %w", err)
	}
	_, err = f.Write(contents)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the delta report: %w", errors.Join(err, os.Remove(file)))
	}
	return nil
}

// Writing names the report that is being written, "" for none.
func (m *Model) Writing() string {
	if m.writing > 0 {
		return "the report"
	}
	return ""
}

func (m *Model) wrote(msg wroteMsg) tea.Cmd {
	m.writing--
	if msg.err != nil {
		return ui.Failed(msg.err)
	}
	return ui.Toast("Written: " + ui.CleanLine(msg.files[0]) + ", " + strings.Join(endings[1:len(endings)-1], ", ") + " and " + endings[len(endings)-1])
}
