// SPDX-License-Identifier: GPL-2.0

// How many threads Go runs goroutines on, and on which CPUs these are.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const getcpu = 309

func main() {
	var ran atomic.Uint64
	var group sync.WaitGroup

	for i := 0; i < 2*runtime.GOMAXPROCS(0); i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			var cpu uint32
			for i := 0; i < 20000; i++ {
				syscall.RawSyscall(getcpu, uintptr(unsafe.Pointer(&cpu)), 0, 0)
				ran.Or(1 << cpu)
			}
		}()
	}
	group.Wait()
	fmt.Printf("{\"threads\":%d,\"told\":%d,\"ran\":%d}\n",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), ran.Load())
}
