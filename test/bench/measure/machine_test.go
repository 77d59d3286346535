// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"testing"
	"time"
)

func TestBusyIsWhatIsNeitherIdleNorWaiting(t *testing.T) {
	before, err := parseTicks("cpu  100 0 50 1000 10 0 0 0 0 0\ncpu0 1 1 1 1\n")
	if err != nil {
		t.Fatal(err)
	}
	after, err := parseTicks("cpu  120 5 60 1050 20 1 2 2 0 0\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := after.Busy(before), 0.4; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("busy: got %v, want %v", got, want)
	}
	if got, want := after.Worked(before), 400*time.Millisecond; got != want {
		t.Errorf("worked: got %v, want %v", got, want)
	}
	if got := before.Busy(before); got != 0 {
		t.Errorf("busy in no time: got %v, want 0", got)
	}
	for _, bad := range []string{"", "intr 1 2 3", "cpu 1 2 3", "cpu 1 2 3 4 x 6 7 8"} {
		if _, err := parseTicks(bad); err == nil {
			t.Errorf("%q: got no error, want one", bad)
		}
	}
}

func TestEntry(t *testing.T) {
	const text = "processor\t: 0\nmodel name\t: a processor: fast\nMemTotal:       1024 kB\n"
	for name, want := range map[string]string{"model name": "a processor: fast", "MemTotal": "1024 kB", "absent": ""} {
		if got := entry(text, name); got != want {
			t.Errorf("entry %q: got %q, want %q", name, got, want)
		}
	}
}
