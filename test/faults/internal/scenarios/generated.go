// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// draws describes a Secret for each member, and one for the set, with generated values.
const draws = Patch(`{"spec":{"objectTemplates":[
	{"name":"token","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-token"}},"generate":[{"key":"token","bytes":32}]},
	{"name":"sst","scope":"Set","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(SET)-sst"}},"generate":[{"key":"password","bytes":24}]}]}}`)

// Drawn returns the names of the Secrets with generated values for a set and one of its desired
// members.
func Drawn(set *v1.StatefulSet, ordinal int) (names []string) {
	member := fmt.Sprintf("%s-%d", set.Name, ordinal)
	for i := range set.Spec.ObjectTemplates {
		switch template := &set.Spec.ObjectTemplates[i]; {
		case len(template.Generate) == 0:
		case template.Scope == v1.SetObjectScope:
			names = append(names, set.Name+"-"+template.Name)
		default:
			names = append(names, member+"-"+template.Name)
		}
	}
	return names
}

// GivenTo reports whether a claim or a pod records that a Secret was injected into it.
func GivenTo(object metav1.Object, secret string) bool {
	return slices.Contains(strings.Split(object.GetAnnotations()[v1.GeneratedAnnotation], ","), secret)
}

// secretLines describes the Secrets of the set, without their generated values.
func (o Observed) secretLines() (lines []string) {
	if o.Set == nil {
		return nil
	}
	for _, ordinal := range Wanted(o.Set) {
		for _, name := range Drawn(o.Set, ordinal) {
			at := slices.IndexFunc(o.Secrets, func(s corev1.Secret) bool { return s.Name == name })
			if at < 0 {
				lines = append(lines, "secret "+name+": none")
				continue
			}
			secret := &o.Secrets[at]
			lines = append(lines, fmt.Sprintf("secret %s: the set's %t, keys %v, labels %v, owners %v", name,
				secret.Annotations[v1.OwnerAnnotation] == o.Set.Name+"/"+string(o.Set.UID), slices.Sorted(maps.Keys(secret.Data)), words(secret.Labels),
				o.owners(secret.OwnerReferences)))
		}
	}
	return lines
}
