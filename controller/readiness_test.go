// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	setsfake "statefulset.dev/client/clientset/versioned/fake"
)

func TestAControllerThatCannotWorkSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := fake.NewClientset()
		built, err := New(Config{Options: NewOptions(), Host: host, Sets: setsfake.NewSimpleClientset(), Identity: "here_1"})
		if err != nil {
			t.Fatalf("building: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			built.ReportReadiness(ctx)
		}()

		time.Sleep(time.Minute)
		told := toldAbout(t, host)
		if len(told) != 1 || told[0].Reason != reasonNotReady || !strings.Contains(told[0].Message, "is not running") ||
			!strings.Contains(told[0].Message, "here_1") {
			t.Errorf("events about the lease after a minute: got %v, want one that names the replica and what is wrong", told)
		}
		time.Sleep(time.Hour)
		if again := len(toldAbout(t, host)); again < 2 || again > 6 {
			t.Errorf("events after an hour: got %d, want more than one, and ever fewer", again)
		}
		built.setRunning(true)
		time.Sleep(5 * time.Minute)
		if told = toldAbout(t, host); told[len(told)-1].Reason != reasonReady {
			t.Errorf("the last event: got %s, want %s", told[len(told)-1].Reason, reasonReady)
		}
		stop()
		<-ended
	})
}

func toldAbout(t *testing.T, host *fake.Clientset) []corev1.Event {
	t.Helper()
	list, err := host.CoreV1().Events(NewOptions().LeaseNamespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing events: %v", err)
	}
	var told []corev1.Event
	for _, event := range list.Items {
		if event.InvolvedObject.Kind == "Lease" && event.InvolvedObject.Name == NewOptions().LeaseName {
			told = append(told, event)
		}
	}
	return told
}

func TestANewLeaderHasTimeForItsFirstLists(t *testing.T) {
	var teller readinessReporter
	begin := time.Unix(0, 0)
	waiting := context.DeadlineExceeded
	for _, at := range []int{0, 5, 10} {
		if got := teller.observe(waiting, begin.Add(time.Duration(at)*time.Second)); got != reportNothing {
			t.Errorf("after %d s: got %v, want nothing to be told", at, got)
		}
	}
	if got := teller.observe(nil, begin.Add(14*time.Second)); got != reportNothing {
		t.Errorf("when it can work: got %v, want nothing: nobody was told that it could not", got)
	}
}
