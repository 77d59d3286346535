// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// findings are the results of trials.
type findings struct {
	// errs are the errors in the set itself.
	errs     field.ErrorList
	warnings []string
}

// texts returns all findings as warnings.
func (f findings) texts() []string {
	texts := make([]string, 0, len(f.errs)+len(f.warnings))
	for _, err := range f.errs {
		texts = append(texts, err.Error())
	}
	return append(texts, f.warnings...)
}

// judge evaluates the answers of the host cluster. An invalid template also makes its pod invalid,
// so if there are errors, warnings are dropped.
func judge(trials []trial, answers []Answer) findings {
	var all findings
	for i, trial := range trials {
		found := trial.judge(answers[i])
		if trial.group != ofTemplate {
			found = found.without(all)
		}
		all.errs = append(all.errs, found.errs...)
		all.warnings = append(all.warnings, found.warnings...)
		all.errs = append(all.errs, trial.ofTwins(answers[i])...)
	}
	if len(all.errs) > 0 {
		all.warnings = nil
	}
	return all
}

// without returns the findings that are not in others: a problem of the template is also found in
// each pod of an override.
func (f findings) without(others findings) findings {
	known := sets.New(others.texts()...)
	return findings{
		errs:     slices.DeleteFunc(f.errs, func(err *field.Error) bool { return known.Has(err.Error()) }),
		warnings: slices.DeleteFunc(f.warnings, known.Has),
	}
}

func (t trial) judge(answer Answer) findings {
	var found findings
	for _, text := range answer.Warnings {
		found.warnings = append(found.warnings, t.origin.warning(text))
	}
	if answer.Err == nil {
		return found
	}
	causes := invalidFields(answer.Err)
	for _, cause := range causes {
		err := t.origin.fieldError(cause)
		switch {
		case t.binds(cause.Field, answer):
			found.errs = append(found.errs, err)
		case answer.Exists:
			found.warnings = append(found.warnings,
				fmt.Sprintf("%s: %s could not be changed: %v; if the field is immutable, delete the object so that it is recreated", t.path, t.noun(), err))
		default:
			found.warnings = append(found.warnings, fmt.Sprintf("%s: %s could not be created: %v", t.path, t.noun(), err))
		}
	}
	if len(causes) == 0 {
		found.warnings = append(found.warnings, fmt.Sprintf("%s: %s", t.path, t.refusal(answer.Err)))
	}
	return found
}

// binds reports whether an error in a field makes the set invalid. The error that a field is
// immutable does not, because the user can delete the object.
func (t trial) binds(path string, answer Answer) bool {
	if t.group == ofObject {
		return !answer.Exists
	}
	_, binds := below(path, t.binding)
	return binds && t.binding != ""
}

// mostTwins is the maximum number of claim templates like an invalid one for which errors are
// returned.
const mostTwins = 16

// ofTwins returns the errors of the templates that are like the one that was tried.
func (t trial) ofTwins(answer Answer) field.ErrorList {
	var errs field.ErrorList
	for _, twin := range t.twins[:min(len(t.twins), mostTwins)] {
		t.origin = claimOrigin(ClaimPath(twin))
		errs = append(errs, t.judge(Answer{Err: answer.Err}).errs...)
	}
	return errs
}

// unasked names claim templates that were not tried, because there were too many.
func unasked(trials []trial) []string {
	var left []string
	count := 0
	for _, trial := range trials {
		left = append(left, trial.path)
		count += 1 + len(trial.twins)
	}
	switch count {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s: not checked: for one request at most %d objects are tried on the host cluster", left[0], mostTrials)}
	}
	return []string{
		fmt.Sprintf("%s: not checked, nor %d other claim templates up to %s: for one request at most %d objects are tried on the host cluster",
			left[0], count-1, left[len(left)-1], mostTrials)}
}

// unaskedOf names parts of a set that were not tried, because there were too many.
func unaskedOf(what string, most int) func(trials []trial) []string {
	return func(trials []trial) []string {
		if len(trials) == 0 {
			return nil
		}
		return []string{fmt.Sprintf("%s to %s: not checked: for one request at most %d %s are tried on the host cluster", trials[0].path,
			trials[len(trials)-1].path, most, what)}
	}
}

// refusal describes an answer that names no field.
func (t trial) refusal(err error) string {
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, ErrBusy):
		return fmt.Sprintf("not checked: %v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("not checked: the host cluster did not answer within %s", patience)
	case errors.As(err, &status):
		return fmt.Sprintf("%s could not be created now: %v", t.noun(), err)
	}
	return fmt.Sprintf("not checked: %v", err)
}

func (t trial) noun() string {
	switch object := t.object.(type) {
	case *unstructured.Unstructured:
		return object.GetKind() + " " + object.GetName()
	case *corev1.Pod:
		return "a pod"
	case *corev1.PersistentVolumeClaim:
		return "a claim"
	}
	return "a pod template"
}

// invalidFields are the fields that an error names.
func invalidFields(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(status.Status().Details.Causes), func(cause metav1.StatusCause) bool { return cause.Field == "" })
}

// fieldError converts an error of the host cluster to an error of the set. An unknown type of
// error, of a newer host cluster, becomes an invalid value.
func (o origin) fieldError(cause metav1.StatusCause) *field.Error {
	kind := field.ErrorType(cause.Type)
	detail, known := strings.CutPrefix(cause.Message, kind.String())
	if !known {
		kind, detail = field.ErrorTypeInvalid, cause.Message
	}
	return &field.Error{
		Type: kind, Field: o.of(cause.Field), BadValue: field.OmitValueType{}, Detail: shortened(strings.TrimPrefix(detail, ": "))}
}

// shortened removes the middle of a long error: the host cluster repeats the value of the field,
// which may be a whole pod template, and names the problem at the end.
func shortened(detail string) string {
	const begin, end = 100, 300
	text := []rune(detail)
	if len(text) <= begin+end {
		return detail
	}
	return string(text[:begin]) + " ... " + string(text[len(text)-end:])
}
