// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which the kernel reports how long a process has run.
const tick = 10 * time.Millisecond

// ProcessTime returns the processor time of a process so far.
func ProcessTime(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of a process: %w", err)
	}
	return parseProcessTime(string(raw))
}

// parseProcessTime adds utime and stime, fields 14 and 15. The name in field 2 may contain
// anything, so counting starts after its last bracket.
func parseProcessTime(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("reading the processor time of a process: got %d fields after its name, want at least 13", len(fields))
	}
	total := time.Duration(0)
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of a process: %w", err)
		}
		total += time.Duration(ticks) * tick
	}
	return total, nil
}

// ResetPeak resets the peak memory of a process, and returns its current memory, in bytes.
func ResetPeak(pid int) (float64, error) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("resetting the peak memory of a process: %w", err)
	}
	return memoryOf(pid, "VmRSS")
}

// Peak returns the peak memory of a process since ResetPeak, in bytes.
func Peak(pid int) (float64, error) { return memoryOf(pid, "VmHWM") }

func memoryOf(pid int, what string) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of a process: %w", err)
	}
	text := entry(string(raw), what)
	kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return 0, fmt.Errorf("reading %s of a process: got %q, want a number of kB", what, text)
	}
	return kilobytes * 1024, nil
}

// Metric returns the value of a metric without labels, in the text format of Prometheus.
func Metric(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("metric %s is missing", name)
}

// GoBenchmark returns the results that a Go benchmark has printed, by unit: "ns/op", "B/op" and so
// on. The name omits the number of processors.
func GoBenchmark(output, name string) (map[string]float64, error) {
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] != name && !strings.HasPrefix(fields[0], name+"-") {
			continue
		}
		values := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("reading line %q: %w", line, err)
			}
			values[fields[i+1]] = value
		}
		return values, nil
	}
	return nil, fmt.Errorf("no result of %s in:\n%s", name, output)
}
