// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// PodName is the name of the pod of a member: "<set>-<ordinal>".
func PodName(set string, ordinal int) string {
	return set + "-" + strconv.Itoa(ordinal)
}

// ClaimBase is the prefix of the names of claims of a template, before the ordinal:
// "<template>-<set>".
func ClaimBase(template, set string) string { return template + "-" + set }

// ClaimName is the name of a member's claim: "<template>-<set>-<ordinal>".
func ClaimName(template, set string, ordinal int) string {
	return string(AppendClaimName(nil, template, set, ordinal))
}

// AppendClaimName appends the name of a member's claim, for callers that look up many names.
func AppendClaimName(to []byte, template, set string, ordinal int) []byte {
	to = append(append(append(append(to, template...), '-'), set...), '-')
	return strconv.AppendInt(to, int64(ordinal), 10)
}

// ParseClaimName splits the name of a claim into one of the set's claim templates and the ordinal
// of the member. It reports false for a name that none of the templates gives.
func ParseClaimName(claim, set string, templates []corev1.PersistentVolumeClaim) (template string, ordinal int, ok bool) {
	template, ordinal, ok = SplitClaimName(claim, set)
	if !ok || !slices.ContainsFunc(templates, func(t corev1.PersistentVolumeClaim) bool { return t.Name == template }) {
		return "", 0, false
	}
	return template, ordinal, true
}

// SplitClaimName splits the name of a claim into the name of its claim template, which the set need
// not have, and the ordinal of the member. It reports false for a name that no template gives.
func SplitClaimName(claim, set string) (template string, ordinal int, ok bool) {
	base, ordinal, ok := ParsePodName(claim)
	if !ok {
		return "", 0, false
	}
	template, ok = strings.CutSuffix(base, "-"+set)
	return template, ordinal, ok && template != ""
}

// ParsePodName splits the name of a pod into the name of the set and the ordinal. It reports false
// for a name that no member can have, including names whose ordinal has a leading zero or exceeds
// 31 bits.
func ParsePodName(pod string) (set string, ordinal int, ok bool) {
	dash := strings.LastIndexByte(pod, '-')
	if dash < 0 {
		return "", 0, false
	}
	digits := pod[dash+1:]
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || digits[0] == '+' || digits[0] == '0' && digits != "0" {
		return "", 0, false
	}
	return pod[:dash], int(n), true
}

// mostOfName is the maximum length of an object's name.
const mostOfName = 253

// MemberOrdinals are the ordinals of the members of a set whose names another name may contain,
// such as 1 and 10 for "web-10-tls". A name that is too long for an object contains none.
func MemberOrdinals(name, set string) (ordinals []int) {
	if len(name) > mostOfName {
		return nil
	}
	for at := 0; ; {
		next := strings.Index(name[at:], set+"-")
		if next < 0 {
			return ordinals
		}
		at += next + len(set) + 1
		for end := at + 1; end <= len(name); end++ {
			ordinal, err := strconv.ParseUint(name[at:end], 10, 31)
			if err != nil {
				break
			}
			ordinals = append(ordinals, int(ordinal))
		}
	}
}

// RevisionBase is the prefix of the names of a set's revisions: the name of the set, cut so that a
// hash fits after it in the 253 bytes of an object's name.
func RevisionBase(set string) string {
	const longest = 223
	return set[:min(len(set), longest)]
}

// RevisionName is the name of a revision of a set.
func RevisionName(set, hash string) string { return RevisionBase(set) + "-" + hash }
