// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bytes"
	"flag"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// lines is a log that may be written to and read at the same time.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestTheLoopbackTokenIsNotLogged uses the token with which the controller may do
// everything, while everything is logged.
func TestTheLoopbackTokenIsNotLogged(t *testing.T) {
	state := klog.CaptureState()
	t.Cleanup(state.Restore)
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"v": "10", "logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			t.Fatalf("setting -%s: %v", name, err)
		}
	}
	log := &lines{}
	klog.SetOutput(log)

	s := Start(t)
	if _, err := s.Sets().Create(t.Context(), Web("logged"), metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set: %v", err)
	}
	klog.Flush()
	token := s.Loopback.BearerToken
	if len(token) < 20 {
		t.Fatalf("the loopback token is %q, want at least 20 characters", token)
	}
	text := log.String()
	if !strings.Contains(text, "Authorization: Bearer <masked>") {
		t.Errorf("the log of %d bytes does not show that a token was used", len(text))
	}
	if at := strings.Index(text, token); at >= 0 {
		t.Errorf("the log has the loopback token: %s", text[max(0, at-200):at])
	}
}
