// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	v1 "statefulset.dev/api/apps/v1"
)

// RestartedAtAnnotation is on the template of a set that was restarted with kubectl rollout
// restart.
const RestartedAtAnnotation = "kubectl.kubernetes.io/restartedAt"

// mostOfRanges is the maximum number of ranges of members that a sentence names.
const mostOfRanges = 3

// RecordUserAction records a request of a user in the status of a set. It replaces the last request
// of the same kind. It does not change slices that the status shares with another set.
func RecordUserAction(set *v1.StatefulSet, action v1.UserAction) {
	action.User, action.Generation = userName(action.User), set.Generation
	actions := slices.DeleteFunc(slices.Clone(set.Status.UserActions), func(a v1.UserAction) bool { return a.Action == action.Action })
	actions = append(actions, action)
	slices.SortFunc(actions, func(a, b v1.UserAction) int { return cmp.Compare(a.Action, b.Action) })
	set.Status.UserActions = actions
}

// userName is the name of a user as a status records it. A long name gets a digest, so that two
// names with the same beginning differ and an audit log can be searched for the user.
func userName(name string) string {
	if len(name) <= v1.MostOfUserName && utf8.ValidString(name) {
		return name
	}
	digest := fmt.Sprintf("...%x", sha256.Sum256([]byte(name)))[:3+16]
	name = strings.ToValidUTF8(name, "\uFFFD")
	end := min(len(name), v1.MostOfUserName-len(digest))
	for end < len(name) && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + digest
}

// DescribeUserAction describes in a sentence who did what to a set, and when.
func DescribeUserAction(set string, a *v1.UserAction) string {
	return fmt.Sprintf("%s %s at %s", UserText(a.User), describeAction(set, a), a.Time.UTC().Format(time.RFC3339))
}

// UserText is the name of a user for a sentence. It is quoted if it could be mistaken for other
// text.
func UserText(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsGraphic(r) }) {
		return strconv.QuoteToGraphic(name)
	}
	return name
}

func describeAction(set string, a *v1.UserAction) string {
	switch a.Action {
	case v1.PromoteUserAction:
		return fmt.Sprintf("promoted step %d of the update to %s", a.Step, a.Revision)
	case v1.PromoteAllUserAction:
		return "promoted all steps of the update to " + a.Revision
	case v1.AbortUserAction:
		return "aborted the update to " + a.Revision
	case v1.RestartUserAction:
		if a.Revision == "" {
			return fmt.Sprintf("restarted the set (generation %d)", a.Generation)
		}
		return "restarted the set with the update to " + a.Revision
	case v1.ReplaceUserAction:
		return "requested the replacement of " + memberNames(set, a.Ordinals)
	case v1.ReplaceLostUserAction:
		return fmt.Sprintf("reported node %s as lost and requested the replacement of %s", a.LostNode, memberNames(set, a.Ordinals))
	case v1.EvaluateUserAction:
		return "released the stopped evaluation"
	default:
		return fmt.Sprintf("requested %s", a.Action)
	}
}

func memberNames(set string, ranges []v1.OrdinalRange) string {
	var names []string
	for _, r := range ranges {
		if len(names) == mostOfRanges {
			names = append(names, "others")
			break
		}
		name := PodName(set, int(r.First))
		if r.End() > r.First {
			name += " to " + PodName(set, int(r.End()))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
