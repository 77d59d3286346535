// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// start is when the tables begin.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// later is after all deadlines.
var later = start.Add(2 * time.Hour)

// play shows a judge what a case does, and returns the reports. Its scenes leave out what the status says.
func play(do func(j *Judge)) (reports []string) {
	do(NewJudge(func(oracle, message string) {
		if oracle != (&conditions{}).name() && oracle != (&revisions{}).name() {
			reports = append(reports, oracle+"] "+message)
		}
	}))
	return reports
}

func setOf(policy v1.PodManagementPolicyType, replicas int32, change ...func(*v1.StatefulSet)) *v1.StatefulSet {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
	set.Spec.PodManagementPolicy, set.Spec.Replicas = policy, &replicas
	set.Spec.UpdateStrategy.Type = v1.RollingUpdateStatefulSetStrategyType
	set.Status.UpdateRevision = "new"
	set.Status.Conditions = []v1.StatefulSetCondition{
		{Type: v1.StatefulSetStalled, Status: corev1.ConditionFalse, Reason: v1.ReasonNotStalled}}
	for _, change := range change {
		change(set)
	}
	return set
}

// podOfMember is a pod that has been ready, or not, since the start.
func podOfMember(n int, ready bool, change ...func(*corev1.Pod)) *corev1.Pod {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("web-%d", n), UID: types.UID(fmt.Sprint("pod-", n)), Labels: map[string]string{"controller-revision-hash": "new"}}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Time{Time: start}}}
	for _, change := range change {
		change(pod)
	}
	return pod
}

func old(pod *corev1.Pod) { pod.Labels = map[string]string{"controller-revision-hash": "old"} }

func asked(pod *corev1.Pod) { pod.Annotations = map[string]string{v1.DisruptionAnnotation: "{}"} }

func ends(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: start} }

func scene(now time.Time, set *v1.StatefulSet, pods ...*corev1.Pod) Scene {
	s := Scene{Now: now, Set: set, Pods: map[string]*corev1.Pod{}, Claims: map[string]*corev1.PersistentVolumeClaim{}}
	for _, pod := range pods {
		s.Pods[pod.Name] = pod
	}
	return s
}

func TestLiveness(t *testing.T) {
	ordered, parallel := v1.OrderedReadyPodManagement, v1.ParallelPodManagement
	halves := func(set *v1.StatefulSet) {
		set.Spec.ScaleStrategy = &v1.StatefulSetScaleStrategy{MaxUnavailable: new(intstr.FromString("50%"))}
	}
	evicts := func(set *v1.StatefulSet) {
		set.Spec.Disruption = &v1.StatefulSetDisruption{Method: v1.EvictDisruptionMethodType}
	}
	recreates := func(set *v1.StatefulSet) { set.Spec.UpdateStrategy.Type = v1.RecreateStatefulSetStrategyType }
	rests := func(scenes ...Scene) func(j *Judge) {
		return func(j *Judge) {
			for _, s := range scenes {
				j.See(Cluster, s)
			}
			j.Rested()
		}
	}
	scaleIn := func(removed int, change ...func(*v1.StatefulSet)) func(j *Judge) {
		return func(j *Judge) {
			set, pods := setOf(parallel, 1, append(change, halves)...), []*corev1.Pod(nil)
			for n := range 4 {
				pods = append(pods, podOfMember(n, true))
			}
			j.See(User, scene(later, set, pods...))
			for n := range removed {
				pods[3-n] = podOfMember(3-n, true, ends)
				j.See(Controller, scene(later, set, slices.Clone(pods)...))
			}
			j.Synced(Sync{Clean: true})
		}
	}
	restart := func(seconds int64, after time.Duration, restarted bool) func(j *Judge) {
		return func(j *Judge) {
			set := setOf(ordered, 1)
			run := func(image, id string) *corev1.Pod {
				return podOfMember(0, true, func(pod *corev1.Pod) {
					pod.Spec.TerminationGracePeriodSeconds = &seconds
					pod.Spec.Containers = []corev1.Container{{Name: "web", Image: image}}
					pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", ContainerID: id}}
				})
			}
			j.See(User, scene(start, set, run("a:1", "1")))
			j.See(Controller, scene(start, set, run("a:2", "1")))
			if restarted {
				j.See(Cluster, scene(start, set, run("a:2", "2")))
				j.See(Controller, scene(start.Add(after), set))
				return
			}
			j.See(Controller, scene(start.Add(after), set))
		}
	}
	// handsOver has a desired pod that is asked break while a surplus pod terminates.
	handsOver := func(policy v1.PodManagementPolicyType, about v1.DisruptionOperationType) func(j *Judge) {
		question := func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{v1.DisruptionAnnotation: fmt.Sprintf(`{"operation":%q}`, about)}
		}
		return rests(scene(start, setOf(policy, 1), podOfMember(0, true, old, question), podOfMember(1, true, ends)),
			scene(later, setOf(policy, 1), podOfMember(0, false, old, question), podOfMember(1, true, ends)))
	}
	// breaks has a pod break that is asked about what the set wants no more; later it is as changed.
	breaks := func(change ...func(*corev1.Pod)) func(j *Judge) {
		return func(j *Judge) {
			j.See(Cluster, scene(start, setOf(ordered, 1), podOfMember(0, true, old, asked)))
			changed := setOf(ordered, 1, func(set *v1.StatefulSet) { set.Generation, set.Status.ObservedGeneration = 2, 2 })
			j.See(User, scene(start, changed, podOfMember(0, true, old, asked)))
			j.See(Cluster, scene(start, changed, podOfMember(0, false, old, asked)))
			rests(scene(later, changed, podOfMember(0, false, append(change, old)...)))(j)
		}
	}
	writes := func(n int, by Actor) func(j *Judge) {
		return func(j *Judge) {
			set := setOf(ordered, 1)
			for i := range n {
				s := scene(start, set)
				s.Claims["www-web-0"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
					Name: "www-web-0", UID: "claim", ResourceVersion: fmt.Sprint(i), Annotations: map[string]string{"a": fmt.Sprint(i)}}}
				j.See(by, s)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(j *Judge)
		want string
	}{
		"two broken surplus pods of an ordered set stay": {
			rests(scene(later, setOf(ordered, 1), podOfMember(0, true), podOfMember(1, false), podOfMember(2, false))), "surplus] ordered"},
		"surplus pods that have just broken stay": {
			rests(scene(start.Add(time.Minute), setOf(ordered, 1), podOfMember(0, true), podOfMember(1, false), podOfMember(2, false))), ""},
		"surplus pods stay behind a broken member": {
			rests(scene(later, setOf(ordered, 1), podOfMember(0, false), podOfMember(1, true))), ""},
		"a surplus pod waits for one that does not end": {
			rests(scene(later, setOf(parallel, 1), podOfMember(0, true), podOfMember(1, true), podOfMember(2, true, ends))), "surplus] parallel"},
		"a surplus pod of an ordered set waits for it": {
			rests(scene(later, setOf(ordered, 1), podOfMember(0, true), podOfMember(1, true), podOfMember(2, true, ends))), ""},
		"a surplus pod waits for pods that Recreate ends": {
			rests(scene(later, setOf(parallel, 1, recreates), podOfMember(0, true, ends), podOfMember(1, true))), ""},
		"a surplus pod stays when Recreate has ended": {
			rests(scene(later, setOf(parallel, 1, recreates), podOfMember(0, true), podOfMember(1, true))), "surplus] alone"},
		"a surplus pod waits for a budget": {
			rests(scene(later, setOf(parallel, 1, evicts), podOfMember(0, true), podOfMember(1, true))), ""},
		"a broken pod does not get the update": {
			rests(scene(later, setOf(parallel, 2), podOfMember(0, false, old), podOfMember(1, true))), "held] nothing"},
		"a broken pod has the update": {
			rests(scene(later, setOf(parallel, 2), podOfMember(0, false), podOfMember(1, true))), ""},
		"a broken pod of an ordered set waits": {
			rests(scene(later, setOf(ordered, 2), podOfMember(0, false, old), podOfMember(1, true))), ""},
		"nothing follows when a pod has handed over": {rests(scene(start, setOf(ordered, 1), podOfMember(0, true, old, asked)),
			scene(later, setOf(ordered, 1), podOfMember(0, false, old, asked))), "held] asked"},
		"a pod hands over for an update while a surplus pod of an ordered set does not end": {
			handsOver(ordered, v1.UpdateDisruptionOperationType), ""},
		"a desired pod hands over for its removal while a surplus pod does not end": {
			handsOver(ordered, v1.ScaleDownDisruptionOperationType), "held] asked"},
		"a pod of a Parallel set hands over for an update while a surplus pod does not end": {
			handsOver(parallel, v1.UpdateDisruptionOperationType), "held] asked"},
		"a pod breaks whose question is withdrawn":     {breaks(), ""},
		"a pod breaks whose question is out of date":   {breaks(asked), "held] asked"},
		"one of four pods is removed where two may be": {scaleIn(1), "pace] slow"},
		"two of four pods are removed":                 {scaleIn(2), ""},
		"three of four pods are removed":               {scaleIn(3), "pace] fast"},
		"a restart is given up at once":                {restart(10_000_000_000, time.Second, false), "restart] early"},
		"a restart is given up in time":                {restart(30, time.Hour, false), ""},
		"a pod goes that has restarted":                {restart(10_000_000_000, time.Second, true), ""},
		"a claim is written again and again":           {writes(100, Controller), "loop] annotations"},
		"a claim is written a few times":               {writes(10, Controller), ""},
		"users write a claim again and again":          {writes(100, User), ""},
		"the status is of an earlier generation": {
			rests(scene(later, setOf(ordered, 0, func(set *v1.StatefulSet) { set.Generation = 2 }))), "status] generation"},
		"the status counts a pod as ready that is not": {rests(
			scene(later, setOf(ordered, 1, func(set *v1.StatefulSet) { set.Status.ReadyReplicas = 1 }), podOfMember(0, false))), "status] counts"},
		"a member is created before a lower one": {func(j *Judge) {
			j.See(User, scene(start, setOf(ordered, 2)))
			j.See(Controller, scene(start, setOf(ordered, 2), podOfMember(1, false)))
		}, "order] create"},
		"the lowest member is created": {func(j *Judge) {
			j.See(User, scene(start, setOf(ordered, 2)))
			j.See(Controller, scene(start, setOf(ordered, 2), podOfMember(0, false)))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := play(c.do)
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], c.want)) {
				t.Errorf("got the reports %q, want %q", got, c.want)
			}
		})
	}
}
