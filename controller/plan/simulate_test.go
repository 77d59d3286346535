// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// host is a cluster in memory: it holds what a plan acts on, does what actions
// say, and plays the kubelet when it is told to.
type host struct {
	t tester
	// compute makes the plans; what it makes is checked.
	compute   func(World) Plan
	set       *v1.StatefulSet
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
	objects   map[identity.ObjectKey]*Object
	// unknown says why objects are not known, nil if they are.
	unknown *Kind
	now     time.Time
	// skew is by how much the controller's clock is ahead of that.
	skew   time.Duration
	writes int
	// early are what the last look was to delete before it was due.
	early []action.Action
	// refuse makes actions whose text contains a key fail with its value.
	refuse map[string]error
	// writesLeft is how many writes the controller carries out before it crashes,
	// negative if it does not.
	writesLeft int
	// past are the latest states of the host, the newest last.
	past []state
	// rivals are older sets whose claims have the same names, by template.
	rivals map[string]string
	// records are what the last plan has read.
	records Cache
	// cramps is for how many resizes nodes will have no room.
	cramps int
	// fixed is true if the resources of pods cannot be changed, mute if the controller may not set
	// their conditions.
	fixed, mute bool
	// keeping is the retention of templates of objects, as in "Delete:20".
	keeping string
	// differences are where objects of others are not as the templates of the set describe.
	differences map[identity.ObjectKey]string
	// gives is what objects give.
	gives outputsHost
	// healthy is how many members have to stay ready when pods are evicted.
	healthy int
	// outdated says of what the controller has an old view, empty if of nothing.
	outdated string
	outside
}

// tester is what the host needs of a test; it is ended by Fatalf.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newHost(t tester, compute func(World) Plan) *host {
	return &host{
		t: t, compute: inspected(t, compute),
		set: &v1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "set-uid", Generation: 1},
			Spec: v1.StatefulSetSpec{
				ServiceName: "nginx",
				Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"app": "nginx"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "nginx"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1"}}},
				},
			},
		},
		pods:      map[string]*corev1.Pod{},
		claims:    map[string]*corev1.PersistentVolumeClaim{},
		revisions: map[string]*appsv1.ControllerRevision{},
		objects:   map[identity.ObjectKey]*Object{},
		now:       time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		refuse:    map[string]error{}, writesLeft: -1,
	}
}

// configure changes the set as a user would; every setting is key=value.
func (h *host) configure(settings []string) {
	h.t.Helper()
	before := h.set.DeepCopy()
	spec := &h.set.Spec
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		switch key {
		case "replicas":
			spec.Replicas = new(int32(h.number(value)))
		case "policy":
			spec.PodManagementPolicy = v1.PodManagementPolicyType(value)
		case "service":
			spec.ServiceName = value
		case "image":
			spec.Template.Spec.Containers[0].Image = value
		case "claims":
			spec.VolumeClaimTemplates = claimTemplates(value)
			h.retainObjects()
		case "claimLabel":
			for i := range spec.VolumeClaimTemplates {
				spec.VolumeClaimTemplates[i].Labels = map[string]string{"tier": value}
			}
		case "grace":
			spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(h.number(value)))
		case "claimAnnotation":
			for i := range spec.VolumeClaimTemplates {
				spec.VolumeClaimTemplates[i].Annotations = map[string]string{value: "2026-01-01T00:00:00Z", "note": value}
			}
		case "volumeClaimUpdate":
			spec.VolumeClaimUpdate = nil
			if value != "none" {
				spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.VolumeClaimUpdatePolicyType(value)}
			}
		case "overrides":
			spec.Overrides = h.overrides(value)
		case "mounts":
			spec.Template.Spec.Containers[0].VolumeMounts = nil
			for name := range strings.SplitSeq(value, ",") {
				spec.Template.Spec.Containers[0].VolumeMounts = append(spec.Template.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: name})
			}
		case "strategy":
			spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.StatefulSetUpdateStrategyType(value)}
		case "partition":
			h.rolling().Partition = new(int32(h.number(value)))
			if *h.rolling().Partition > 0 {
				h.rolling().Steps, h.rolling().FailurePolicy = nil, nil
			}
		case "maxUnavailable":
			h.rolling().MaxUnavailable = new(intstr.Parse(value))
		case "replaceUnreadyAfterSeconds":
			h.rolling().ReplaceUnreadyAfterSeconds = nil
			if value != "none" {
				h.rolling().ReplaceUnreadyAfterSeconds = new(int32(h.number(value)))
			}
		case "paused":
			h.rolling().Paused = new(value == "true")
		case "steps":
			h.rolling().Steps, h.rolling().Partition = h.stepsOf(value), nil
		case "failurePolicy":
			h.rolling().FailurePolicy, h.rolling().Partition = new(v1.RolloutFailurePolicy(value)), nil
		case "rate":
			spec.ScaleStrategy = nil
			if value != "none" {
				spec.ScaleStrategy = &v1.StatefulSetScaleStrategy{MaxUnavailable: new(intstr.Parse(value))}
			}
		case "minReadySeconds":
			spec.MinReadySeconds = int32(h.number(value))
		case "progressDeadlineSeconds":
			spec.ProgressDeadlineSeconds = new(int32(h.number(value)))
		case "start":
			h.ordinals().Start = int32(h.number(value))
		case "reserved":
			h.ordinals().Reserved = h.ranges(value)
		case "historyLimit":
			spec.RevisionHistoryLimit = new(int32(h.number(value)))
		case "whenDeleted":
			h.retention().WhenDeleted = v1.PersistentVolumeClaimRetentionPolicyType(value)
		case "whenScaled":
			h.retention().WhenScaled = v1.PersistentVolumeClaimRetentionPolicyType(value)
			if value == "Retain" {
				h.retention().ScaledAfterSeconds = nil
			}
		case "scaledAfterSeconds":
			h.retention().ScaledAfterSeconds = nil
			if value != "none" {
				h.retention().WhenScaled = v1.DeletePersistentVolumeClaimRetentionPolicyType
				h.retention().ScaledAfterSeconds = new(int32(h.number(value)))
			}
		default:
			if !h.order(key, value) && !h.disrupt(key, value) && !h.templateSetting(key, value) {
				h.t.Fatalf("unknown setting %q", setting)
			}
		}
	}
	v1.SetObjectDefaults_StatefulSet(h.set)
	if !apiequality.Semantic.DeepEqual(before.Spec, h.set.Spec) {
		h.set.Generation++
		identity.RecordRemovedTemplates(h.set, before, metav1.Time{Time: h.now})
	}
}

// look computes a plan of the world as it is, and carries it out.
func (h *host) look() (p Plan, done []action.Action, failed []Failure) {
	set, view := *h.set, h.world()
	p, done, failed = h.lookAt(view, func(act action.Action, err error) {
		if h.isEarly(act) {
			h.early = append(h.early, act)
			return
		}
		h.t.Fatalf("[fresh] the plan of a fresh view fails to %s: %v", act, err)
	})
	view.Set = &set
	if h.judge == nil {
		h.checkHistory(view, p, failed)
	}
	return p, done, failed
}

// lookAt computes a plan of a view, carries it out as the executor does, stores the
// status, and reports which actions were carried out and which were refused.
// An action that names an object that is not so any more is told to gotStale.
func (h *host) lookAt(view World, gotStale func(action.Action, error)) (p Plan, done []action.Action, failed []Failure) {
	p = h.computeAndRead(view)
	h.records, h.early = p.Cache, nil
	c := &carrying{host: h, gotStale: gotStale}
	if c.carryOut(p.First) {
		c.carryOutAll(p.Chains)
	}
	if !c.stale {
		c.carryOutAll(p.Finally)
	}
	defer h.synced(c)
	if c.crashed {
		return p, c.done, c.failed
	}
	if h.losing {
		return p, c.done, c.failed
	}
	if h.judge != nil {
		h.set.Status = WithFailures(h.set.Status, p, c.failed, h.now)
		return p, c.done, c.failed
	}
	goesOn := (&judged{evidence: gather(view), plan: p}).goesOn()
	h.set.Status = WithFailures(h.set.Status, p, c.failed, view.Now)
	h.checkWord(view, c.failed, goesOn)
	return p, c.done, c.failed
}
