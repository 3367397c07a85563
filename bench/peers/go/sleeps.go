package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// CPU time of the process in milliseconds, user and system.
func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec)*1e3 + float64(usage.Utime.Usec+usage.Stime.Usec)/1e3
}

func sleepRound() float64 {
	before := cpuMs()
	var group sync.WaitGroup
	group.Add(100_000)
	for i := 0; i < 100_000; i++ {
		go func() {
			time.Sleep(10 * time.Millisecond)
			group.Done()
		}()
	}
	group.Wait()
	return cpuMs() - before
}

// 100,000 sleeps of 10 ms, twice: the second round finds everything warm.
func measureSleeps() {
	for _, name := range []string{"sleeps_100k_cold", "sleeps_100k"} {
		ms := sleepRound()
		fmt.Printf("{\"name\":\"%s\",\"unit\":\"ms\",\"median\":%.4f,\"min\":%.4f,\"max\":%.4f,\"spread\":0,\"rounds\":1}\n",
			name, ms, ms, ms)
	}
}
