package agent

import "golang.org/x/sys/windows"

func running(pid int) bool {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var status uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(handle, &status) == nil && status == stillActive
}
