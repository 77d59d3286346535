// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// trial is an object to be tried on the host.
type trial struct {
	object runtime.Object
	// path is the part of the set that is tried.
	path string
	// twins are the claim templates that differ from this one in their name only. What
	// holds for one holds for all.
	twins []int
	// origin says where in the set the object's fields come from.
	origin origin
	// binding is the field of the object whose faults are faults of the set: apps/v1
	// refuses it too. What the host finds invalid elsewhere depends on the namespace
	// or is made up by us, and apps/v1 accepts it; so do we, with a warning. Empty if
	// there is no such field.
	binding string
	// group is what it is of. Each has a bound of its own.
	group group
}

// group is a part of a set.
type group int

const (
	// ofTemplate are trials of the pod template and the claim templates.
	ofTemplate group = iota
	// ofOverride are those of overrides.
	ofOverride
	// ofObject are those of the templates of objects. All that the host finds invalid in an object that
	// is not there yet is a fault of the set.
	ofObject
)

// templateTrials are the trials of a pod template. It is tried as a PodTemplate, in
// which the host looks at what stands in the template and at nothing else, as it does
// in a StatefulSet of its own; and as the pod of the first member, which the host's
// policies look at. A template that is rendered is tried as it is for the last member, too.
//
// Every object gets a generated name: that of the member may be taken, by the member
// itself. Its hostname and labels have the real name, so lengths are judged.
func templateTrials(within *render.Evaluation, set *v1.StatefulSet) []trial {
	var trials []trial
	for _, ordinal := range endsOf(set, set.Spec.Identity == nil) {
		trials = append(trials, memberTrials(within, set, ordinal)...)
	}
	return trials
}

// endsOf are the ordinals of the first member and of the last, or of the first alone if all are alike.
func endsOf(set *v1.StatefulSet, alike bool) []int {
	roster := identity.OrdinalsOf(set)
	if last, any := roster.Last(); any && last != roster.First() && !alike {
		return []int{roster.First(), last}
	}
	return []int{roster.First()}
}

// memberTrials are the trials of the pod template as it is for a member without an override.
func memberTrials(within *render.Evaluation, set *v1.StatefulSet, ordinal int) []trial {
	overrides := identity.OverridesWithin(within, withoutOverrides(set))
	template, wrong := overrides.Rendered(identity.SourceOf(set), ordinal)
	pod, again := overrides.Pod(identity.SourceOf(set), set.Name+"-preflight", ordinal)
	if wrong != nil || again != nil {
		return nil // which was found before
	}
	return podTrials(set, pod, template.ObjectMeta, "spec.template", nil)
}

// withoutOverrides is a set all of whose members are made from the templates alone.
func withoutOverrides(set *v1.StatefulSet) *v1.StatefulSet {
	plain := *set
	plain.Spec.Overrides = nil
	return &plain
}

// podTrials are the trials of the pod that is made from a template with this metadata. What is
// found in a field of the pod's template is found in the part of the set that overrides has for
// it, and else in the template of the set.
func podTrials(set *v1.StatefulSet, pod *corev1.Pod, meta metav1.ObjectMeta, path string, overrides []fieldOrigin) []trial {
	pod.Name = ""

	template := &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pod.GenerateName, Namespace: set.Namespace},
		Template:   corev1.PodTemplateSpec{ObjectMeta: meta, Spec: *pod.Spec.DeepCopy()},
	}
	template.Template.Spec.Hostname, template.Template.Spec.Subdomain = "", ""

	volumes := volumeOrigins(set)
	inTemplate := make([]fieldOrigin, 0, len(overrides)+1)
	for _, o := range overrides {
		inTemplate = append(inTemplate, fieldOrigin{"template." + o.object, o.set})
	}
	return []trial{{
		object:  template,
		path:    path,
		origin:  origin{fields: append(inTemplate, fieldOrigin{"template", "spec.template"}), volumes: volumes},
		binding: "template",
	}, {
		object: pod,
		path:   path,
		origin: origin{fields: append(slices.Clip(overrides),
			fieldOrigin{"spec.hostname", "metadata.name"},
			fieldOrigin{"spec", "spec.template.spec"},
			fieldOrigin{"metadata", "spec.template.metadata"},
		), volumes: volumes},
	}}
}

// claimTrials are the trials of the claim templates, as the claims of the first member.
// Templates that differ in their name only are tried once.
func claimTrials(set *v1.StatefulSet) []trial {
	overrides := identity.OverridesOf(withoutOverrides(set))
	trials := make([]trial, 0, min(len(set.Spec.VolumeClaimTemplates), mostTrials))
	known := map[string]int{} // trials by what is in the claim
	for i := range set.Spec.VolumeClaimTemplates {
		claim, wrong := overrides.Claim(i, identity.OrdinalsOf(set).First())
		if wrong != nil {
			continue // which was found before
		}
		name := claim.Name
		claim.Name = ""
		contents := claim.String()
		if at, ok := known[contents]; ok {
			trials[at].twins = append(trials[at].twins, i)
			continue
		}
		known[contents] = len(trials)
		claim.GenerateName = name + "-"
		trials = append(trials, claimTrial(claim, i))
	}
	return trials
}

func claimTrial(claim *corev1.PersistentVolumeClaim, index int) trial {
	path := ClaimPath(index)
	return trial{
		object:  claim,
		path:    path,
		origin:  claimOrigin(path),
		binding: "spec",
	}
}

func claimOrigin(path string) origin {
	return origin{fields: []fieldOrigin{{"spec", path + ".spec"}, {"metadata", path + ".metadata"}}}
}
