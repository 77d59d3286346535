// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "statefulset.dev/api/apps/v1"
)

// nowhere is what an override asks of a node that no node has.
const nowhere = "nowhere"

// overrides reads overrides such as big@0,2-3@node=nvme@size=big, or none: a name, ordinals, and
// what is otherwise. They are separated by slashes.
func (h *host) overrides(text string) (overrides []v1.MemberOverride) {
	h.t.Helper()
	if text == "none" {
		return nil
	}
	for part := range strings.SplitSeq(text, "/") {
		words := strings.Split(part, "@")
		override := v1.MemberOverride{Name: words[0], Ordinals: h.ranges(words[1])}
		for _, word := range words[2:] {
			what, value, _ := strings.Cut(word, "=")
			switch what {
			case "node":
				override.NodeSelector = map[string]string{"disk": value}
			case "size":
				override.Labels = map[string]string{"size": value}
			case "env":
				override.Containers = []v1.ContainerOverride{{Name: "nginx", Env: []corev1.EnvVar{{Name: value, Value: "1"}}}}
			case "tier":
				override.Values = map[string]string{"TIER": value}
			case "storage":
				template, size, _ := strings.Cut(value, "=")
				override.VolumeClaims = []v1.VolumeClaimOverride{{Name: template, Storage: new(resource.MustParse(size))}}
			default:
				h.t.Fatalf("unknown override %q", word)
			}
		}
		overrides = append(overrides, override)
	}
	return overrides
}

// asksForNowhere reports whether an override asks for a node that there is not.
func asksForNowhere(set *v1.StatefulSet) bool {
	for _, override := range set.Spec.Overrides {
		if override.NodeSelector["disk"] == nowhere {
			return true
		}
	}
	return false
}
