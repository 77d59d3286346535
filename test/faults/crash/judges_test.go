//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// TestJudgesOfHolesAndTurns gives the judges histories that nobody need have caused.
func TestJudgesOfHolesAndTurns(t *testing.T) {
	for sentence, tc := range map[string]struct {
		play func(*past)
		want []string
	}{
		"a member is named, and then replaced out of turn": {func(p *past) {
			p.update("new")
			p.names(2, "new")
			p.removes("web-2", "old", false)
		}, nil},
		"a member is replaced out of turn, and then named": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", false)
			p.names(2, "new")
		}, []string{inTurn}},
		"another member than the named one is replaced out of turn": {func(p *past) {
			p.update("new")
			p.names(1, "new")
			p.removes("web-2", "old", false)
		}, []string{inTurn}},
		"a member is named for the revision that it has": {func(p *past) {
			p.update("new")
			p.names(2, "old")
			p.removes("web-2", "old", false)
		}, []string{inTurn}},
		"a member that is ready is updated in its turn": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
		}, nil},
		"a Parallel set replaces a member that is not ready": {func(p *past) {
			p.change(func(set *v1.StatefulSet) { set.Spec.PodManagementPolicy = v1.ParallelPodManagement })
			p.update("new")
			p.removes("web-2", "old", false)
		}, nil},
		"a member comes back as it was, and is removed again": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
			p.removes("web-2", "old", true)
		}, []string{onceEach}},
		"a member is removed for each of two updates": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
			p.update("newer")
			p.change(func(*v1.StatefulSet) {})
			p.removes("web-2", "new", true)
		}, nil},
		"a member is removed for an update, comes back as it was, and is removed for the next": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
			p.update("newer")
			p.removes("web-2", "old", true)
		}, nil},
		"a member is removed for the next update twice": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
			p.update("newer")
			p.removes("web-2", "old", true)
			p.removes("web-2", "old", true)
		}, []string{onceEach}},
		"a member is removed for an override, and when that goes": {func(p *past) {
			p.override("big")
			p.removes("web-2", "old", true)
			p.override("small")
			p.change(func(*v1.StatefulSet) {})
			p.removes("web-2", "old", true)
		}, nil},
		"a member is removed for an update, changed in place for the next, and removed because that fails": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
			p.update("newer")
			p.marks = map[string]string{v1.InPlaceAnnotation: "{}"}
			p.removes("web-2", "newer", true)
		}, nil},
		"a member is removed twice for an override": {func(p *past) {
			p.override("big")
			p.removes("web-2", "old", true)
			p.removes("web-2", "old", true)
		}, []string{onceEach}},
		"a reserved member is removed, and created when it is wanted again": {func(p *past) {
			p.reserve(1, 2)
			p.change(func(*v1.StatefulSet) {})
			p.removes("web-1", "old", true)
			p.free(3)
			p.creates("web-1", "web")
		}, nil},
		"the highest member is removed when a lower one is reserved": {func(p *past) {
			p.reserve(1, 2)
			p.change(func(*v1.StatefulSet) {})
			p.removes("web-2", "old", true)
		}, []string{justified}},
		"a reserved member is created": {func(p *past) {
			p.reserve(1, 2)
			p.change(func(*v1.StatefulSet) {})
			p.creates("web-1", "web")
		}, []string{calledFor}},
		"two members are down at once": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
			p.removes("web-1", "old", true)
		}, []string{available}},
		"two members are down at once, one for an earlier generation": {func(p *past) {
			p.update("new")
			p.removes("web-2", "old", true)
			p.change(func(*v1.StatefulSet) {})
			p.removes("web-1", "old", true)
		}, []string{available}},
		"two controllers take two members down for one generation": {func(p *past) {
			p.shared = true
			p.update("new")
			p.removes("web-2", "old", true)
			p.removes("web-1", "old", true)
		}, []string{available}},
		"two controllers take a member down each, of which one has yet to hear of a change": {func(p *past) {
			p.shared = true
			p.update("new")
			p.removes("web-2", "old", true)
			p.change(func(*v1.StatefulSet) {})
			p.removes("web-1", "old", true)
		}, nil},
		"two controllers take a member down each, just after a change": {func(p *past) {
			p.shared, p.pace = true, time.Second
			p.update("new")
			p.removes("web-2", "old", true)
			p.removes("web-1", "old", true)
		}, nil},
		"a member is created in a service that no set has": {func(p *past) { p.creates("web-1", "other") }, []string{calledFor}},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newPast()
			tc.play(p)
			var got []string
			for _, judge := range []func(judged) []violation{unjustified, unavailable, outOfTurn, twice, uncalled} {
				for _, v := range judge(p.judged) {
					got = append(got, v.promise)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got the violations %q, want %q", got, tc.want)
			}
		})
	}
}

// past is a history in the making. By default a minute passes between any two things.
type past struct {
	judged
	set  *v1.StatefulSet
	now  time.Time
	pace time.Duration
	n    int
	// marks are the annotations of pods from now on.
	marks map[string]string
}

func newPast() *past {
	p := &past{judged: judged{run: &run{scenario: scenarios.Scenario{Set: &appsv1.StatefulSet{}}}}, now: time.Unix(0, 0), pace: time.Minute,
		set: &v1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: setName, UID: "set"},
			Spec: v1.StatefulSetSpec{Replicas: new(int32(3)), ServiceName: "web", PodManagementPolicy: v1.OrderedReadyPodManagement,
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "old"}}}}},
		}}
	p.change(func(*v1.StatefulSet) {})
	return p
}

func (p *past) happens(kind, verb string, object metav1.Object) {
	p.now, p.n = p.now.Add(p.pace), p.n+1
	p.records = append(p.records, record{p.now, kind, verb, int64(p.n), object})
}

func (p *past) change(how func(*v1.StatefulSet)) {
	p.set = p.set.DeepCopy()
	p.set.Generation++
	how(p.set)
	p.happens(sets, changed, p.set)
}

func (p *past) update(image string) {
	p.change(func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = image })
}

// override gives member 2 a size, which no pod here has.
func (p *past) override(size string) {
	p.change(func(set *v1.StatefulSet) {
		set.Spec.Overrides = []v1.MemberOverride{{Name: size, Ordinals: []v1.OrdinalRange{{First: 2}}, Labels: map[string]string{"size": size}}}
	})
}

func (p *past) reserve(ordinal, replicas int32) {
	p.change(func(set *v1.StatefulSet) {
		set.Spec.Replicas, set.Spec.Ordinals = &replicas, &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: ordinal}}}
	})
}

func (p *past) free(replicas int32) {
	p.change(func(set *v1.StatefulSet) { set.Spec.Replicas, set.Spec.Ordinals = &replicas, nil })
}

// names has the status say that a member is replaced out of turn at a revision.
func (p *past) names(ordinal int32, revision string) {
	p.set = p.set.DeepCopy()
	p.set.Status.Rollout = &v1.RolloutStatus{Revision: revision, Unblocking: &ordinal}
	p.happens(sets, changed, p.set)
}

// removes has the controller remove a pod of a revision, which is named like its image.
func (p *past) removes(name, revision string, ready bool) {
	pod := p.pod(name, revision)
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	p.happens(pods, changed, pod)
	p.requests = append(p.requests,
		entry{verb: "delete", resource: pods, name: name, code: 200, at: p.now, body: fmt.Appendf(nil, `{"preconditions":{"uid":%q}}`, pod.UID)})
	pod = pod.DeepCopy()
	pod.DeletionTimestamp = &metav1.Time{Time: p.now}
	p.happens(pods, deleting, pod)
}

func (p *past) creates(name, service string) {
	pod := p.pod(name, "old")
	pod.Spec.Subdomain = service
	p.happens(pods, created, pod)
}

func (p *past) pod(name, revision string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(fmt.Sprint("pod-", p.n)), Annotations: p.marks,
			Labels:          map[string]string{appsv1.ControllerRevisionHashLabelKey: revision},
			OwnerReferences: []metav1.OwnerReference{{Kind: v1.Kind, UID: p.set.UID, Controller: new(true)}}},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Image: revision}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}
