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

// trial is an object that is tried on the host cluster.
type trial struct {
	object runtime.Object
	// path is the part of the set that is tried.
	path string
	// twins are the claim templates that differ from this one only in their name. The answer
	// applies to all of them.
	twins []int
	// origin translates the fields of the object to fields of the set.
	origin origin
	// binding is the field of the object whose errors make the set invalid, as in apps/v1. Errors
	// in other fields depend on the namespace, or on parts that we add, and apps/v1 accepts them.
	// We also accept them, with a warning. It is empty if there is no such field.
	binding string
	// group is the group of the trial. Each group has its own limit.
	group group
}

// group is a part of a set.
type group int

const (
	// ofTemplate are trials of the pod template and the claim templates.
	ofTemplate group = iota
	// ofOverride are trials of overrides.
	ofOverride
	// ofObject are trials of object templates. Every error in an object that does not exist yet
	// makes the set invalid.
	ofObject
)

// templateTrials returns the trials of a pod template. It is tried as a PodTemplate, of which the
// host cluster validates only the template, as it does for its own StatefulSets. It is also tried
// as the pod of the first member, which the policies of the host cluster check. A template that is
// rendered is also tried for the last member.
//
// Every object gets a generated name, because the name of the member may be in use by the member
// itself. Its hostname and labels have the real name, so their lengths are validated.
func templateTrials(within *render.Evaluation, set *v1.StatefulSet) []trial {
	var trials []trial
	for _, ordinal := range endsOf(set, set.Spec.Identity == nil) {
		trials = append(trials, memberTrials(within, set, ordinal)...)
	}
	return trials
}

// endsOf are the ordinals of the first and the last member, or of the first one only, if all are
// alike.
func endsOf(set *v1.StatefulSet, alike bool) []int {
	roster := identity.OrdinalsOf(set)
	if last, any := roster.Last(); any && last != roster.First() && !alike {
		return []int{roster.First(), last}
	}
	return []int{roster.First()}
}

// memberTrials returns the trials of the pod template for a member without an override.
func memberTrials(within *render.Evaluation, set *v1.StatefulSet, ordinal int) []trial {
	overrides := identity.OverridesWithin(within, withoutOverrides(set))
	template, wrong := overrides.Rendered(identity.SourceOf(set), ordinal)
	pod, again := overrides.Pod(identity.SourceOf(set), set.Name+"-preflight", ordinal)
	if wrong != nil || again != nil {
		return nil // reported by the validation
	}
	return podTrials(set, pod, template.ObjectMeta, "spec.template", nil)
}

// withoutOverrides returns the set without overrides.
func withoutOverrides(set *v1.StatefulSet) *v1.StatefulSet {
	plain := *set
	plain.Spec.Overrides = nil
	return &plain
}

// podTrials returns the trials of the pod that is built from a template with this metadata. An
// error in a field of the pod template is reported for the override that sets the field, or else
// for the template of the set.
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

// claimTrials returns the trials of the claim templates, as claims of the first member. Templates
// that differ only in their name are tried once.
func claimTrials(set *v1.StatefulSet) []trial {
	overrides := identity.OverridesOf(withoutOverrides(set))
	trials := make([]trial, 0, min(len(set.Spec.VolumeClaimTemplates), mostTrials))
	known := map[string]int{} // trials by the content of the claim
	for i := range set.Spec.VolumeClaimTemplates {
		claim, wrong := overrides.Claim(i, identity.OrdinalsOf(set).First())
		if wrong != nil {
			continue // reported by the validation
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
