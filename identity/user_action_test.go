// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestTheLastActionOfEachSortIsKept(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 4}}
	all := []v1.UserActionType{v1.RestartUserAction, v1.ReplaceUserAction, v1.PromoteUserAction, v1.AbortUserAction, v1.ReplaceLostUserAction,
		v1.EvaluateUserAction, v1.PromoteAllUserAction}
	for _, user := range []string{"ann", "bob"} {
		for _, action := range all {
			RecordUserAction(set, v1.UserAction{Action: action, User: user})
		}
	}
	var got []string
	for _, a := range set.Status.UserActions {
		got = append(got, fmt.Sprintf("%s %s %d", a.Action, a.User, a.Generation))
	}
	want := []string{
		"Abort bob 4", "Evaluate bob 4", "Promote bob 4", "PromoteAll bob 4", "Replace bob 4", "ReplaceLost bob 4", "Restart bob 4"}
	if !slices.Equal(got, want) {
		t.Errorf("the status has %q, want %q", got, want)
	}
	shared := *set
	RecordUserAction(&shared, v1.UserAction{Action: v1.AbortUserAction, User: "eve"})
	if by := set.Status.UserActions[0].User; by != "bob" {
		t.Errorf("the set that shares the status names %s, want bob still", by)
	}
}

func TestNamesOfUsersAreBounded(t *testing.T) {
	digest := func(name string) string { return fmt.Sprintf("...%x", sha256.Sum256([]byte(name)))[:19] }
	for sentence, c := range map[string]struct{ name, want string }{
		"a name of 256 bytes is kept":              {strings.Repeat("a", 256), strings.Repeat("a", 256)},
		"a longer one is cut":                      {strings.Repeat("a", 257), strings.Repeat("a", 237) + digest(strings.Repeat("a", 257))},
		"no character is cut in two":               {strings.Repeat("ä", 200), strings.Repeat("ä", 118) + digest(strings.Repeat("ä", 200))},
		"what is no UTF-8 is replaced, and marked": {"a\xffb", "a\uFFFDb" + digest("a\xffb")},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := &v1.StatefulSet{}
			RecordUserAction(set, v1.UserAction{Action: v1.AbortUserAction, User: c.name})
			if got := set.Status.UserActions[0].User; got != c.want || len(got) > v1.MostOfUserName || !utf8.ValidString(got) {
				t.Errorf("got %q of %d bytes, want %q", got, len(got), c.want)
			}
		})
	}
}

func TestActionsAreDescribed(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for want, a := range map[string]v1.UserAction{
		"ann promoted step 2 of the update to web-b": {
			Action: v1.PromoteUserAction, Step: 2, Revision: "web-b"},
		"ann promoted all steps of the update to web-b": {Action: v1.PromoteAllUserAction, Revision: "web-b"},
		"ann aborted the update to web-b":               {Action: v1.AbortUserAction, Revision: "web-b"},
		"ann restarted the set with the update to web-b": {
			Action: v1.RestartUserAction, Revision: "web-b", Generation: 3},
		"ann restarted the set (generation 3)": {Action: v1.RestartUserAction, Generation: 3},
		"ann requested the replacement of web-0 to web-2, web-5, web-7, others": {
			Action: v1.ReplaceUserAction, Ordinals: []v1.OrdinalRange{{First: 0, Last: new(int32(2))}, {First: 5}, {First: 7}, {First: 9}}},
		"ann reported node n1 as lost and requested the replacement of web-1": {
			Action: v1.ReplaceLostUserAction, LostNode: "n1", Ordinals: []v1.OrdinalRange{{First: 1}}},
		"ann released the stopped evaluation": {Action: v1.EvaluateUserAction},
		"ann requested Dance":                 {Action: "Dance"},
		`"bob aborted the update to web-b at noon; ann" released the stopped evaluation`: {
			Action: v1.EvaluateUserAction, User: "bob aborted the update to web-b at noon; ann"},
		`"eve\n\u202e" released the stopped evaluation`: {Action: v1.EvaluateUserAction, User: "eve\n\u202e"},
	} {
		if a.Time = at; a.User == "" {
			a.User = "ann"
		}
		if got := DescribeUserAction("web", &a); got != want+" at 2026-01-02T03:04:05Z" {
			t.Errorf("got %q, want %q and the time", got, want)
		}
	}
}
