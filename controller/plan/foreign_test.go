// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// hostile acts on a terminal, ends lines, turns the text around it, and is long.
var hostile = "evil\x1b[2J\r\nReady=True\tfine\u202egnorw\u2028\u009b0m\x00\xff" + strings.Repeat("ä", 3000)

// TestTextOfOthersIsPlain gives every place in which others write, and which our
// messages repeat, a text that does harm.
func TestTextOfOthersIsPlain(t *testing.T) {
	written, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	hostileOwner := metav1.OwnerReference{APIVersion: hostile, Kind: hostile, Name: hostile, UID: "hostile", Controller: new(true)}
	for sentence, change := range map[string]func(h *host){
		"the owner of a pod of a member's name": func(h *host) {
			h.changePod("web-1", func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{hostileOwner} })
		},
		"the group of a set of the same name": func(h *host) {
			h.changePod("web-1", func(pod *corev1.Pod) {
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: hostile, Kind: v1.Kind, Name: "web", UID: "hostile", Controller: new(true)}}
			})
		},
		"the owner of a revision": func(h *host) {
			h.configure([]string{"image=nginx:2"})
			for _, revision := range h.revisions {
				replace(h, h.revisions, revision, func(revision *appsv1.ControllerRevision) {
					revision.OwnerReferences = []metav1.OwnerReference{hostileOwner}
				})
			}
		},
		"the owners of a claim": func(h *host) {
			h.configure([]string{"whenDeleted=Delete"})
			h.changeClaim("www-web-0", func(claim *corev1.PersistentVolumeClaim) {
				for i := range 100 {
					owner := hostileOwner
					owner.Controller, owner.Name = nil, fmt.Sprint(i, hostile)
					claim.OwnerReferences = append(claim.OwnerReferences, owner)
				}
			})
		},
		"why a pod has no node": func(h *host) {
			h.changePod("web-1", func(pod *corev1.Pod) {
				pod.Status.Phase = corev1.PodPending
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: hostile}}
			})
		},
		"the name of a container and why it waits": func(h *host) {
			h.hurt(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: hostile}})
		},
		"the name of a container and why it ended": func(h *host) {
			h.hurt(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: hostile}})
		},
		"why the set is held": func(h *host) { h.set.Annotations = map[string]string{v1.HoldAnnotation: hostile} },
		"a record that cannot be read": func(h *host) {
			h.configure([]string{"image=nginx:2", "partition=3"})
			delete(h.pods, "web-1")
			for _, revision := range h.revisions {
				replace(h, h.revisions, revision, func(revision *appsv1.ControllerRevision) {
					revision.Data.Raw = fmt.Appendf(nil, `{"spec":{"template":{"metadata":{"creationTimestamp":%s}}}}`, written)
				})
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := &stage{host: newHost(t, Compute)}
			s.tell([]string{"set", "replicas=3", "claims=www"})
			s.tell([]string{"settle"})
			change(s.host)
			expectPlain(t, texts(Compute(s.world())))
		})
	}
}

// hurt gives the second member a container that does not run.
func (h *host) hurt(state corev1.ContainerState) {
	h.changePod("web-1", func(pod *corev1.Pod) {
		pod.Status.Conditions = nil
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: hostile, State: state}}
	})
}

// TestAnswersOfTheHostArePlain looks at what a webhook can write into a set's status
// and into events.
func TestAnswersOfTheHostArePlain(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for sentence, answer := range map[string]error{
		"a refusal":                  apierrors.NewForbidden(pods, "web-0", errors.New(hostile)),
		"a refusal that is wrapped":  fmt.Errorf("creating pod %q: %w", "web-0", apierrors.NewForbidden(pods, "web-0", errors.New(hostile))),
		"an error that is no answer": errors.New(hostile),
	} {
		t.Run(sentence, func(t *testing.T) {
			h := newHost(t, Compute)
			h.configure([]string{"replicas=1"})
			p := Compute(h.world())
			p.Status = WithFailures(h.set.Status, p, []Failure{{Action: action.DeletePod{Pod: action.Target{Name: "web-0"}}, Err: answer}}, h.now)
			expectPlain(t, append(texts(p), Cause(answer)))
		})
	}
}

// expectPlain fails the test unless the texts are bounded lines without characters that
// act, and tell of what was hostile.
func expectPlain(t *testing.T, all []string) {
	t.Helper()
	told := false
	for _, text := range all {
		if at := strings.IndexFunc(text, isNoGraphic); at >= 0 {
			t.Errorf("got the character %q in %.200q, want none that acts", text[at:at+1], text)
		}
		const most = 2000
		if len(text) > most {
			t.Errorf("got a text of %d bytes, want at most %d: %.200q", len(text), most, text)
		}
		told = told || strings.Contains(text, "evil")
	}
	if !told {
		t.Errorf("got no text with %q, so the case shows nothing: %q", "evil", all)
	}
}

// texts are all words and sentences of a plan that people may get to read.
func texts(p Plan) []string {
	all := []string{p.Waiting}
	for _, act := range p.All() {
		all = append(all, act.String())
	}
	for _, warning := range p.Warnings {
		all = append(all, warning.Reason, warning.Message)
	}
	for _, condition := range p.Status.Conditions {
		all = append(all, condition.Reason, condition.Message)
	}
	return all
}

// plainText: no text of a plan has a character that acts on where it is shown.
func (j *judged) plainText() {
	for _, text := range texts(j.plan) {
		if strings.IndexFunc(text, isNoGraphic) >= 0 {
			j.broke("plain", "a text of the plan is %q", text)
		}
	}
}

func isNoGraphic(r rune) bool { return !unicode.IsGraphic(r) }
