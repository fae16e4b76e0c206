//go:build linux && (amd64 || arm64)

package grade

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deniedCalls are refused with "operation not permitted", to what the other guards
// leave open:
var deniedCalls = []uint32{
	// the network, and a way round this filter
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP,
	// memory that no address space shows
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN,
	// what Landlock does not look at: owner, mode, times and attributes of files
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	// more namespaces, keys that outlive a process, and doors into the kernel
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_ADD_KEY, unix.SYS_KEYCTL, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
}

// signalCalls are denied where the code has no process namespace of its own, and would
// reach every process of its user.
var signalCalls = []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL}

// The offsets of the number and the architecture in what a filter is shown, struct
// seccomp_data of the kernel.
const (
	offsetOfCall         = 0
	offsetOfArchitecture = 4
)

// filterCalls puts the filter on this thread and what it starts. The thread itself
// needs none of the calls.
func filterCalls(apart bool) error {
	denied := slices.Concat(deniedCalls, legacyCalls)
	if !apart {
		denied = append(denied, signalCalls...)
	}
	filter := callFilter(denied)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// callFilter is a program of the kernel's packet filter: another architecture's calls
// do not exist, nor does clone3, whose flags a filter cannot read (C libraries then
// take clone), the denied ones are not permitted, and the rest is allowed.
func callFilter(denied []uint32) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	refuse := func(errno unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	// Each test is followed by its answer, which the test skips where it does not hold.
	unless := func(how uint16, value uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jf: 1, K: value}
	}
	filter := []unix.SockFilter{
		load(offsetOfArchitecture),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: architecture},
		refuse(unix.ENOSYS),
		load(offsetOfCall),
		unless(unix.BPF_JGE, foreignCalls), refuse(unix.ENOSYS),
		unless(unix.BPF_JEQ, unix.SYS_CLONE3), refuse(unix.ENOSYS),
	}
	for _, call := range denied {
		filter = append(filter, unless(unix.BPF_JEQ, call), refuse(unix.EPERM))
	}
	return append(filter, answer(unix.SECCOMP_RET_ALLOW))
}
