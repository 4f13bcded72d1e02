// Go as a peer: a goroutine is an actor, its channel the bounded mailbox.
//
//	go build -o go_peer go_peer.go go_flows.go
//	go_peer WORKLOAD THREADS [SCALE [VARIANT]]
//
// Workloads: w1 w2-inside w3-1 w3-100 w4 w5-inside w6-parked w6-spinning w8 w9-idle
// w11-inside-1 w11-inside-10 w11-inside-1000; w14-race-0us and w14-race-1us are in go_flows.go.
// Variants: buffer-N, the places of a channel (buffer-0 hands over directly); gc-off-N, the same
// without garbage collection. THREADS is GOMAXPROCS. Loads are those of peer.h.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type event struct{ sender, number uint64 }

var (
	workload string
	scale    = 1.0
	buffer   = 1024
)

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "WRONG "+format+"\n", arguments...)
	os.Exit(1)
}

func usage(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "go_peer: "+format+"\n", arguments...)
	os.Exit(2)
}

func scaled(full, unit uint64) uint64 {
	if units := uint64(float64(full)*scale) / unit; units > 0 {
		return units * unit
	}
	return unit
}

func result(metric string, value float64) {
	fmt.Printf("RESULT go %s %s %.6g\n", workload, metric, value)
}

func resultRate(events uint64, elapsed time.Duration) {
	result("events_per_s", float64(events)/elapsed.Seconds())
	result("ns_per_event", float64(elapsed.Nanoseconds())/float64(events))
}

func resultLatency(samples []int) {
	sort.Ints(samples)
	n := len(samples)
	result("p50_ns", float64(samples[n/2]))
	result("p95_ns", float64(samples[n*95/100]))
	result("p99_ns", float64(samples[n*99/100]))
	result("p999_ns", float64(samples[n*999/1000]))
}

func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail("%v", err)
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize())
}

func cpuMs() float64 {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e6
}

func ring(actors, tokens int, full uint64) {
	each := scaled(full, uint64(tokens)) / uint64(tokens)
	boxes := make([]chan uint64, actors)
	counts := make([]uint64, actors*16) // a line or two each
	for i := range boxes {
		boxes[i] = make(chan uint64, buffer)
	}
	var left, gone sync.WaitGroup
	left.Add(tokens)
	gone.Add(actors)
	for i := range boxes {
		in, out, count := boxes[i], boxes[(i+1)%actors], &counts[i*16]
		go func() {
			for hops := range in {
				*count++
				if hops == 0 {
					left.Done()
				} else {
					out <- hops - 1
				}
			}
			gone.Done()
		}()
	}
	start := time.Now()
	for t := 0; t < tokens; t++ {
		boxes[t*actors/tokens] <- each
	}
	left.Wait()
	elapsed := time.Since(start)
	for _, box := range boxes {
		close(box)
	}
	gone.Wait()
	total := uint64(0)
	for _, count := range counts {
		total += count
	}
	if total != uint64(tokens)*(each+1) {
		fail("%d hops of %d", total, uint64(tokens)*(each+1))
	}
	resultRate(total, elapsed)
}

// Receivers, and producers that are goroutines too; with one receiver all send to it, else each to
// its share of them in turn.
func fanIn(receivers, producers int, each uint64) {
	expected := each
	if receivers == 1 {
		expected = each * uint64(producers)
	}
	boxes := make([]chan event, receivers)
	var left sync.WaitGroup
	left.Add(receivers)
	for i := range boxes {
		box := make(chan event, buffer)
		boxes[i] = box
		go func() {
			var next [4]uint64
			for count := uint64(0); count < expected; count++ {
				e := <-box
				if e.number != next[e.sender] {
					fail("event %d of sender %d where %d was due", e.number, e.sender, next[e.sender])
				}
				next[e.sender]++
			}
			left.Done()
		}()
	}
	start := time.Now()
	for p := 0; p < producers; p++ {
		first, step := p, producers
		if receivers == 1 {
			first, step = 0, 1
		}
		go func(sender uint64) {
			for n := uint64(0); n < each; n++ {
				for i := first; i < receivers; i += step {
					boxes[i] <- event{sender, n}
				}
			}
		}(uint64(p))
	}
	left.Wait()
	resultRate(expected*uint64(receivers), time.Since(start))
}

// One goroutine sends every event to all receivers, box by box.
func broadcast(receivers int) {
	each := scaled(20000000, uint64(receivers)) / uint64(receivers)
	boxes := make([]chan event, receivers)
	var left sync.WaitGroup
	left.Add(receivers)
	for i := range boxes {
		box := make(chan event, buffer)
		boxes[i] = box
		go func() {
			for next := uint64(0); next < each; next++ {
				if e := <-box; e.number != next {
					fail("event %d where %d was due", e.number, next)
				}
			}
			left.Done()
		}()
	}
	start := time.Now()
	go func() {
		for n := uint64(0); n < each; n++ {
			for _, box := range boxes {
				box <- event{0, n}
			}
		}
	}()
	left.Wait()
	resultRate(each*uint64(receivers), time.Since(start))
}

func crowd() {
	count := scaled(1000000, 1)
	boxes := make([]chan uint64, count)
	var handled uint64
	var left, gone sync.WaitGroup
	left.Add(int(count))
	gone.Add(int(count))
	before := residentBytes()
	start := time.Now()
	for i := range boxes {
		box := make(chan uint64, buffer)
		boxes[i] = box
		go func() {
			for n := range box {
				atomic.AddUint64(&handled, n)
				left.Done()
			}
			gone.Done()
		}()
	}
	for _, box := range boxes {
		box <- 1
	}
	left.Wait()
	bytes := residentBytes() - before
	for _, box := range boxes {
		close(box)
	}
	gone.Wait()
	elapsed := time.Since(start)
	if handled != count {
		fail("%d events of %d", handled, count)
	}
	result("seconds", elapsed.Seconds())
	result("bytes_each", bytes/float64(count))
}

// The one who sends is an external thread, as in the other programs: locked, and asleep in the
// kernel. A plain goroutine would hand its own thread to the receiver, and nobody would be woken.
func wakes(spinning bool) {
	count := int(scaled(5000, 100))
	box := make(chan time.Time, buffer)
	samples := make([]int, 0, count)
	done := make(chan bool)
	go func() {
		for len(samples) < count {
			if spinning {
				select {
				case sent := <-box:
					samples = append(samples, int(time.Since(sent)))
				default:
				}
			} else {
				sent := <-box
				samples = append(samples, int(time.Since(sent)))
			}
		}
		done <- true
	}()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) // one more, for it
	runtime.LockOSThread()
	nap := syscall.NsecToTimespec(1000000)
	for i := 0; i < count; i++ {
		syscall.Nanosleep(&nap, nil)
		box <- time.Now()
	}
	<-done
	resultLatency(samples)
}

func timers() {
	count := int(scaled(1000000, 2))
	var fired int64
	all := make([]*time.Timer, count)
	delays := make([]time.Duration, count)
	random := rand.New(rand.NewSource(1))
	for i := range delays {
		delays[i] = 2*time.Second + time.Duration(random.Int63n(int64(time.Second)))
	}
	start := time.Now()
	for i, delay := range delays {
		all[i] = time.AfterFunc(delay, func() { atomic.AddInt64(&fired, 1) })
	}
	result("schedule_per_s", float64(count)/time.Since(start).Seconds())
	start = time.Now()
	for i := 0; i < count; i += 2 {
		if !all[i].Stop() {
			fail("a timer was gone before it was cancelled")
		}
	}
	result("cancel_per_s", float64(count/2)/time.Since(start).Seconds())
	before := cpuMs()
	for atomic.LoadInt64(&fired) < int64(count/2) {
		time.Sleep(time.Millisecond)
	}
	result("fire_cpu_ms", cpuMs()-before)
	time.Sleep(50 * time.Millisecond)
	if atomic.LoadInt64(&fired) != int64(count/2) {
		fail("%d timers of %d fired", fired, count/2)
	}
}

func idle() {
	for i := 0; i < 8; i++ {
		box := make(chan event, buffer)
		go func() {
			for range box {
			}
		}()
	}
	seconds := 5 * scale
	if seconds < 0.2 {
		seconds = 0.2
	}
	time.Sleep(300 * time.Millisecond)
	before := cpuMs()
	time.Sleep(time.Duration(seconds * 1e9))
	result("cpu_ms", (cpuMs()-before)/seconds)
}

// readVariant takes buffer-N or gc-off-N.
func readVariant(text string) {
	places := strings.TrimPrefix(text, "buffer-")
	if strings.HasPrefix(text, "gc-off-") {
		places = strings.TrimPrefix(text, "gc-off-")
		debug.SetGCPercent(-1)
	}
	n, err := strconv.Atoi(places)
	if err != nil || n < 0 {
		usage("no variant %s", text)
	}
	buffer = n
}

func main() {
	if len(os.Args) < 3 {
		usage("WORKLOAD THREADS [SCALE [VARIANT]]")
	}
	workload = os.Args[1]
	threads, err := strconv.Atoi(os.Args[2])
	if err != nil || threads < 1 {
		usage("THREADS is 1 or more")
	}
	if len(os.Args) > 3 {
		if scale, err = strconv.ParseFloat(os.Args[3], 64); err != nil || scale <= 0 || scale > 1 {
			usage("SCALE is above 0 and at most 1")
		}
	}
	runtime.GOMAXPROCS(threads)
	debug.SetGCPercent(400)
	variant := ""
	if len(os.Args) > 4 {
		variant = os.Args[4]
	}
	if variant != "" && !strings.HasPrefix(workload, "w14") {
		readVariant(variant)
	}
	switch workload {
	case "w1":
		ring(2, 1, 4000000)
	case "w3-1":
		ring(1000, 1, 5000000)
	case "w3-100":
		ring(1000, 100, 5000000)
	case "w2-inside":
		fanIn(1, 4, scaled(10000000/4, 1))
	case "w5-inside":
		fanIn(64, 2, scaled(100000, 1))
	case "w4":
		crowd()
	case "w11-inside-1":
		broadcast(1)
	case "w11-inside-10":
		broadcast(10)
	case "w11-inside-1000":
		broadcast(1000)
	case "w14-race-0us":
		flows(threads, variant, 4000000, 0)
	case "w14-race-1us":
		flows(threads, variant, 1000000, flowSteps)
	case "w6-parked", "w6-spinning":
		wakes(workload == "w6-spinning")
	case "w8":
		timers()
	case "w9-idle":
		idle()
	default:
		usage("does no %s", workload)
	}
}
