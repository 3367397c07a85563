// The figures of the suite "core" on Go. Run with GOMAXPROCS=1.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"time"
)

type benchmark struct {
	name    string
	nsPerOp func(iterations int) float64
}

var sink int

func perOp(elapsed time.Duration, operations int) float64 {
	return float64(elapsed.Nanoseconds()) / float64(operations)
}

func countTurns(turns int) {
	counter := 0
	for i := 0; i < turns; i++ {
		counter += i
		runtime.Gosched()
	}
	sink += counter
}

func mixTurns(turns int) {
	state := 0x9e3779b9
	for ; turns != 0; turns-- {
		runtime.Gosched()
		state = (state ^ turns) << 1
	}
	sink += state
}

func yieldMany(goroutines int) func(int) float64 {
	return func(iterations int) float64 {
		turns := iterations / goroutines
		if turns == 0 {
			turns = 1
		}
		var elapsed time.Duration
		var group sync.WaitGroup
		group.Add(goroutines)
		// A new goroutine runs before its elders, so the one with the clock is started last.
		for i := 1; i < goroutines; i++ {
			body := countTurns
			if i%2 == 1 {
				body = mixTurns
			}
			go func() {
				body(turns + 1)
				group.Done()
			}()
		}
		go func() {
			runtime.Gosched()
			start := time.Now()
			countTurns(turns)
			elapsed = time.Since(start)
			group.Done()
		}()
		group.Wait()
		return perOp(elapsed, turns*goroutines)
	}
}

func spawnJoin(iterations int) float64 {
	var group sync.WaitGroup
	sum := 0
	start := time.Now()
	for i := 0; i < iterations; i++ {
		group.Add(1)
		go func(value int) {
			sum += value
			group.Done()
		}(i)
		group.Wait()
	}
	elapsed := time.Since(start)
	sink += sum
	return perOp(elapsed, iterations)
}

// A receive from a closed channel never parks.
func awaitCompleted(iterations int) float64 {
	done := make(chan struct{})
	close(done)
	start := time.Now()
	for i := 0; i < iterations; i++ {
		<-done
	}
	return perOp(time.Since(start), iterations)
}

// The waiter parks in a receive, the other side sends and gives its turn away.
func wakeOne(iterations int) float64 {
	signal := make(chan struct{})
	var elapsed time.Duration
	var group sync.WaitGroup
	group.Add(2)
	go func() {
		runtime.Gosched()
		for i := 0; i < iterations; i++ {
			signal <- struct{}{}
			runtime.Gosched()
		}
		group.Done()
	}()
	go func() {
		start := time.Now()
		for i := 0; i < iterations; i++ {
			<-signal
		}
		elapsed = time.Since(start)
		group.Done()
	}()
	group.Wait()
	return perOp(elapsed, iterations)
}

// A value there over one unbuffered channel, and one back over another.
func channelRoundTrip(iterations int) float64 {
	there := make(chan int)
	back := make(chan int)
	go func() {
		for value := range there {
			back <- value
		}
		close(back)
	}()
	start := time.Now()
	for i := 0; i < iterations; i++ {
		there <- i
		sink += <-back
	}
	elapsed := time.Since(start)
	close(there)
	<-back
	return perOp(elapsed, iterations)
}

const slices = 5 // per round; the fastest one counts

func calibrate(fn func(int) float64, slice time.Duration) int {
	enough := float64(slice.Nanoseconds()) / 10
	for iterations := 1000; ; iterations *= 2 {
		ns := fn(iterations)
		if ns < 0.01 {
			ns = 0.01
		}
		if ns*float64(iterations) >= enough {
			return int(float64(slice.Nanoseconds()) / ns)
		}
	}
}

func quantile(sorted []float64, share float64) float64 {
	position := share * float64(len(sorted)-1)
	below := int(position)
	above := below + 1
	if above >= len(sorted) {
		above = below
	}
	weight := position - float64(below)
	return sorted[below]*(1-weight) + sorted[above]*weight
}

func printLine(line map[string]interface{}) {
	text, err := json.Marshal(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(3)
	}
	fmt.Println(string(text))
}

func runSuite(rounds int, round time.Duration) {
	benchmarks := []benchmark{
		{"yield", yieldMany(2)},
		{"yield_1000", yieldMany(1000)},
		{"spawn_join", spawnJoin},
		{"await_completed", awaitCompleted},
		{"wake_one", wakeOne},
		{"channel", channelRoundTrip},
	}
	iterations := make([]int, len(benchmarks))
	samples := make([][]float64, len(benchmarks))
	for i, b := range benchmarks {
		iterations[i] = calibrate(b.nsPerOp, round/slices)
	}
	for r := 0; r <= rounds; r++ {
		fastest := make([]float64, len(benchmarks))
		for s := 0; s < slices; s++ {
			for i, b := range benchmarks {
				if ns := b.nsPerOp(iterations[i]); s == 0 || ns < fastest[i] {
					fastest[i] = ns
				}
			}
		}
		for i := range benchmarks {
			if r > 0 { // the first round is a warm-up
				samples[i] = append(samples[i], fastest[i])
			}
		}
	}
	for i, b := range benchmarks {
		sorted := samples[i]
		sort.Float64s(sorted)
		median := quantile(sorted, 0.5)
		printLine(map[string]interface{}{
			"name": b.name, "unit": "ns", "median": median, "min": sorted[0], "max": sorted[len(sorted)-1],
			"spread": (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / median, "rounds": rounds,
		})
	}
}

func memoryUse() (resident, pageTables int) {
	var total int
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		fmt.Sscanf(string(text), "%d %d", &total, &resident)
	}
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		if at := bytes.Index(text, []byte("VmPTE:")); at >= 0 {
			fmt.Sscanf(string(text[at:]), "VmPTE: %d", &pageTables)
		}
	}
	return resident * os.Getpagesize() / 1024, pageTables
}

func measureParked(count int) {
	gate := make(chan struct{})
	arrived := 0
	park := func() {
		arrived++
		<-gate
	}
	go park()
	for arrived != 1 {
		runtime.Gosched()
	}
	resident, pageTables := memoryUse()
	for i := 0; i < count; i++ {
		go park()
	}
	for arrived != count+1 {
		runtime.Gosched()
	}
	residentAfter, pageTablesAfter := memoryUse()
	printLine(map[string]interface{}{
		"name": "parked_kib", "unit": "KiB", "count": count, "rounds": 1,
		"median":      float64(residentAfter-resident) / float64(count),
		"page_tables": float64(pageTablesAfter-pageTables) / float64(count),
	})
	os.Exit(0)
}

func main() {
	rounds := flag.Int("rounds", 9, "counted rounds")
	roundMs := flag.Int("round-ms", 50, "length of a round in milliseconds")
	parked := flag.Int("parked", 0, "measure this many parked goroutines instead")
	sleeps := flag.Bool("sleeps", false, "measure 100,000 sleeps instead")
	flag.Parse()
	if *sleeps {
		measureSleeps()
		return
	}
	if *parked > 0 {
		measureParked(*parked)
	}
	runSuite(*rounds, time.Duration(*roundMs)*time.Millisecond)
}
