package grade

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_AARCH64
	// foreignCalls is above every number that the kernel knows: there is one interface.
	foreignCalls = 0x40000000
)

// legacyCalls are older forms of denied calls, of which this architecture has none.
var legacyCalls []uint32
