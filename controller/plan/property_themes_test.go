// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// theme is what a sequence is about: fields that every set has, and events that happen more often than
// others. What a few features do together is rare among all that can happen.
type theme struct{ fields, events []string }

// themes are what sequences may be about, besides everything.
var themes = map[string]theme{
	"in place": {[]string{"inPlace", "partition"},
		[]string{"image", "image", "partition", "cpu", "steps", "restart", "restart", "replaceUnreadyAfterSeconds"}},
	"resources": {[]string{"inPlace", "steps", "cpu"}, []string{"cpu", "outgrow", "cramp", "defer", "restart", "inPlace"}},
	"objects":   {[]string{"objects", "retention"}, []string{"retention", "replicas", "replicas", "objects", "drift", "known"}},
	"secrets":   {[]string{"objects", "identity", "claims"}, []string{"objects", "stranger", "give", "replicas", "killobject", "known"}},
	"claims": {[]string{"claims", "volumeClaimUpdate", "whenScaled", "scaledAfterSeconds"},
		[]string{"claims", "replicas", "killclaim", "dropclaim", "bind", "overrides"}},
	"budgets": {[]string{"method", "inPlace", "drain", "policy"},
		[]string{"image", "image", "restart", "swap", "refuse", "allow", "replace", "maxUnavailable"}},
	"gates": {[]string{"gates", "inPlace", "drain"}, []string{"answer", "answer", "image", "replace", "replicas", "method"}},
	"order": {
		[]string{"direction", "first", "last", "steps"}, []string{"lead", "follow", "steps", "true", "promote", "abort", "image", "replace"}},
	"failures": {[]string{"steps", "failurePolicy", "method"},
		[]string{"unready", "unready", "wait", "wait", "image", "abort", "promoteall", "refuse", "false"}},
	"sudden ends": {nil, []string{"fail", "fail", "succeed", "evict", "ready", "look"}},

	"holes": {[]string{"reserved", "overrides", "rate"}, []string{"reserved", "remove", "replicas", "start", "policy", "replace"}},
}

// TestRandomSequencesOfThemes is TestRandomSequences for sequences each of which is about something; of
// all together there are half as many.
func TestRandomSequencesOfThemes(t *testing.T) {
	names := slices.Sorted(maps.Keys(themes))
	drawing(t, max(sequences(t)/2/len(names), 1))
	inShards(t, len(names), func(part int) string { return names[part] }, func(t *rapid.T, part int) {
		playDrawn(t, Compute, "", themes[names[part]])
	})
}
