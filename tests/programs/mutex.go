// SPDX-License-Identifier: GPL-2.0

// Four goroutines that share one mutex, each on a thread of its own.
package main

import (
	"os"
	"runtime"
	"sync"
)

const (
	workers = 4
	turns   = 300
)

var table [512]uint64

func work(lock *sync.Mutex, seed uint64) {
	for turn := 0; turn < turns; turn++ {
		lock.Lock()
		for i := 0; i < 200; i++ {
			seed = seed*6364136223846793005 + 1442695040888963407
			table[seed>>55]++
		}
		lock.Unlock()
	}
}

func main() {
	var lock sync.Mutex
	var all sync.WaitGroup
	var sum uint64

	for worker := uint64(0); worker < workers; worker++ {
		all.Add(1)
		go func(seed uint64) {
			defer all.Done()
			runtime.LockOSThread()
			work(&lock, seed)
		}(worker)
	}
	all.Wait()
	for _, count := range table {
		sum += count
	}
	if sum != workers*turns*200 {
		os.Exit(1)
	}
}
