package agent

import (
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// alwaysAllowed is what every program may see of the environment: PATH, HOME,
// LANG, and what Windows programs find their home, their libraries and a folder
// for temporary files by.
var alwaysAllowed = []string{"PATH", "HOME", "LANG", "PATHEXT", "SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "TEMP", "TMP"}

func sameVariable(a, b string) bool { return strings.EqualFold(a, b) }

// groupAttributes keeps a Ctrl-C at the console for us alone.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// processGroup is a job object: a process and all its children.
type processGroup struct {
	job     windows.Handle // 0 where the system gave none
	process *os.Process
}

// newProcessGroup puts a process that has just started into a job that dies with
// its handle, and so with us.
func newProcessGroup(p *os.Process) processGroup {
	g := processGroup{process: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, uint32(p.Pid))
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

func assign(job windows.Handle, pid uint32) error {
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	return windows.AssignProcessToJobObject(job, handle)
}

// kill ends every process of the job, or without one the process alone.
func (g processGroup) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		return
	}
	_ = g.process.Kill()
}

func (g processGroup) release() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}

// wantOfResources is not told from other errors here.
func wantOfResources(error) bool { return false }
