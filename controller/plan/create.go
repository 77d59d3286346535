// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// create plans the creation of a member that has no pod.
func create(f *facts, d *draft, m member) {
	name := f.podName(m)
	if m.nameHolder != nil {
		reportNameTaken(f, d, m.nameHolder)
		return
	}
	claims, usable := lackingClaims(f, d, m)
	if !usable {
		return
	}
	objects, there := lackingObjects(f, d, m)
	if !there {
		return
	}
	revision, source, ok := sourceOf(f, d, m)
	if !ok {
		return
	}
	if other := f.podAtOtherRevision(revision); other != nil {
		d.wait("pod %s is not created at revision %s next to pod %s at revision %s, because the update strategy is Recreate", name, revision.name,
			other.Name, revisionOf(other))
		return
	}
	pod, wrong := d.pods.Pod(source, revision.name, m.ordinal)
	if wrong != nil {
		return // sourceOf has recorded why
	}
	outputs, known := outputsFor(f, d, m, source)
	if !known {
		d.addChain(objects...)
		return
	}
	secrets := f.supporting.secretsOf(m, true)
	if marks := recordSecretsOf(f, m, secrets); len(marks) > 0 {
		if d.addChain(objects...); len(objects) == 0 { // otherwise they are marked later
			d.add(d.onTheirOwn(marks)...)
		}
		d.wait("waiting for the claims of pod %s to record its generated Secrets", name)
		return
	}
	pod, claims = identity.PodUsingSecrets(identity.WithOutputs(pod, outputs), secrets), withSecretsRecorded(claims, secrets)
	d.addChain(append(objects,
		action.CreateMember{Ordinal: m.ordinal, Claims: claims, Pod: f.withServiceGate(pod), Override: f.dueOverride(m)})...)
	d.wait("pod %s is being created", name)
}

// sourceOf is the source from which a member is created, and its revision. It records why if no pod
// can be created from it.
func sourceOf(f *facts, d *draft, m member) (of *revision, source identity.Source, ok bool) {
	of, _ = f.target(m)
	source, err := sourceAt(f, d, of)
	if err != nil {
		d.stall(v1.ReasonRevisionUnreadable, "pod %s needs revision %s: %v", f.podName(m), of.name, words.SanitizeText(err.Error()))
		return of, source, false
	}
	if missing := f.lackingVolume(source.Template); missing != "" {
		d.stall(v1.ReasonClaimTemplateInUse,
			"pod %s cannot be created at revision %s, which mounts %q, but neither the revision's volumes nor volumeClaimTemplates define it; add the claim template again, or bring the member to another revision", f.podName(m), of.name, missing)
		return of, source, false
	}
	if _, wrong := d.pods.Template(source, m.ordinal); wrong != nil {
		d.cannotRender(m, wrong)
		return of, source, false
	}
	return of, source, true
}

// returnable reports whether a member can be created again after its pod was removed, and records
// why not. A claim that is being deleted is no obstacle: the controller waits until it is gone.
func returnable(f *facts, d *draft, m member) bool {
	_, source, ok := sourceOf(f, d, m)
	if !ok {
		return false
	}
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		if blockedByRival(f, d, m, f.world.Set.Spec.VolumeClaimTemplates[i].Name) {
			return false
		}
	}
	if !hasObjects(f, d, m) {
		return false
	}
	_, known := outputsFor(f, d, m, source)
	return known
}

// sourceAt is the source from which a member is created at a revision.
func sourceAt(f *facts, d *draft, r *revision) (identity.Source, error) {
	if r.name == f.update.name {
		return identity.SourceOf(f.world.Set), nil
	}
	return d.reads.source(r)
}

// reportNameTaken records why a member cannot be created under its own name. The garbage collector
// removes a pod that an earlier set of the same name left behind. About any other pod, a user has
// to decide.
func reportNameTaken(f *facts, d *draft, pod *corev1.Pod) {
	controller := metav1.GetControllerOfNoCopy(pod)
	switch {
	case isTerminating(pod):
		d.wait("another pod named %s is terminating", pod.Name)
	case controller == nil:
		d.stall(v1.ReasonNameTaken, "pod %s exists but does not belong to the set: it has no controller, and its labels do not match the set's selector",
			pod.Name)
	case controller.UID == f.world.Set.UID:
		d.wait("pod %s is being released, because its labels no longer match the set's selector", pod.Name)
	case refersToSet(f.world.Set, *controller):
		d.wait("pod %s belongs to an earlier set of this name and is about to be removed", pod.Name)
	default:
		d.stall(v1.ReasonNameTaken, "pod %s exists but does not belong to the set: it is controlled by %s", pod.Name, words.SanitizeOwner(controller))
	}
}
