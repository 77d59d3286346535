// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// hasOtherOverride reports whether a member has a pod that was made with another override than
// the member has now. That is told from what the pod notes: a host fills in what a pod leaves
// open, and webhooks change it.
func (f *facts) hasOtherOverride(m member) bool {
	return f.hasShape(m) && m.pod.Annotations[v1.OverrideAnnotation] != f.overrides.Hash(m.ordinal)
}

// dueOverride names the override that the pod of a member is to have, empty if it is to have
// none.
func (f *facts) dueOverride(m member) string {
	if f.overrides.Hash(m.ordinal) == "" {
		return ""
	}
	return words.Foreign(f.overrides.Of(m.ordinal).Name)
}

// overrideText is the override that the pod of a member is to have, in a sentence.
func (f *facts) overrideText(m member) string {
	if due := f.dueOverride(m); due != "" {
		return "with override " + due
	}
	return "without an override"
}

// overrideParts is how much a member has because of its override that it does not share with
// all others: labels and annotations of its own, and containers that it shares with the other
// members of the override. Of these it counts only where they are many.
func (f *facts) overrideParts() int {
	template := &f.world.Set.Spec.Template.Spec
	most, copied, mostCopied := 0, 0, 0
	for i := range f.world.Set.Spec.Overrides {
		override := &f.world.Set.Spec.Overrides[i]
		most = max(most, len(override.Labels)+len(override.Annotations))
		if len(override.Containers) > 0 {
			copies := len(template.Containers) + len(template.InitContainers) + variables(template.Containers) + variables(template.InitContainers)
			copied, mostCopied = copied+copies, copies
		}
	}
	if copied > mostParts {
		return most + mostCopied
	}
	return most
}

func variables(containers []corev1.Container) (n int) {
	for i := range containers {
		n += len(containers[i].Env)
	}
	return n
}
