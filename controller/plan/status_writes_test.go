// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// TestStatusWrites counts how often the status of a set changes, and so is written,
// while it is looked at every second of a script.
func TestStatusWrites(t *testing.T) {
	for sentence, c := range map[string]struct {
		script []string
		writes int
	}{
		"a set at rest is never written":                  {[]string{"set replicas=3", "settle", "start counting", "wait 1000"}, 0},
		"a pod that starts is waited for without a write": {[]string{"set replicas=1", "look", "look", "start counting", "wait 500"}, 0},
		"a pod without an image is one write": {[]string{"set replicas=1", "look", "look", "start counting",
			"waiting web-0 db ErrImagePull", "wait 60", "waiting web-0 db ImagePullBackOff", "wait 500"}, 1},
		"minReadySeconds are two writes": {
			[]string{"set replicas=1 minReadySeconds=100", "look", "look", "start counting", "ready web-0", "wait 300"}, 2},
		"an exceeded deadline is one write": {[]string{"set replicas=1", "look", "look", "start counting", "wait 2000"}, 1},
		"a held set is never written": {
			[]string{"set replicas=1", "settle", "hold", "look", "start counting", "wait 2000"}, 0},
		"what the host refuses is one write": {
			[]string{"set replicas=1", "refuse pod web-0: exceeded quota", "start counting", "wait 500"}, 1},
		"each of three members in order are two writes":        {[]string{"set replicas=3", "start counting", "settle"}, 4},
		"three members at the same time are two writes in all": {[]string{"set replicas=3 policy=Parallel", "start counting", "settle"}, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := &stage{host: newHost(t, Compute)}
			writes, counting := 0, false
			look := func() {
				before := s.set.Status.DeepCopy()
				s.look()
				if counting && !apiequality.Semantic.DeepEqual(*before, s.set.Status) {
					writes++
				}
			}
			for _, line := range c.script {
				words := strings.Fields(line)
				switch words[0] {
				case "start":
					counting = true
				case "look":
					look()
				case "settle":
					for range 20 {
						look()
						s.kubelet()
					}
				case "wait":
					for range s.number(words[1]) {
						look()
						s.now = s.now.Add(time.Second)
					}
				default:
					s.tell(words)
				}
			}
			if writes != c.writes {
				t.Errorf("got %d writes, want %d; the last status is %v", writes, c.writes, s.set.Status)
			}
		})
	}
}
