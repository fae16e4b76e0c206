package grade

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_X86_64
	// foreignCalls is where the numbers of the x32 interface begin, which would pass a
	// filter of the usual ones.
	foreignCalls = 0x40000000
)

// legacyCalls are older forms of denied calls.
var legacyCalls = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
