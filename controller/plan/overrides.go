// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// hasOtherOverride reports whether the pod of a member was created with another override than the
// member has now. It compares what the pod records: the host cluster sets defaults in a pod, and
// webhooks change it.
func (f *facts) hasOtherOverride(m member) bool {
	return f.hasShape(m) && m.pod.Annotations[v1.OverrideAnnotation] != f.overrides.Hash(m.ordinal)
}

// dueOverride names the override that applies to the pod of a member, empty if none does.
func (f *facts) dueOverride(m member) string {
	if f.overrides.Hash(m.ordinal) == "" {
		return ""
	}
	return words.Sanitize(f.overrides.Of(m.ordinal).Name)
}

// overrideText describes the override that applies to the pod of a member, for a sentence.
func (f *facts) overrideText(m member) string {
	if due := f.dueOverride(m); due != "" {
		return "with override " + due
	}
	return "without an override"
}

// overrideParts is the size, in parts, of what a member does not share because of its override: its
// own labels and annotations, and containers that it shares only with the other members of the
// override. The latter count only where they are many.
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
