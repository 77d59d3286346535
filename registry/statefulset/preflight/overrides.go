// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// mostOverrides is the maximum number of overrides with different pods that are tried for one
// write, each as a template and as a pod.
const mostOverrides = 10

// overrideTrials returns the trials of the pods of overrides, as the first member of each, except
// those that known has, too. Overrides that differ only in their names and members are tried once.
// Trials beyond the limit have no object.
func overrideTrials(within *render.Evaluation, set, known *v1.StatefulSet) []trial {
	if known != nil && equality.Semantic.DeepEqual(set.Spec.Overrides, known.Spec.Overrides) {
		return nil
	}
	tried := map[string]bool{"": true}
	if known != nil {
		overrides := identity.OverridesOf(known)
		for i := range known.Spec.Overrides {
			tried[hashOf(overrides, &known.Spec.Overrides[i])] = true
		}
	}
	overrides := identity.OverridesWithin(within, set)
	var trials []trial
	for i := range set.Spec.Overrides {
		hash := hashOf(overrides, &set.Spec.Overrides[i])
		if tried[hash] {
			continue
		}
		tried[hash] = true
		if len(trials) >= 2*mostOverrides {
			trials = append(trials, trial{path: overridePath(i).String(), group: ofOverride})
			continue
		}
		trials = append(trials, overrideTrial(set, overrides, i)...)
	}
	return trials
}

// hashOf is a hash that differs for overrides with different pods. It is empty if an override does
// not apply to pods.
func hashOf(overrides *identity.Overrides, override *v1.MemberOverride) string {
	if len(override.Ordinals) == 0 {
		return ""
	}
	return overrides.Hash(int(override.Ordinals[0].First))
}

func overrideTrial(set *v1.StatefulSet, overrides *identity.Overrides, i int) []trial {
	first := int(set.Spec.Overrides[i].Ordinals[0].First)
	template, wrong := overrides.Rendered(identity.SourceOf(set), first)
	pod, again := overrides.Pod(identity.SourceOf(set), set.Name+"-preflight", first)
	if wrong != nil || again != nil {
		return nil // reported by the validation
	}
	trials := podTrials(set, pod, template.ObjectMeta, overridePath(i).String(), overrideOrigins(set, &pod.Spec, i))
	for j := range trials {
		trials[j].group = ofOverride
	}
	return trials
}

func overridePath(i int) *field.Path { return field.NewPath("spec", "overrides").Index(i) }

// overrideOrigins are the fields of a pod that come from an override of the set.
func overrideOrigins(set *v1.StatefulSet, pod *corev1.PodSpec, i int) (origins []fieldOrigin) {
	override, path := &set.Spec.Overrides[i], overridePath(i)
	from := func(object, path *field.Path) {
		origins = append(origins, fieldOrigin{object.String(), path.String()})
	}
	spec := field.NewPath("spec")
	if len(override.NodeSelector) > 0 {
		from(spec.Child("nodeSelector"), path.Child("nodeSelector"))
	}
	before := len(set.Spec.Template.Spec.Tolerations)
	for j := range override.Tolerations {
		from(spec.Child("tolerations").Index(before+j), path.Child("tolerations").Index(j))
	}
	for j := range override.Containers {
		container, object := placeOf(pod, override.Containers[j].Name)
		if container == nil {
			continue
		}
		at := path.Child("containers").Index(j)
		if override.Containers[j].Image != "" {
			from(object.Child("image"), at.Child("image"))
		}
		if override.Containers[j].Resources != nil {
			from(object.Child("resources"), at.Child("resources"))
		}
		env := override.Containers[j].Env
		for k := range env[:min(len(env), mostVariables)] {
			named := func(v corev1.EnvVar) bool { return v.Name == env[k].Name }
			if place := slices.IndexFunc(container.Env, named); place >= 0 {
				from(object.Child("env").Index(place), at.Child("env").Index(k))
			}
		}
	}
	return origins
}

// mostVariables is the maximum number of variables of a container that are traced to an override.
// Errors in other variables are reported for the template.
const mostVariables = 100

// placeOf returns the container of a name and its path in a pod, nil if there is none.
func placeOf(pod *corev1.PodSpec, name string) (*corev1.Container, *field.Path) {
	for i := range pod.Containers {
		if pod.Containers[i].Name == name {
			return &pod.Containers[i], field.NewPath("spec", "containers").Index(i)
		}
	}
	for i := range pod.InitContainers {
		if pod.InitContainers[i].Name == name {
			return &pod.InitContainers[i], field.NewPath("spec", "initContainers").Index(i)
		}
	}
	return nil, nil
}
