// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/servertest"
)

func TestLostOverridesAreTold(t *testing.T) {
	set := servertest.Owning("web")
	objects := traces(t, set, latest, "web-a")
	pod := nth[*corev1.Pod](objects, 1)
	pod.Annotations = map[string]string{v1.OverrideAnnotation: "1-0"}
	rebuilt := rebuiltFrom(t, objects)
	if want := "spec.overrides are lost, and pod " + pod.Name + " was created with one"; !strings.Contains(fmt.Sprint(rebuilt.guesses), want) {
		t.Errorf("guesses: got %v, want one that begins with %q", rebuilt.guesses, want)
	}
}

// No revision records templates of objects. What they made for members is on claims and pods, and stays
// there: a set that describes the objects again draws no Secret that is named.
func TestLostTemplatesOfObjectsAreTold(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim)
		want   string
	}{
		"a claim names a Secret": {func(_ *corev1.Pod, claim *corev1.PersistentVolumeClaim) {
			claim.Annotations = map[string]string{v1.GeneratedAnnotation: "web-sst,web-0-token"}
		}, "uses what they provided: Secret web-0-token, Secret web-sst; apply"},
		"a pod names an output and a Secret": {func(pod *corev1.Pod, _ *corev1.PersistentVolumeClaim) {
			pod.Annotations = map[string]string{v1.OutputAnnotationPrefix + "ADDRESS": "192.0.2.1", v1.GeneratedAnnotation: "web-sst"}
		}, "uses what they provided: Secret web-sst, output ADDRESS; apply"},
		"nothing names any": {func(*corev1.Pod, *corev1.PersistentVolumeClaim) {}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects := traces(t, servertest.Owning("web"), latest, "web-a")
			for _, object := range objects {
				if claim, is := object.(*corev1.PersistentVolumeClaim); is {
					delete(claim.Annotations, v1.GeneratedAnnotation)
				}
			}
			test.change(first[*corev1.Pod](objects), first[*corev1.PersistentVolumeClaim](objects))
			rebuilt := rebuiltFrom(t, objects)
			told := fmt.Sprint(rebuilt.guesses)
			if lost := strings.Contains(told, "spec.objectTemplates are lost"); lost != (test.want != "") || !strings.Contains(told, test.want) {
				t.Errorf("guesses: got %v, want %q", rebuilt.guesses, test.want)
			}
			if !strings.Contains(told, "spec.objectTemplates is empty") || rebuilt.set.Spec.ObjectTemplates != nil ||
				rebuilt.set.Status.ObjectTemplates != nil {
				t.Errorf("got the templates %v, the status %v and the guesses %v, want none, and that to be said", rebuilt.set.Spec.ObjectTemplates,
					rebuilt.set.Status.ObjectTemplates, rebuilt.guesses)
			}
		})
	}
}
