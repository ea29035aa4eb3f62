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

func work(sum *int, steps int) {
	for k := range steps {
		*sum += k
	}
}

func main() {
	var group sync.WaitGroup
	rounds, _ := strconv.Atoi(os.Args[1])
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			var own int
			for range rounds {
				mutex.Lock()
				work(&shared, 100000)
				mutex.Unlock()
				work(&own, 100)
			}
		}()
	}
	group.Wait()
}
