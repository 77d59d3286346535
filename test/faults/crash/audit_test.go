//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditLog is the host's audit log, from when it was opened on.
type auditLog struct {
	path string

	mu   sync.Mutex
	file *os.File
	// rest is the begin of a line whose end was not written yet.
	rest    string
	entries []entry
}

// entry is a request that was answered.
type entry struct {
	user, verb, resource, namespace, name string
	code                                  int32
	at                                    time.Time
	body                                  []byte
}

func openAudit(t *testing.T, path string) *auditLog {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatalf("opening the host's audit log: %v", err)
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		t.Fatalf("opening the host's audit log: %v", err)
	}
	a := &auditLog{path: path, file: file}
	t.Cleanup(func() { a.file.Close() })
	return a
}

// of returns the requests of a user in a namespace, in their order in the log.
func (a *auditLog) of(t *testing.T, user, namespace string) []entry {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.read(); err != nil {
		t.Fatalf("reading the host's audit log: %v", err)
	}
	var found []entry
	for _, e := range a.entries {
		if e.user == user && e.namespace == namespace {
			found = append(found, e)
		}
	}
	return found
}

// read reads what was appended, also when the log was begun anew since.
func (a *auditLog) read() error {
	for {
		if err := a.readFile(); err != nil {
			return err
		}
		now, err := os.Stat(a.path)
		if err != nil {
			return err
		}
		if mine, err := a.file.Stat(); err != nil || os.SameFile(mine, now) {
			return err
		}
		next, err := os.Open(a.path)
		if err != nil {
			return err
		}
		a.file.Close()
		a.file, a.rest = next, ""
	}
}

func (a *auditLog) readFile() error {
	reader := bufio.NewReaderSize(a.file, 1<<20)
	for {
		line, err := reader.ReadString('\n')
		a.rest += line
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// Most lines are about somebody else.
		if strings.Contains(a.rest, runPrefix) {
			if err := a.add(a.rest); err != nil {
				return err
			}
		}
		a.rest = ""
	}
}

func (a *auditLog) add(line string) error {
	var event auditv1.Event
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		return err
	}
	if event.ObjectRef == nil || event.ResponseStatus == nil {
		return nil
	}
	e := entry{
		user: event.User.Username, verb: event.Verb, resource: event.ObjectRef.Resource, namespace: event.ObjectRef.Namespace,
		name: event.ObjectRef.Name, code: event.ResponseStatus.Code, at: event.StageTimestamp.Time,
	}
	if event.ObjectRef.Subresource != "" {
		e.resource += "/" + event.ObjectRef.Subresource
	}
	if event.RequestObject != nil {
		e.body = event.RequestObject.Raw
	}
	if strings.Contains(event.RequestURI, "dryRun=") {
		return nil
	}
	a.entries = append(a.entries, e)
	return nil
}

// unread reports whether the connection broke before the host had read a write: it did nothing, and what was
// sent is not known.
func (e entry) unread() bool {
	return e.writes() && e.body == nil && !e.succeeded()
}

func (e entry) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, e.verb)
}

func (e entry) succeeded() bool { return e.code >= 200 && e.code < 300 }

func TestWritesThatTheHostHasReadAreJudged(t *testing.T) {
	const line = `{"verb":%q,"objectRef":{"resource":"pods","namespace":"fault-x","name":"web-0"},"responseStatus":{"code":%d}%s}`
	for sentence, c := range map[string]struct {
		verb, body string
		code, want int
	}{
		"a delete that broke off before its body came": {verb: "delete", code: 500, want: 0},
		"a delete without a body that did something":   {verb: "delete", code: 200, want: 1},
		"a delete that was refused":                    {verb: "delete", body: `,"requestObject":{"kind":"DeleteOptions"}`, code: 409, want: 1},
		"a get that failed":                            {verb: "get", code: 500, want: 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			a := &auditLog{}
			if err := a.add(fmt.Sprintf(line, c.verb, c.code, c.body)); err != nil {
				t.Fatal(err)
			}
			if judged := slices.DeleteFunc(a.entries, entry.unread); len(judged) != c.want {
				t.Errorf("requests: got %+v, want %d", judged, c.want)
			}
		})
	}
}
