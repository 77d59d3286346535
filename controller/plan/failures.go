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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity/conditions"
)

// Failure is an action that the host cluster did not carry out.
type Failure struct {
	Action action.Action
	Err    error
	// Tried is when it failed. Next is when it is tried again if nothing changes before that, zero
	// if that is not known.
	Tried, Next time.Time
}

// shortestReported is the shortest wait for another try that conditions report: a shorter one is
// over before anyone reads it, and each report costs a write.
const shortestReported = 5 * time.Second

// times says when the action was tried, and when it is tried again.
func (f Failure) times() string {
	if f.Next.Sub(f.Tried) < shortestReported {
		return ""
	}
	return fmt.Sprintf(" (tried at %s, next at %s)", words.Timestamp(f.Tried), words.Timestamp(f.Next))
}

// WithFailures is the status of a set after actions of its plan have failed. before is the previous
// status: what has not changed since keeps its time.
func WithFailures(before v1.StatefulSetStatus, p Plan, failures []Failure, now time.Time) v1.StatefulSetStatus {
	status := reportUnreclaimed(reportUndeleted(p.Status, failures), failures)
	failures = slices.DeleteFunc(slices.Clone(failures), isMinor)
	if len(failures) > 0 {
		status.Conditions = failed(p.Conditions, failures).Put(before.Conditions, now)
	}
	return status
}

// failed are the conditions after actions have failed. The set is stalled if the cluster understood
// the request and refused it, because then a person has to change something. It is not stalled if
// the cluster was merely in trouble, or if a budget does not allow an eviction yet.
func failed(says conditions.Conditions, failures []Failure) conditions.Conditions {
	worst := worstOf(failures)
	message := failureText(worst, len(failures)-1)
	if IsRefusal(worst.Err) {
		word, advice := refusalWord(worst)
		refused := &reason{word, message + advice}
		says.Ready, says.Progressing = refused.condition(corev1.ConditionFalse), refused.condition(corev1.ConditionFalse)
		says.Reconciling, says.Stalled = refused.condition(corev1.ConditionFalse), refused.condition(corev1.ConditionTrue)
		return says
	}
	trouble := &reason{v1.ReasonHostUnavailable, message}
	if IsNotAllowed(worst.Err) {
		trouble.word = v1.ReasonDisruptionNotAllowed
	}
	says.Ready, says.Reconciling = trouble.condition(corev1.ConditionFalse), trouble.condition(corev1.ConditionTrue)
	if says.Stalled.Status == corev1.ConditionTrue {
		says.Reconciling = trouble.condition(corev1.ConditionFalse)
		if IsNotAllowed(worst.Err) {
			says.Stalled = trouble.condition(corev1.ConditionTrue) // it names the budget
		}
	}
	return says
}

// worstOf is the failure that conditions report: the first refusal, or else the first failure that
// is not merely an eviction that a budget does not allow yet, or else the last one.
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

// failureText says what could not be done, and how many more actions failed.
func failureText(worst Failure, more int) string {
	message := fmt.Sprintf("could not %s: %s", worst.Action, Cause(worst.Err)) + worst.times()
	if _, changes := worst.Action.(action.ApplyObject); changes && apierrors.IsInvalid(worst.Err) {
		message += "; delete it so that it is recreated"
	}
	if owners, sets := worst.Action.(action.SetClaimOwners); sets && owners.Exposed != "" {
		message += fmt.Sprintf("; until then, retained claim %s would be deleted with %s", owners.Claim.Name, owners.Exposed)
	}
	if more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return message
}

// refusalWord is the reason for a request that the cluster refused, and what to do if a right is
// missing.
func refusalWord(failure Failure) (word, advice string) {
	if missing := missingGrant(failure); missing != nil {
		return v1.ReasonMissingRight, "; " + missing.remedy()
	}
	return v1.ReasonHostRefused, ""
}

// isMinor reports whether nothing depends on an action that the cluster did not carry out.
func isMinor(failure Failure) bool {
	patch, ok := failure.Action.(action.PatchPod)
	_, deletes := failure.Action.(action.DeleteObject)
	_, reclaims := failure.Action.(action.DeleteClaim)
	return ok && patch.Minor || deletes || reclaims
}

// Cause is an error without what the cluster repeats from the request: which quota is used up
// matters, but it is already known that creating pods is therefore forbidden. It also leaves out
// what is different at every try, because that would change the status each time. It is one line of
// bounded length, whatever a webhook has answered.
func Cause(err error) string { return words.SanitizeText(steady(rawCause(err))) }

// steady is a text without the port of a connection's client, and without the time at which a
// certificate was verified.
func steady(text string) string {
	from := regexp.MustCompile(`\b((?:tcp|udp)[46]?) \S+:\d+->`)
	at := regexp.MustCompile(`\bcurrent time [0-9TZ:.+-]+ is`)
	return at.ReplaceAllString(from.ReplaceAllString(text, "$1 "), "current time is")
}

// budgetIn describes the budget that does not allow a pod to be evicted, and its state; empty if an
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

func rawCause(err error) string {
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

// IsRefusal reports whether an error is a deliberate answer of the host cluster, which the same
// request would get again, and not a temporary failure.
func IsRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsUnauthorized(err) || isAmbiguous(err)
}

// isAmbiguous reports whether the cluster does not evict a pod because more than one
// PodDisruptionBudget selects it. Only the text of the error says that.
func isAmbiguous(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && strings.Contains(err.Error(), "more than one PodDisruptionBudget")
}

// IsNotAllowed reports whether a PodDisruptionBudget does not allow an eviction now. That is
// neither a refusal nor a failure of the cluster: the same request may succeed later.
func IsNotAllowed(err error) bool {
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
}
