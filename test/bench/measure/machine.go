// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ThisMachine describes the machine on which this program runs, without a cluster.
func ThisMachine() (Machine, error) {
	var files [3]string
	for i, path := range []string{"/proc/cpuinfo", "/proc/meminfo", "/proc/sys/kernel/osrelease"} {
		raw, err := os.ReadFile(path)
		if err != nil {
			return Machine{}, fmt.Errorf("reading the description of this machine: %w", err)
		}
		files[i] = string(raw)
	}
	kib, err := strconv.ParseFloat(strings.TrimSuffix(entry(files[1], "MemTotal"), " kB"), 64)
	if err != nil {
		return Machine{}, fmt.Errorf("reading the memory size of this machine: %w", err)
	}
	// The suffix is omitted: a kernel version has many builds, also for the same machines.
	kernel, _, _ := strings.Cut(strings.TrimSpace(files[2]), "-")
	return Machine{
		Processor: entry(files[0], "model name"),
		Cores:     runtime.NumCPU(),
		Memory:    fmt.Sprintf("%.0f GiB", kib/(1<<20)),
		System:    "Linux " + kernel,
	}, nil
}

// entry returns the value of the first line "name : value".
func entry(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Ticks contains the total time of the processors since their start, and their idle time.
type Ticks struct{ all, idle float64 }

// Processors reads the counters of the kernel.
func Processors() (Ticks, error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Ticks{}, fmt.Errorf("reading the processor times: %w", err)
	}
	return parseTicks(string(raw))
}

// parseTicks reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq and steal. Guests, which come after that, are in user and nice already.
func parseTicks(stat string) (Ticks, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return Ticks{}, fmt.Errorf("reading the processor times: got line %q, want cpu and at least 8 numbers", line)
	}
	var t Ticks
	for i, field := range fields[1:9] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return Ticks{}, fmt.Errorf("reading the processor times: %w", err)
		}
		t.all += n
		if i == 3 || i == 4 {
			t.idle += n
		}
	}
	return t, nil
}

// Worked returns how long the processors were busy since before, added up.
func (t Ticks) Worked(before Ticks) time.Duration {
	return time.Duration(t.all-before.all-t.idle+before.idle) * tick
}

// Busy returns the fraction of the time since before in which the processors were busy.
func (t Ticks) Busy(before Ticks) float64 {
	all := t.all - before.all
	if all <= 0 {
		return 0
	}
	return 1 - (t.idle-before.idle)/all
}
