// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWatchesAreTranslatedWhereverTheyAreCut(t *testing.T) {
	recorded, err := os.ReadFile("testdata/watch.jsonl")
	if err != nil {
		t.Fatalf("reading a recorded watch: %v", err)
	}
	want := strings.ReplaceAll(string(recorded), `"object":{"kind":"StatefulSet","apiVersion":"apps.statefulset.dev/v1"`,
		`"object":{"kind":"StatefulSet","apiVersion":"apps/v1"`)
	if want == string(recorded) {
		t.Fatal("the recorded watch has no event of our kind")
	}
	for sentence, cut := range map[string]func(io.Reader) io.Reader{
		"whole":                   func(r io.Reader) io.Reader { return r },
		"byte by byte":            iotest.OneByteReader,
		"in halves":               iotest.HalfReader,
		"with the end attached":   iotest.DataErrReader,
		"in pieces of 1000 bytes": func(r io.Reader) io.Reader { return pieces{r, 1000} },
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := io.ReadAll(newFrames(io.NopCloser(cut(bytes.NewReader(recorded)))))
			if err != nil || string(got) != want {
				t.Errorf("got\n%s, %v\nwant\n%s", got, err, want)
			}
		})
	}
}

type pieces struct {
	source io.Reader
	size   int
}

func (p pieces) Read(into []byte) (int, error) { return p.source.Read(into[:min(p.size, len(into))]) }

// An event that waited for the next one would keep a rollout from being seen as complete.
func TestEventsArriveAsSoonAsTheyAreComplete(t *testing.T) {
	source, server := io.Pipe()
	watch := newFrames(source)
	defer watch.Close()
	lines := json.NewDecoder(watch)
	for i := range 3 {
		go fmt.Fprintf(server, `{"type":"MODIFIED","object":{"apiVersion":"apps.statefulset.dev/v1","generation":%d}}`, i)
		var event struct {
			Object struct {
				APIVersion string
				Generation int
			}
		}
		if err := lines.Decode(&event); err != nil || event.Object.Generation != i || event.Object.APIVersion != "apps/v1" {
			t.Fatalf("got %+v, %v, want event %d as apps/v1", event, err, i)
		}
	}
}

func TestLargeEventsPass(t *testing.T) {
	large := fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"annotations":{"a":%q}},"apiVersion":"apps.statefulset.dev/v1"}}`,
		strings.Repeat("x", 4<<20))
	got, err := io.ReadAll(newFrames(io.NopCloser(strings.NewReader(large))))
	want := strings.Replace(large, "apps.statefulset.dev/v1", "apps/v1", 1) + "\n"
	if err != nil || string(got) != want {
		t.Errorf("got %d bytes, %v, want %d bytes", len(got), err, len(want))
	}
}

func TestWatchesThatBreak(t *testing.T) {
	const whole = `{"type":"ADDED","object":{"apiVersion":"apps.statefulset.dev/v1"}}`
	lost := errors.New("connection lost")
	for sentence, c := range map[string]struct {
		source io.Reader
		before string
		want   string
	}{
		"in the middle of an event": {strings.NewReader(whole + `{"type":"MODI`), "ADDED", "unexpected EOF"},
		"with something else":       {strings.NewReader(whole + "<html>"), "ADDED", "reading an event of a watch: invalid character"},
		"with the connection":       {io.MultiReader(strings.NewReader(whole), iotest.ErrReader(lost)), "ADDED", lost.Error()},
		"before they begin":         {strings.NewReader("not found"), "", "reading an event of a watch: invalid character"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := io.ReadAll(newFrames(io.NopCloser(c.source)))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(string(got), c.before) {
				t.Errorf("got %q, %v, want %q and then an error that begins with %q", got, err, c.before, c.want)
			}
		})
	}
}
