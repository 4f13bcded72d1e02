// W14 in Go: every key in order, keys spread over workers by their hash, a channel a worker.
//
// Workloads: w14-race-0us, w14-race-1us. THREADS is how many workers there are; the events come from
// one goroutine more.
// Variants: pP-bN, GOMAXPROCS and the places of a channel; with -batch, events come 32 at once and
// go on as one message to each worker (channels then hold N / 32 of them and one more); with -map, states lie in
// a map of the language, else in a table of our own.
//
// A new key is not put where there is least to do, and that a key has finished is known to its state
// only: a hash has no memory.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	flowCount = 1000
	flowSteps = 950
	flowBatch = 32
)

type keyed struct {
	key    uint64
	number uint32
	finish bool
}

func keyOf(index uint64) uint64 {
	x := (index + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func shuffledKeys() []uint64 {
	keys := make([]uint64, flowCount)
	random := uint64(1)
	for i := range keys {
		random = random*6364136223846793005 + 1442695040888963407
		at := int(uint32(random>>33) % uint32(i+1))
		keys[i] = keys[at]
		keys[at] = keyOf(uint64(i))
	}
	return keys
}

func scatter(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 32 }

type slot struct{ key, got uint64 }

// A worker: the states of its keys, and what it has seen.
type flowWorker struct {
	table                              []slot
	states                             map[uint64]*uint64
	handled, wrong, finished, computed uint64
	_                                  [128]byte
}

func (w *flowWorker) at(key uint64) *uint64 {
	if w.states != nil {
		got := w.states[key]
		if got == nil {
			got = new(uint64)
			w.states[key] = got
		}
		return got
	}
	mask := uint64(len(w.table) - 1)
	i := scatter(key) & mask
	for w.table[i].key != key && w.table[i].key != 0 {
		i = (i + 1) & mask
	}
	w.table[i].key = key
	return &w.table[i].got
}

func (w *flowWorker) handle(e *keyed, steps int) {
	got := w.at(e.key)
	if uint64(e.number) != *got {
		w.wrong++
	}
	*got++
	if e.finish {
		*got = 0
		w.finished++
	}
	if steps > 0 {
		x := uint64(steps)
		for i := 0; i < steps; i++ {
			x = x*6364136223846793005 + 1442695040888963407
		}
		w.computed += x
	}
	w.handled++
}

func sendSingly(keys []uint64, rounds uint64, workers []flowWorker, steps int) {
	boxes := make([]chan keyed, len(workers))
	var gone sync.WaitGroup
	gone.Add(len(workers))
	for i := range boxes {
		box, w := make(chan keyed, buffer), &workers[i]
		boxes[i] = box
		go func() {
			for e := range box {
				w.handle(&e, steps)
			}
			gone.Done()
		}()
	}
	for round := uint64(0); round < rounds; round++ {
		for _, key := range keys {
			boxes[scatter(key)>>20%uint64(len(boxes))] <- keyed{key, uint32(round), round+1 == rounds}
		}
	}
	for _, box := range boxes {
		close(box)
	}
	gone.Wait()
}

// Slices come back when they are handled, and are filled again.
func sendBatches(keys []uint64, rounds uint64, workers []flowWorker, steps int) {
	places := buffer/flowBatch + 1
	boxes, used := make([]chan []keyed, len(workers)), make([]chan []keyed, len(workers))
	parts := make([][]keyed, len(workers))
	var gone sync.WaitGroup
	gone.Add(len(workers))
	for i := range boxes {
		box, back, w := make(chan []keyed, places), make(chan []keyed, places+2), &workers[i]
		boxes[i], used[i] = box, back
		for k := 0; k < places+2; k++ {
			back <- make([]keyed, 0, flowBatch)
		}
		parts[i] = <-back
		go func() {
			for some := range box {
				for k := range some {
					w.handle(&some[k], steps)
				}
				back <- some[:0]
			}
			gone.Done()
		}()
	}
	for round := uint64(0); round < rounds; round++ {
		for i, key := range keys {
			to := scatter(key) >> 20 % uint64(len(boxes))
			parts[to] = append(parts[to], keyed{key, uint32(round), round+1 == rounds})
			if i%flowBatch == flowBatch-1 || i == len(keys)-1 {
				for k, part := range parts {
					if len(part) > 0 {
						boxes[k] <- part
						parts[k] = <-used[k]
					}
				}
			}
		}
	}
	for _, box := range boxes {
		close(box)
	}
	gone.Wait()
}

func flows(count int, variant string, full uint64, steps int) {
	procs := count + 1
	if variant != "" {
		if n, _ := fmt.Sscanf(variant, "p%d-b%d", &procs, &buffer); n != 2 || procs < 1 {
			usage("no variant %s", variant)
		}
	}
	runtime.GOMAXPROCS(procs)
	keys, rounds := shuffledKeys(), scaled(full, flowCount)/flowCount
	workers := make([]flowWorker, count)
	for i := range workers {
		if strings.HasSuffix(variant, "-map") {
			workers[i].states = make(map[uint64]*uint64, flowCount)
		} else {
			workers[i].table = make([]slot, 2048)
		}
	}
	start := time.Now()
	if strings.Contains(variant, "-batch") {
		sendBatches(keys, rounds, workers, steps)
	} else {
		sendSingly(keys, rounds, workers, steps)
	}
	elapsed := time.Since(start)
	handled, wrong, finished := uint64(0), uint64(0), uint64(0)
	for i := range workers {
		handled += workers[i].handled
		wrong += workers[i].wrong
		finished += workers[i].finished
	}
	if handled != rounds*flowCount || wrong != 0 || finished != flowCount {
		fail("%d events of %d, %d out of order", handled, rounds*flowCount, wrong)
	}
	resultRate(handled, elapsed)
}
