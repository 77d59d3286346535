// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// create plans the creation of a member that has no pod.
func create(f *facts, d *draft, m member) {
	name := f.podName(m)
	if m.taken != nil {
		explainTaken(f, d, m.taken)
		return
	}
	claims, usable := lackingClaims(f, d, m)
	if !usable {
		return
	}
	revision, template := templateOf(f, d, m)
	if template == nil {
		return
	}
	d.each(CreateMember{Ordinal: m.ordinal, Claims: claims, Pod: f.withServiceGate(d.pods.Pod(template, revision.name, m.ordinal)), Override: f.dueOverride(m)})
	ownClaims(f, d, m)
	d.wait("pod %s is being created", name)
}

// templateOf is the template that a member is made from, and its revision. If it cannot be
// read, it is nil, and said why.
func templateOf(f *facts, d *draft, m member) (*revision, *corev1.PodTemplateSpec) {
	revision, _ := f.target(m)
	template, err := templateAt(f, d, revision)
	if err != nil {
		d.blocked(v1.ReasonRevisionUnreadable, "pod %s needs revision %s: %v", f.podName(m), revision.name, foreignText(err.Error()))
		return nil, nil
	}
	if missing := f.lackingVolume(template); missing != "" {
		d.blocked(v1.ReasonClaimTemplateInUse, "pod %s cannot be created at revision %s, which mounts %q: neither is that a volume of its template, nor is there a claim template of that name any more; add it again, or bring the member to another revision", f.podName(m), revision.name, missing)
		return nil, nil
	}
	return revision, template
}

// returnable reports whether a member whose pod is removed can be created again, and says
// why if not. A claim that is being deleted is no obstacle: its end is waited for.
func returnable(f *facts, d *draft, m member) bool {
	if _, template := templateOf(f, d, m); template == nil {
		return false
	}
	for i := range f.Set.Spec.VolumeClaimTemplates {
		if blockedByRival(f, d, m, f.Set.Spec.VolumeClaimTemplates[i].Name) {
			return false
		}
	}
	return true
}

// templateAt is the template that a member of the given revision is made from.
func templateAt(f *facts, d *draft, r *revision) (*corev1.PodTemplateSpec, error) {
	if r.name == f.update.name {
		return &f.Set.Spec.Template, nil
	}
	return d.reads.template(r)
}

// explainTaken says why a member cannot be created under its own name. A pod that
// an earlier set of the same name left behind is the garbage collector's to remove;
// about any other somebody has to decide.
func explainTaken(f *facts, d *draft, pod *corev1.Pod) {
	controller := metav1.GetControllerOfNoCopy(pod)
	switch {
	case isTerminating(pod):
		d.wait("another pod named %s is terminating", pod.Name)
	case controller == nil:
		d.blocked(v1.ReasonNameTaken, "pod %s exists and is not the set's: nobody controls it, and its labels do not match the set's selector", pod.Name)
	case controller.UID == f.Set.UID:
		d.wait("pod %s is being released, because its labels no longer match the set's selector", pod.Name)
	case f.refersToSet(*controller):
		d.wait("pod %s belongs to an earlier set of this name and is about to be removed", pod.Name)
	default:
		d.blocked(v1.ReasonNameTaken, "pod %s exists and is not the set's: it is controlled by %s", pod.Name, foreignOwner(controller))
	}
}
