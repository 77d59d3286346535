// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// agent is the only node of the cluster. It runs every pod whose claims are there,
// and ends what is terminating.
type agent struct {
	world *world
	// next is when each pod may take its next turn.
	next map[types.UID]time.Time
	// running are the processes of pods, by the name of the pod.
	running map[string][]types.UID
}

func newAgent(w *world) *agent {
	return &agent{world: w, next: map[types.UID]time.Time{}, running: map[string][]types.UID{}}
}

// lingers is how long the process of a pod goes on that was removed by force.
const lingers = 5 * time.Second

// changed notes when a pod changes. A pod that goes without the agent leaves its
// process behind for a while.
func (a *agent) changed(resource schema.GroupVersionResource, change model.Change) {
	if resource != model.Pods {
		return
	}
	pod := change.Object.(*corev1.Pod)
	if change.Type == watch.Deleted {
		delete(a.next, pod.UID)
		if slices.Contains(a.running[pod.Name], pod.UID) {
			a.world.after(lingers, func() { a.stopped(pod) })
		}
		return
	}
	if _, ok := a.next[pod.UID]; !ok || terminates(change) {
		a.next[pod.UID] = time.Now().Add(a.world.delay(200 * time.Millisecond))
	}
}

func terminates(change model.Change) bool {
	return change.Object.GetDeletionTimestamp() != nil && change.Before != nil && change.Before.GetDeletionTimestamp() == nil
}

// delay is about as long as it is given, if chance decides.
func (w *world) delay(usual time.Duration) time.Duration {
	if !w.random {
		return usual
	}
	return time.Duration(1 + w.rng.Int64N(int64(2*usual)))
}

// dues are the times at which a pod may have its turn.
func (a *agent) dues() []time.Time {
	var dues []time.Time
	for _, object := range a.world.host.List(model.Pods, "") {
		if pod := object.(*corev1.Pod); a.turn(pod) != nil {
			dues = append(dues, a.next[pod.UID])
		}
	}
	return dues
}

func (a *agent) choices() []choice {
	var all []choice
	for _, object := range a.world.host.List(model.Pods, "") {
		pod := object.(*corev1.Pod)
		if turn := a.turn(pod); turn != nil && !a.next[pod.UID].After(time.Now()) {
			all = append(all, choice{5, func() {
				a.next[pod.UID] = time.Now().Add(a.world.delay(200 * time.Millisecond))
				turn(pod)
			}})
		}
	}
	return all
}

// turn is what the agent does about a pod next, nil for nothing.
func (a *agent) turn(pod *corev1.Pod) func(*corev1.Pod) {
	switch {
	case pod.DeletionTimestamp != nil && pod.Spec.NodeName != "":
		return a.finish
	case pod.DeletionTimestamp != nil, pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		return nil
	case pod.Spec.NodeName == "":
		if a.claimsMissing(pod) {
			return nil
		}
		return a.take
	case pod.Status.Phase != corev1.PodRunning && a.world.random:
		return a.start
	}
	if _, _, needed := scenarios.RestartOf(pod); needed {
		return a.restart
	}
	if _, is := ready(pod); !is && imageOf(pod.Spec) != scenarios.Unlucky {
		return a.makeReady
	}
	return nil
}

func (a *agent) claimsMissing(pod *corev1.Pod) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := a.world.host.Get(model.Claims, pod.Namespace, volume.PersistentVolumeClaim.ClaimName)
		if err != nil || claim.GetDeletionTimestamp() != nil {
			return true
		}
	}
	return false
}

// take gives a pod its node, and starts its process.
func (a *agent) take(pod *corev1.Pod) {
	a.update(pod, "", func(pod *corev1.Pod) { pod.Spec.NodeName = "node" })
	a.running[pod.Name] = append(a.running[pod.Name], pod.UID)
	a.world.judge.processes(pod, a.running[pod.Name])
}

// start lets a pod run that does not serve yet. Where chance does not decide, that is
// left out: it would lead to as many more runs as there are events.
func (a *agent) start(pod *corev1.Pod) {
	a.setStatus(pod, corev1.PodRunning, "", corev1.ConditionFalse)
}

// restart runs the container of a pod anew that is updated in place.
func (a *agent) restart(pod *corev1.Pod) {
	container, ready, _ := scenarios.RestartOf(pod)
	a.update(pod, "status", func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{container}
		pod.Status.Conditions = withReady(pod.Status.Conditions, ready)
	})
}

func (a *agent) makeReady(pod *corev1.Pod) {
	a.setStatus(pod, corev1.PodRunning, "", corev1.ConditionTrue)
}

// fail ends the process of a pod as a crash does.
func (a *agent) fail(pod *corev1.Pod, reason string) {
	a.setStatus(pod, corev1.PodFailed, reason, corev1.ConditionFalse)
	a.stopped(pod)
}

func (a *agent) setStatus(pod *corev1.Pod, phase corev1.PodPhase, reason string, ready corev1.ConditionStatus) {
	a.update(pod, "status", func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.Reason = phase, reason
		pod.Status.Conditions = withReady(pod.Status.Conditions, ready)
	})
}

// withReady are the conditions of a pod that a node says is ready, or not. Those of others stay.
func withReady(conditions []corev1.PodCondition, ready corev1.ConditionStatus) []corev1.PodCondition {
	others := slices.DeleteFunc(slices.Clone(conditions), func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return append(others, readyCondition(ready))
}

func readyCondition(status corev1.ConditionStatus) corev1.PodCondition {
	return corev1.PodCondition{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second))}
}

// finish removes a pod whose process has ended.
func (a *agent) finish(pod *corev1.Pod) {
	a.stopped(pod)
	options := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	if _, err := a.world.host.Delete(model.Pods, pod.Namespace, pod.Name, options); err != nil {
		panic("removing a pod: " + err.Error())
	}
}

func (a *agent) stopped(pod *corev1.Pod) {
	a.running[pod.Name] = slices.DeleteFunc(a.running[pod.Name], func(uid types.UID) bool { return uid == pod.UID })
}

func (a *agent) update(pod *corev1.Pod, subresource string, change func(*corev1.Pod)) {
	_, err := a.world.host.Update(model.Pods, pod.Namespace, pod.Name, subresource, func(object model.Object) (model.Object, error) {
		change(object.(*corev1.Pod))
		return object, nil
	})
	if err != nil {
		panic("updating a pod: " + err.Error())
	}
}
