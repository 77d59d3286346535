// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// versions tracks which version of the software each member runs. A version is an image, because
// users see it both in the template and in the pods.
type versions struct {
	// template is the version of the current template.
	template  string
	templates map[string]content
	seen      int64
	// whole is the last version at which all members were available and the status reported so.
	whole string
	// mayBe is true if the revision of the current template may have become the current revision
	// meanwhile: at some time all members had it and were available. readily is the same for ready
	// members.
	mayBe, readily bool
	// mixed is true if members may have run other versions than these two since then, or if one
	// image has two templates, so that an image does not identify a version.
	mixed bool
	// ran is the version of the last pod of each member.
	ran map[int]string
	// reached are the members that have had the current template since it was set.
	reached map[int]bool
	// observed is the content of the set at the time when its status was last about its spec.
	observed content
}

// content is what a set creates its pods from. Different content means a different revision.
type content struct {
	template *corev1.PodTemplateSpec
	identity *v1.MemberIdentity
}

func contentOf(set *v1.StatefulSet) content { return content{&set.Spec.Template, set.Spec.Identity} }

func newVersions() versions {
	return versions{templates: map[string]content{}, ran: map[int]string{}, reached: map[int]bool{}}
}

// version returns the version of a pod or a template, as users call it.
func version(spec *corev1.PodSpec) string {
	if len(spec.Containers) == 0 {
		return ""
	}
	return spec.Containers[0].Image
}

// see records a change. It must be called after the change has been judged.
func (v *versions) see(now *Scene, by Actor) {
	if now.Set == nil {
		return
	}
	v.seeTemplate(now.Set)
	for _, pod := range now.Pods {
		n, is := ordinal(now.Set, pod.Name)
		if !is || now.podOf(n) == nil {
			continue
		}
		is = version(&pod.Spec) == v.template
		v.ran[n] = version(&pod.Spec)
		v.reached[n] = v.reached[n] || is
		v.mixed = v.mixed || !is && v.ran[n] != v.whole
	}
	v.seeReleased(now.Set)
	v.mixed = v.mixed || by == Outdated // the controller may not know which revision the members had
	v.seeWhole(now)
}

// seeReleased records which members the status reports as reached. A template that returns before a
// sync has seen another one is the same update for the controller.
func (v *versions) seeReleased(set *v1.StatefulSet) {
	if observed(set) {
		v.observed = contentOf(set)
	} else if !reflect.DeepEqual(v.observed, contentOf(set)) {
		return
	}
	for _, n := range desired(set) {
		v.reached[n] = v.reached[n] || isReleased(set, n)
	}
}

// isReleased reports whether a step has reached a member according to the status. That stays so
// when the order changes.
func isReleased(set *v1.StatefulSet, n int) bool {
	return slices.ContainsFunc(decided(set).Released, func(r v1.OrdinalRange) bool { return covers(r, n) })
}

func (v *versions) seeTemplate(set *v1.StatefulSet) {
	if set.Generation == v.seen && v.template != "" {
		return
	}
	v.seen = set.Generation
	now, image := contentOf(set), version(&set.Spec.Template.Spec)
	if known, is := v.templates[image]; is && !reflect.DeepEqual(known, now) {
		v.mixed = true
	}
	v.templates[image] = now
	if image == v.template {
		return
	}
	v.mixed = v.mixed || v.template != "" && v.template != v.whole && (image != v.whole || v.mayBe || v.readily)
	v.template, v.mayBe, v.readily = image, false, false
	clear(v.reached)
}

// seeWhole records whether all members have the current version.
func (v *versions) seeWhole(now *Scene) { //nolint:gocyclo // each condition is one reason to say nothing
	set := now.Set
	members, ready, available := desired(set), true, true
	for _, n := range members {
		pod := now.podOf(n)
		if pod == nil || version(&pod.Spec) != v.template {
			ready, available = false, false
			break
		}
		ready, available = ready && isReady(pod), available && now.isAvailable(pod)
	}
	paused := isPaused(set)
	status := &set.Status
	if claimed := observed(set) && int(status.UpdatedReplicas) == len(members); claimed && len(members) > 0 && !paused {
		ready = ready || int(status.ReadyReplicas) == len(members)
		v.mayBe = v.mayBe || int(status.AvailableReplicas) == len(members)
	}
	if len(members) == 0 {
		v.readily = v.readily || !paused // an empty set is complete
		return
	}
	v.mayBe, v.readily = v.mayBe || available && !paused, v.readily || ready && !paused
	if paused && v.whole != "" && v.whole != v.template {
		return // a paused update does not complete
	}
	if !available || !observed(set) || status.CurrentRevision != status.UpdateRevision || v.spread(now) {
		return
	}
	if v.whole != v.template {
		// The contents of other templates are not needed any more.
		v.templates = map[string]content{v.template: contentOf(set)}
	}
	v.whole, v.mixed = v.template, false
	for n := range v.ran {
		if now.podOf(n) == nil {
			delete(v.ran, n)
		}
	}
}

// spread reports whether any pod of the set has another version than its template.
func (v *versions) spread(now *Scene) bool {
	for pod := range maps.Values(now.Pods) {
		if n, is := ordinal(now.Set, pod.Name); is && now.podOf(n) != nil && version(&pod.Spec) != v.template {
			return true
		}
	}
	return false
}

// clear reports whether a set is between two versions, and the observations are unambiguous: it was
// complete at the first one, and cannot have been complete at the second one.
func (v *versions) clear(set *v1.StatefulSet) bool {
	return set != nil && v.whole != "" && v.template != v.whole && !v.mixed && version(&set.Spec.Template.Spec) == v.template
}

// change is a change of the version of a member.
type change struct {
	n        int
	from, to string
	// restarted is true if the pod stays and its containers are restarted.
	restarted bool
}

// changes returns the members that have other pods after a change, or pods with another version.
func (v *versions) changes(before, after *Scene) (all []change) {
	if before == nil || before.Set == nil || after.Set == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(after.Pods)) {
		n, is := ordinal(after.Set, name)
		if !is || after.podOf(n) == nil {
			continue
		}
		was, now := before.podOf(n), after.podOf(n)
		if was != nil && was.UID == now.UID && version(&was.Spec) == version(&now.Spec) {
			continue
		}
		all = append(all, change{n: n, from: v.ran[n], to: version(&now.Spec), restarted: was != nil && was.UID == now.UID})
	}
	return all
}

// number returns the position, counted from 1, at which a member that has not had the current
// template yet gets it.
func (v *versions) number(set *v1.StatefulSet, member int) int {
	number := 1
	for _, n := range desired(set) {
		if n != member && v.reached[n] {
			number++
		}
	}
	return number
}

// isPaused reports whether a rolling update of a set is paused.
func isPaused(set *v1.StatefulSet) bool {
	rolling := rollingOf(set)
	return rolling != nil && rolling.IsPaused()
}

// rollingOf returns the parameters of a rolling update, nil if the set has none or another
// strategy.
func rollingOf(set *v1.StatefulSet) *v1.RollingUpdateStatefulSetStrategy {
	if set.Spec.UpdateStrategy.Type != v1.RollingUpdateStatefulSetStrategyType {
		return nil
	}
	return set.Spec.UpdateStrategy.RollingUpdate
}

// observed reports whether the status of a set is about its current spec.
func observed(set *v1.StatefulSet) bool { return set.Status.ObservedGeneration == set.Generation }

// decided returns the decisions of users and the controller about the current update.
func decided(set *v1.StatefulSet) v1.RolloutStatus {
	if set.Status.Rollout == nil || set.Status.Rollout.Revision != set.Status.UpdateRevision {
		return v1.RolloutStatus{}
	}
	return *set.Status.Rollout
}
