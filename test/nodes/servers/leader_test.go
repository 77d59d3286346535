//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// killedWithin and stoppedWithin are what is promised: how long after the end of a leader its
	// successor writes to the host.
	killedWithin  = 15 * time.Second
	stoppedWithin = 3 * time.Second
	// wakeful is how long a leader that wakes up is looked at.
	wakeful = 5 * time.Second
)

// TestTheLeaderIsKilled ends its process without notice. The kubelet starts another one in the
// same pod, which may well be the successor.
func TestTheLeaderIsKilled(t *testing.T) {
	takeover(t, killedWithin, func(pod corev1.Pod) { signal(t, pod, syscall.SIGKILL) })
}

func TestTheLeaderIsDeleted(t *testing.T) {
	takeover(t, stoppedWithin, func(pod corev1.Pod) {
		if err := cluster.Host.CoreV1().Pods(system).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting %s: %v", pod.Name, err)
		}
	})
}

// takeover ends the leader while members come back again and again, and looks for how long none
// does.
func takeover(t *testing.T, within time.Duration, end func(corev1.Pod)) {
	t.Helper()
	awaitServers(t)
	log := newAudit(t)
	namespace := newSet(t)
	ended := leader(t)
	stop := churn(t, namespace)
	log.first(t, time.Now(), "")
	began := time.Now()
	end(ended)
	silent, last := time.Duration(0), began
	for _, event := range log.until(t, began.Add(within*3/2), began) {
		at := event.RequestReceivedTimestamp.Time
		silent, last = max(silent, at.Sub(last)), at
	}
	stop()
	t.Logf("no pod was changed for %s after the end of %s", silent, ended.Name)
	if silent > within {
		t.Errorf("after the end of %s: got no write to the host for %s, want at most %s", ended.Name, silent, within)
	}
	awaitMembers(t, namespace)
	awaitServers(t)
}

// TestTheLeaderIsFrozen stops its process beyond its lease, and lets it go on when another one has
// taken over: it must not write any more.
func TestTheLeaderIsFrozen(t *testing.T) {
	awaitServers(t)
	log := newAudit(t)
	namespace := newSet(t)
	frozen := leader(t)
	stop := churn(t, namespace)
	log.first(t, time.Now(), "")
	signal(t, frozen, syscall.SIGSTOP)
	began := time.Now()
	took := log.first(t, began, frozen.Name).Sub(began)
	resumed := time.Now()
	signal(t, frozen, syscall.SIGCONT)
	for _, event := range log.until(t, resumed.Add(wakeful), resumed) {
		if at := event.RequestReceivedTimestamp.Time; isBy(event, frozen.Name) && at.Before(resumed.Add(wakeful)) {
			t.Errorf("%s woke up and wrote %s after it: %s %s, want nothing", frozen.Name, at.Sub(resumed), event.Verb, event.RequestURI)
		}
	}
	stop()
	t.Logf("a successor wrote to the host %s after %s was frozen", took, frozen.Name)
	if took > killedWithin {
		t.Errorf("a successor wrote to the host %s after the leader was frozen, want at most %s", took, killedWithin)
	}
	awaitServers(t)
}
