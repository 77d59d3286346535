// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// generatedValues are random values, by key.
type generatedValues map[string]string

// generateValues generates the values of a Secret. No plan contains them, and the controller does
// not keep them.
func generateValues(keys []v1.GeneratedKey) generatedValues {
	values := generatedValues{}
	for _, key := range keys {
		random := make([]byte, key.Bytes)
		_, _ = rand.Read(random) // it never fails
		values[key.Key] = base64.RawURLEncoding.EncodeToString(random)
	}
	return values
}

// addedTo returns a copy of a Secret with the values.
func (d generatedValues) addedTo(secret *unstructured.Unstructured) *unstructured.Unstructured {
	made := secret.DeepCopy()
	data := make(map[string]any, len(d))
	for key, text := range d {
		data[key] = encoded(text)
	}
	made.Object["data"] = data
	return made
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// redact removes the values from an answer: a webhook may have repeated the object that it refuses.
func (d generatedValues) redact(err error) error {
	if err == nil {
		return nil
	}
	for _, text := range d {
		if said := err.Error(); strings.Contains(said, text) || strings.Contains(said, encoded(text)) {
			return silenced(err)
		}
	}
	return err
}

// silenced is an error of the same kind without its message.
func silenced(err error) error {
	const instead = "the response of the host cluster contains generated values and is not shown"
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return errors.New(instead)
	}
	told := status.Status()
	told.Message, told.Details = instead, nil
	return &apierrors.StatusError{ErrStatus: told}
}

// recordPageSize is how many claims or pods are read at a time to check which Secrets they record.
const recordPageSize = 500

// confirmSecretUnrecorded verifies, past the caches, that no claim or pod records a Secret that is
// about to be generated. New values would make data useless that was written with the old ones, and
// the cache of Secrets may be ahead of the cache of claims. For a Secret of the set, all claims and
// all pods of members are read; for a Secret of a member, only those of the member.
func (e *execution) confirmSecretUnrecorded(ctx context.Context, act action.CreateObject) error {
	if len(act.Generate) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	for _, options := range e.claimSelectors(act.Ordinal) {
		if err := e.confirmNoneRecords(ctx, "claim", act, options, e.claimPage); err != nil {
			return err
		}
	}
	pods := metav1.ListOptions{LabelSelector: appsv1.StatefulSetPodNameLabel}
	if act.Ordinal >= 0 {
		pods = listOptionsFor(identity.PodName(e.set.Name, act.Ordinal))
	}
	return e.confirmNoneRecords(ctx, "pod", act, pods, e.podPage)
}

// claimSelectors returns the list options that select the claims of a member, also those of claim
// templates that the set no longer has. An ordinal below 0 selects all claims.
func (e *execution) claimSelectors(ordinal int) (all []metav1.ListOptions) {
	if ordinal < 0 {
		return []metav1.ListOptions{{}}
	}
	for i := range e.set.Spec.VolumeClaimTemplates {
		all = append(all, listOptionsFor(identity.ClaimName(e.set.Spec.VolumeClaimTemplates[i].Name, e.set.Name, ordinal)))
	}
	for _, claim := range e.term.view.claimsRecordingSecrets(e.set) {
		if _, of, _ := identity.ParsePodName(claim.Name); of == ordinal {
			all = append(all, listOptionsFor(claim.Name))
		}
	}
	return all
}

// listOptionsFor selects one object by its name. The controller has no permission to get a claim.
func listOptionsFor(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
}

type recordPager func(context.Context, metav1.ListOptions) (page []metav1.Object, next string, err error)

func (e *execution) confirmNoneRecords(ctx context.Context, noun string, act action.CreateObject, options metav1.ListOptions,
	read recordPager) error {
	options.Limit = recordPageSize
	for {
		var next string
		page, err := hostread.ReadWithRetry(ctx, e.term.config.Clock, func(ctx context.Context) (page []metav1.Object, err error) {
			page, next, err = read(ctx, options)
			return page, err
		})
		if err != nil {
			return fmt.Errorf("reading %ss before generating Secret %s: %w", noun, act.Object.GetName(), err)
		}
		for _, holder := range page {
			if slices.Contains(identity.GeneratedOf(holder), act.Object.GetName()) {
				return &staleRead{errors.New(noun + " " + holder.GetName() + " already records generated Secret " + act.Object.GetName())}
			}
		}
		if options.Continue = next; next == "" {
			return nil
		}
	}
}

func (e *execution) claimPage(ctx context.Context, options metav1.ListOptions) ([]metav1.Object, string, error) {
	list, err := e.term.config.Host.CoreV1().PersistentVolumeClaims(e.set.Namespace).List(ctx, options)
	if err != nil {
		return nil, "", err //nolint:wrapcheck // the caller does
	}
	return toObjects(list.Items), list.Continue, nil
}

func (e *execution) podPage(ctx context.Context, options metav1.ListOptions) ([]metav1.Object, string, error) {
	list, err := e.term.config.Host.CoreV1().Pods(e.set.Namespace).List(ctx, options)
	if err != nil {
		return nil, "", err //nolint:wrapcheck // the caller does
	}
	return toObjects(list.Items), list.Continue, nil
}

func toObjects[T any, P interface {
	*T
	metav1.Object
}](items []T) (all []metav1.Object) {
	for i := range items {
		all = append(all, P(&items[i]))
	}
	return all
}
