// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

var update = flag.Bool("update", false, "write the golden frames anew")

func TestGoldenFrames(t *testing.T) {
	for name, test := range map[string]struct {
		state state
		frame frame
	}{
		"updating-80":     {updating(), frame{width: 80, height: 24}},
		"updating-200":    {updating(), frame{width: 200, height: 50}},
		"restarting-80":   {restarting(), frame{width: 80, height: 24}},
		"ready-80":        {ready(3), frame{width: 80, height: 24}},
		"ready-200":       {ready(3), frame{width: 200, height: 50}},
		"scrolled-80":     {ready(500), frame{width: 80, height: 24, top: 250}},
		"end-80":          {ready(500), frame{width: 80, height: 24, top: 1000}},
		"whole-200":       {ready(12), frame{width: 200}},
		"missing-80":      {missing(), frame{width: 80, height: 24, top: 1000}},
		"deleted-80":      {deleted(), frame{width: 80, height: 24}},
		"disconnected-80": {disconnected(), frame{width: 80, height: 24}},
		"reclaims-80":     {reclaiming(), frame{width: 80, height: 24}},
		"objects-80":      {supported(), frame{width: 80, height: 24}},
		"empty-80":        {ready(0), frame{width: 80, height: 24}},
	} {
		t.Run(name, func(t *testing.T) {
			got := ansi.Strip(render(test.state, test.frame)) + "\n"
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the frame is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestFramesFit(t *testing.T) {
	for _, s := range []state{updating(), ready(500), missing(), deleted(), disconnected(), ready(0)} {
		for width := 1; width <= 200; width += 23 {
			for height := 1; height <= 60; height += 5 {
				lines := strings.Split(render(s, frame{width: width, height: height, top: 3}), "\n")
				if len(lines) > height {
					t.Fatalf("a frame of %d x %d has %d lines", width, height, len(lines))
				}
				for _, line := range lines {
					if got := ansi.StringWidth(line); got > width {
						t.Fatalf("a frame of %d x %d has a line of %d columns: %q", width, height, got, line)
					}
				}
			}
		}
	}
}

func TestScrolling(t *testing.T) {
	s := screen{state: ready(500), frame: frame{width: 80, height: 24}}
	for _, press := range []struct {
		key  tea.KeyPressMsg
		want int
	}{
		{tea.KeyPressMsg{Code: tea.KeyUp}, 0},
		{tea.KeyPressMsg{Code: tea.KeyDown}, 1},
		{tea.KeyPressMsg{Code: tea.KeyPgDown}, 13},
		{tea.KeyPressMsg{Code: 'k', Text: "k"}, 12},
		{tea.KeyPressMsg{Code: tea.KeyEnd}, 500 - (24 - 5 - 2)},
		{tea.KeyPressMsg{Code: tea.KeyDown}, 500 - (24 - 5 - 2)},
		{tea.KeyPressMsg{Code: tea.KeyPgUp}, 500 - (24 - 5 - 2) - 12},
		{tea.KeyPressMsg{Code: tea.KeyHome}, 0},
	} {
		next, _ := s.Update(press.key)
		s = next.(screen)
		if s.frame.top != press.want {
			t.Fatalf("after %s the first member shown is %d, want %d", press.key, s.frame.top, press.want)
		}
	}
	for _, key := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		if _, command := s.Update(key); command == nil {
			t.Errorf("%s does not end the program", key)
		}
	}
}

func TestSummaryNamesTheSetAndEveryMember(t *testing.T) {
	got := summary(updating())
	if len(got) != 6 || got[0][0] != "web" || got[5][0] != "web-4" {
		t.Fatalf("the summary is %q, want web and web-0 to web-4", got)
	}
	if want := "ImagePullBackOff, not ready, revision bbbb new, node node-1, data Pending, log Bound"; got[5][1] != want {
		t.Errorf("web-4 is %q, want %q", got[5][1], want)
	}
	if want := "missing"; got[4][1] != want {
		t.Errorf("web-3 is %q, want %q", got[4][1], want)
	}
}

// ready is a set whose members are all as wanted.
func ready(replicas int32) state {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1"}}
	set.Spec = v1.StatefulSetSpec{
		Replicas: new(replicas),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{
			{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, {ObjectMeta: metav1.ObjectMeta{Name: "log"}},
		},
	}
	set.Status = v1.StatefulSetStatus{CurrentRevision: "web-aaaa", UpdateRevision: "web-aaaa"}
	say(set, corev1.ConditionTrue, v1.ReasonMembersAvailable, fmt.Sprintf("%d of %d members are available", replicas, replicas))
	s := state{set: set, revisions: []*appsv1.ControllerRevision{{ObjectMeta: metav1.ObjectMeta{Name: "web-aaaa"}, Revision: 1}}}
	for ordinal := range int(replicas) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: identity.PodName("web", ordinal), Labels: map[string]string{identity.RevisionLabel: "web-aaaa"}}}
		pod.Spec.NodeName = fmt.Sprintf("node-%d", ordinal%3+1)
		pod.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		s.pods = append(s.pods, pod)
		for _, template := range []string{"data", "log"} {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: identity.ClaimName(template, "web", ordinal)}}
			claim.Status.Phase = corev1.ClaimBound
			s.claims = append(s.claims, claim)
		}
	}
	return s
}

func say(set *v1.StatefulSet, status corev1.ConditionStatus, reason, message string) {
	set.Status.Conditions = []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Status: status, Reason: reason, Message: message}}
}

// restarting is a set of which a member is restarted in place, another is resized, and a third is waiting for its gates.
func restarting() state {
	s := ready(3)
	s.pods[2].Annotations = map[string]string{v1.InPlaceAnnotation: `{"containers":{},"resources":{"main":{"limits":{"memory":"1Gi"}}}}`}
	s.pods[1].Annotations = map[string]string{v1.InPlaceAnnotation: "{}"}
	s.pods[0].Annotations = map[string]string{v1.DisruptionAnnotation: "{}"}
	return s
}

// updating is a set in the middle of an update: one member is new and broken, one is
// missing, one terminates.
func updating() state {
	s := ready(5)
	s.set.Status.UpdateRevision = "web-bbbb"
	say(s.set, corev1.ConditionFalse, v1.ReasonUpdating,
		"2 of 5 members are available; waiting for pod web-4 to be ready: container main: ImagePullBackOff, since the image example.test/main:2 was not found")
	s.revisions = append(s.revisions, &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-bbbb"}, Revision: 2})
	last := s.pods[4]
	last.Labels[identity.RevisionLabel] = "web-bbbb"
	last.Spec.NodeName = "node-1"
	last.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}}}
	s.claims[8].Status.Phase = corev1.ClaimPending
	s.pods[2].DeletionTimestamp = &metav1.Time{}
	s.pods = append(s.pods[:3], last)
	return s
}

// missing is a set that asks for far more members than there are.
func missing() state {
	s := ready(2)
	*s.set.Spec.Replicas = 100_000
	say(s.set, corev1.ConditionFalse, v1.ReasonCreatingMembers, "2 of 100000 members are available")
	return s
}

func deleted() state {
	s := ready(2)
	s.gone = true
	return s
}

func disconnected() state {
	s := ready(2)
	s.trouble = "Get \"https://localhost:6443/api/v1/namespaces/shop/pods\": dial tcp 127.0.0.1:6443: connect: connection refused"
	return s
}

// supported is a set with objects, of which not all are there.
func supported() state {
	s := ready(2)
	s.set.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
		{Name: "peers", Kind: "Service", ObjectName: "$(SET)", Wanted: 1, Present: 1, Updated: 1},
		{Name: "outside", Kind: "Service", ObjectName: "$(IDENTITY)-outside", Wanted: 2, Present: 2, Updated: 2, Retired: 3,
			DueTime: new(metav1.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC))},
		{Name: "conf", Kind: "ConfigMap", ObjectName: "$(IDENTITY)-conf", Wanted: 2, Foreign: 1, Message: "ConfigMap web-1-conf does not exist"},
		{Name: "old", Kind: "ConfigMap", ObjectName: "$(IDENTITY)-old", RemovedAt: new(metav1.Date(2026, 11, 24, 11, 0, 0, 0, time.UTC)),
			Present: 2, Retired: 1, DueTime: new(metav1.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)),
			Message: "ConfigMap web-1-old is kept as long as pod web-1 has another revision than web-2"},
	}
	s.set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "outside", Outputs: []v1.ObjectOutput{{Name: "ADDRESS"}, {Name: "NAME"}}}}
	for i, pod := range s.pods {
		pod.Annotations = map[string]string{v1.OutputAnnotationPrefix + "ADDRESS": fmt.Sprintf("192.0.2.1%d", i)}
	}
	return s
}

// reclaiming is a set of which members were removed at several times.
func reclaiming() state {
	s := ready(2)
	for i := range int32(7) {
		r := v1.Reclaim{First: 2 * i, DueTime: metav1.Date(2026, 11, 24, 12, int(i), 0, 0, time.UTC)}
		if i == 0 {
			r.First, r.Last = 20, new(int32(29))
			r.Message = "claims of ordinals 20-29 have been due since 2026-11-24T12:00:00Z, but could not be deleted"
		}
		s.set.Status.Reclaims = append(s.set.Status.Reclaims, r)
	}
	return s
}
