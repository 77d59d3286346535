// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// The colours of a live tree go through to the terminal, so what others have written must
// be made harmless before it is coloured.
func TestOnlyOurOwnColoursReachTheTerminal(t *testing.T) {
	const hostile = "x\x1b]0;owned\a\x1b[2J\x1b[41m\u009b31m\u202egnp\x7f\r\n\tforged"
	s := updating()
	say(s.set, corev1.ConditionFalse, hostile, hostile)
	s.trouble = hostile
	s.revisions[0].Name = "web-" + hostile
	s.pods[0].Labels[identity.RevisionLabel], s.pods[0].Spec.NodeName = "web-"+hostile, hostile
	s.pods[1].Status.Phase, s.pods[0].Status.Phase = hostile, hostile
	s.claims[0].Status.Phase = hostile
	s.set.Status.Conditions = append(s.set.Status.Conditions,
		v1.StatefulSetCondition{Type: v1.StatefulSetStalled, Status: corev1.ConditionTrue, Reason: hostile, Message: hostile})

	drawn := render(s, frame{width: 400})
	ours := regexp.MustCompile(`\x1b\[(1|2|31|32|33)?m`)
	if rest := ours.ReplaceAllString(drawn, ""); strings.ContainsFunc(strings.ReplaceAll(rest, "\n", ""),
		func(r rune) bool { return !unicode.IsGraphic(r) }) {
		t.Errorf("got %q, want no control characters but bold, faint, red, green and yellow", rest)
	}
	if !strings.Contains(drawn, "owned") || ansi.Strip(drawn) == drawn {
		t.Errorf("got %q, want the text in colours", drawn)
	}
	if strings.Contains(drawn, "\nforged") {
		t.Errorf("got %q, want no line of somebody else's", drawn)
	}
}
