// SPDX-License-Identifier: GPL-2.0

// Goroutines that share a sync.Mutex. The argument: how often each takes it.
package main

import (
	"os"
	"strconv"
	"sync"
)

var mutex sync.Mutex
var shared int

func main() {
	var group sync.WaitGroup
	rounds, _ := strconv.Atoi(os.Args[1])
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range rounds {
				mutex.Lock()
				for k := range 2000 {
					shared += k
				}
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
}
