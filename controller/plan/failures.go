// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity/conditions"
)

// Failure is an action that the host cluster did not carry out.
type Failure struct {
	Action action.Action
	Err    error
	// Tried is when it failed, Next when it is tried again if nothing changes before that; zero if that
	// is not known.
	Tried, Next time.Time
}

// shortestReported is the shortest wait for another try that conditions report: a shorter
// one is over before it is read, and each costs a write.
const shortestReported = 5 * time.Second

// times says when the action was tried, and when it is tried again.
func (f Failure) times() string {
	if f.Next.Sub(f.Tried) < shortestReported {
		return ""
	}
	return fmt.Sprintf(" (tried at %s, next at %s)", words.Clock(f.Tried), words.Clock(f.Next))
}

// WithFailures is what the status of a set becomes when actions of its plan have failed; before
// is the status that it had, so that what stays as it was keeps its time.
func WithFailures(before v1.StatefulSetStatus, p Plan, failures []Failure, now time.Time) v1.StatefulSetStatus {
	status := tellUnreclaimed(tellUndeleted(p.Status, failures), failures)
	failures = slices.DeleteFunc(slices.Clone(failures), isMinor)
	if len(failures) > 0 {
		status.Conditions = failed(p.Conditions, failures).Put(before.Conditions, now)
	}
	return status
}

// failed is what the conditions say when actions have failed. The set is stalled if the host understood the request
// and refused it, because then a person has to change something; it is not if the host was merely in trouble, or if a
// budget does not let a pod be evicted yet.
func failed(says conditions.Conditions, failures []Failure) conditions.Conditions {
	worst := worstOf(failures)
	message := failureText(worst, len(failures)-1)
	if IsRefusal(worst.Err) {
		word, advice := refusalWord(worst)
		refused := &reason{word, message + advice}
		says.Ready, says.Progressing = refused.is(corev1.ConditionFalse), refused.is(corev1.ConditionFalse)
		says.Reconciling, says.Stalled = refused.is(corev1.ConditionFalse), refused.is(corev1.ConditionTrue)
		return says
	}
	trouble := &reason{v1.ReasonHostUnavailable, message}
	if IsNotAllowed(worst.Err) {
		trouble.word = v1.ReasonDisruptionNotAllowed
	}
	says.Ready, says.Reconciling = trouble.is(corev1.ConditionFalse), trouble.is(corev1.ConditionTrue)
	if says.Stalled.Status == corev1.ConditionTrue {
		says.Reconciling = trouble.is(corev1.ConditionFalse)
		if IsNotAllowed(worst.Err) {
			says.Stalled = trouble.is(corev1.ConditionTrue) // it names the budget
		}
	}
	return says
}

// worstOf is the failure that conditions name: the first refusal, or else the first that is not merely an eviction
// which a budget does not allow yet, or else the last.
func worstOf(failures []Failure) Failure {
	worst := failures[0]
	for _, failure := range failures {
		if IsRefusal(failure.Err) {
			return failure
		}
		if IsNotAllowed(worst.Err) {
			worst = failure
		}
	}
	return worst
}

// failureText says what could not be done, and that there is more of the kind.
func failureText(worst Failure, more int) string {
	message := fmt.Sprintf("could not %s: %s", worst.Action, Cause(worst.Err)) + worst.times()
	if _, changes := worst.Action.(action.ApplyObject); changes && apierrors.IsInvalid(worst.Err) {
		message += "; delete it to have it made anew"
	}
	if owners, sets := worst.Action.(action.SetClaimOwners); sets && owners.Exposed != "" {
		message += fmt.Sprintf("; until then claim %s, which stays, is deleted with %s", owners.Claim.Name, owners.Exposed)
	}
	if more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return message
}

// refusalWord is the reason for what the host refused, and what to do if a right is missing.
func refusalWord(failure Failure) (word, advice string) {
	if missing := missingGrant(failure); missing != nil {
		return v1.ReasonMissingRight, "; " + missing.remedy()
	}
	return v1.ReasonHostRefused, ""
}

// isMinor reports whether nothing rests on what the host did not carry out.
func isMinor(failure Failure) bool {
	patch, ok := failure.Action.(action.PatchPod)
	_, deletes := failure.Action.(action.DeleteObject)
	_, reclaims := failure.Action.(action.DeleteClaim)
	return ok && patch.Minor || deletes || reclaims
}

// Cause is an error without what the host repeats of the request: whose quota is
// used up matters, and that creating pods is therefore forbidden is known. Nor does it
// tell what is different at every try, which would be news each time. It is one line of
// bounded length, whatever a webhook has answered.
func Cause(err error) string { return words.ForeignText(steady(cause(err))) }

// steady is a text without the port that a connection came from, and without the time
// at which a certificate was looked at.
func steady(text string) string {
	from := regexp.MustCompile(`\b((?:tcp|udp)[46]?) \S+:\d+->`)
	at := regexp.MustCompile(`\bcurrent time [0-9TZ:.+-]+ is`)
	return at.ReplaceAllString(from.ReplaceAllString(text, "$1 "), "current time is")
}

// budgetIn names the budget that does not let a pod be evicted, and how it stands; empty if an
// answer is about something else.
func budgetIn(answer apierrors.APIStatus) string {
	if details := answer.Status().Details; details != nil {
		for _, c := range details.Causes {
			if c.Type == policyv1.DisruptionBudgetCause && c.Message != "" {
				return " " + c.Message
			}
		}
	}
	return ""
}

func cause(err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return err.Error()
	}
	text := answer.Status().Message
	what, ok := strings.CutSuffix(err.Error(), text)
	if !ok {
		return err.Error()
	}
	if _, reason, ok := strings.Cut(text, " is forbidden: "); ok {
		text = reason
	}
	return what + text + budgetIn(answer)
}
