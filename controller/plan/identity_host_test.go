// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// failsBeyond is an expression that gives nothing for members from ordinal 3 on, and defaultTier
// the tier of members without an override.
const (
	failsBeyond = "[1, 1, 1][ORDINAL]"
	defaultTier = "gold"
)

// identity reads what templates are rendered with: none, plain, env, which gives all containers
// parameters, note, which computes an annotation, tier, which has a parameter of its own, or bad,
// which cannot be rendered for all members.
func (h *host) identity(text string) *v1.MemberIdentity {
	h.t.Helper()
	switch text {
	case "none":
		return nil
	case "plain":
		return &v1.MemberIdentity{}
	case "env":
		return &v1.MemberIdentity{Env: []string{"IDENTITY", "REPLICAS"}}
	case "note":
		return &v1.MemberIdentity{
			Transforms: []v1.Transform{{Path: "/metadata/annotations/id", Expression: "IDENTITY + '/' + string(ORDINAL * 2)"}}}
	case "image":
		return &v1.MemberIdentity{Transforms: []v1.Transform{{Path: "/spec/containers/0/workingDir", Expression: "'/' + IDENTITY"}}}
	case "tier":
		return &v1.MemberIdentity{Env: []string{"TIER"}, Values: map[string]string{"TIER": defaultTier}}
	case "bad":
		return &v1.MemberIdentity{Transforms: []v1.Transform{{Path: "/spec/priority", Expression: failsBeyond}}}
	default:
		h.t.Fatalf("unknown identity %q", text)
		return nil
	}
}

// failsToRender reports whether members of a set cannot be rendered.
func failsToRender(set *v1.StatefulSet) bool { return isBad(set.Spec.Identity) }

func isBad(identity *v1.MemberIdentity) bool {
	return identity != nil && slices.ContainsFunc(identity.Transforms, func(t v1.Transform) bool { return t.Expression == failsBeyond })
}

// parametersOf tells which parameters a pod has.
func parametersOf(pod *corev1.Pod) string {
	text := identityText(pod)
	if text != "" {
		text = " with " + text
	}
	if told, names := pod.Annotations[v1.ReplicasAnnotation]; names {
		text += " of " + told
	}
	for _, name := range []string{"ADDRESS", "VIP"} {
		if value, reads := pod.Annotations[outputNote+name]; reads {
			text += " and " + name + "=" + strconv.Quote(value)
		}
	}
	return text
}

// isParameter reports whether a variable is one that a template or an identity here asks for.
func isParameter(name string) bool {
	return slices.Contains(strings.Fields("IDENTITY REPLICAS TIER"), name) || isOutput(name)
}

// isOutput reports whether a variable is what an object gives.
func isOutput(name string) bool { return name == "ADDRESS" || name == "VIP" }
