//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// errUsage marks a mistake in a scenario.
var errUsage = errors.New("this is no command")

// play carries out a command on one side and says what came of it.
func (s *side) play(ctx context.Context, c command) (answer string, err error) {
	value, err := s.substituted(s.own(c.value))
	if err != nil {
		return "", err
	}
	words, err := s.substitutedWords(c.words)
	if err != nil {
		return "", err
	}
	switch err := s.dispatch(ctx, words[0], words[1:], value); {
	case errors.Is(err, errUsage), ctx.Err() != nil:
		return "", err
	default:
		return verdict(err), nil
	}
}

// own is a value without what it has under "ours". On our side that is put into the value:
// fields that the built-in StatefulSet does not have.
func (s *side) own(value map[string]any) map[string]any {
	more, ok := value["ours"].(map[string]any)
	if !ok {
		return value
	}
	value = maps.Clone(value)
	delete(value, "ours")
	if s.sets.Group == v1.GroupName {
		return merged(value, more)
	}
	return value
}

// merged is a value with more put into it, at any depth.
func merged(value, more map[string]any) map[string]any {
	all := maps.Clone(value)
	if all == nil {
		all = map[string]any{}
	}
	for key, added := range more {
		below, ok := added.(map[string]any)
		if there, both := all[key].(map[string]any); ok && both {
			added = merged(there, below)
		}
		all[key] = added
	}
	return all
}

const accepted = "accepted"

// verdict is what an answer of an API server amounts to: its reason, and the fields
// that it complains of.
func verdict(err error) string {
	if err == nil {
		return accepted
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error()
	}
	text := "refused: " + string(status.Status().Reason)
	if details := status.Status().Details; details != nil {
		var fields []string
		for _, cause := range details.Causes {
			fields = append(fields, cause.Field+" ("+string(cause.Type)+")")
		}
		slices.Sort(fields)
		text += " " + strings.Join(slices.Compact(fields), ", ")
	}
	return strings.TrimSpace(text)
}

func (s *side) dispatch(ctx context.Context, verb string, args []string, value map[string]any) error {
	switch {
	case verb == "kubelet":
		s.kubelet.obey(slices.Contains(args, "starts"), slices.Contains(args, "ends"))
		return nil
	case verb == "until" && len(args) >= 2:
		return s.awaitObject(ctx, args[0], args[1], args[2:], value)
	case verb == "remember" && len(args) == 3:
		return s.remember(args[0], args[1], args[2])
	case slices.Contains([]string{"ready", "unready", "start", "fail", "succeed", "evict", "finish"}, verb):
		return s.playKubelet(ctx, verb, args)
	case len(args) < 2:
		return fmt.Errorf("%w: %s %s", errUsage, verb, strings.Join(args, " "))
	}
	return s.write(ctx, verb, args[0], args[1], args[2:], value)
}

// write is the verbs that change an object of any kind.
func (s *side) write(ctx context.Context, verb, kind, name string, args []string, value map[string]any) error {
	resource, err := s.resource(kind)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	client := s.client.Resource(resource).Namespace(s.namespace)
	switch verb {
	case "create", "apply":
		object, err := s.base(kind, name, args, value)
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		if verb == "create" {
			_, err = client.Create(ctx, object, metav1.CreateOptions{})
		} else {
			_, err = client.Apply(ctx, name, object, metav1.ApplyOptions{FieldManager: "differential", Force: true})
		}
		return err
	case "patch", "strategic":
		patch, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		how := map[string]types.PatchType{"patch": types.MergePatchType, "strategic": types.StrategicMergePatchType}[verb]
		_, err = client.Patch(ctx, name, how, patch, metav1.PatchOptions{}, args...)
		return err
	case "scale":
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": json.Number(args[0])}})
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		_, err = client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
		return err
	case "delete":
		return client.Delete(ctx, name, deleteOptions(args))
	default:
		return fmt.Errorf("%w: %s", errUsage, verb)
	}
}

// deleteOptions are those of a delete command; it may name the propagation, or say
// that a pod is to be removed now.
func deleteOptions(args []string) metav1.DeleteOptions {
	var options metav1.DeleteOptions
	for _, arg := range args {
		switch arg {
		case "now":
			options.GracePeriodSeconds = ptr.To[int64](0)
		case "foreground":
			options.PropagationPolicy = ptr.To(metav1.DeletePropagationForeground)
		case "background":
			options.PropagationPolicy = ptr.To(metav1.DeletePropagationBackground)
		case "orphan":
			options.PropagationPolicy = ptr.To(metav1.DeletePropagationOrphan)
		}
	}
	return options
}

// playKubelet is the verbs that the kubelet obeys. The last argument may say that
// something has been so for a while: "since 1h".
func (s *side) playKubelet(ctx context.Context, verb string, args []string) error {
	since := time.Now()
	if at := slices.Index(args, "since"); at >= 0 && at+1 < len(args) {
		ago, err := time.ParseDuration(args[at+1])
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		since, args = since.Add(-ago), args[:at]
	}
	limited, cancel := context.WithTimeout(ctx, untilLimit)
	defer cancel()
	for _, name := range args {
		err := s.until(limited, func() bool {
			pod := s.get(pods, name)
			return pod != nil && (verb != "finish" || pod.GetDeletionTimestamp() != nil)
		})
		if err != nil {
			return fmt.Errorf("there is no pod %s to %s", name, verb)
		}
		pod := s.get(pods, name)
		if err := s.kubelet.playOne(ctx, verb, pod, since); err != nil {
			return err
		}
	}
	return nil
}

func (k *kubelet) playOne(ctx context.Context, verb string, pod *unstructured.Unstructured, since time.Time) error {
	var status map[string]any
	switch verb {
	case "finish":
		return k.end(ctx, pod)
	case "ready":
		status = readyStatus(corev1.PodRunning, corev1.ConditionTrue, since)
	case "start", "unready":
		status = readyStatus(corev1.PodRunning, corev1.ConditionFalse, since)
	case "succeed":
		status = readyStatus(corev1.PodSucceeded, corev1.ConditionFalse, since)
	case "fail", "evict":
		status = readyStatus(corev1.PodFailed, corev1.ConditionFalse, since)
	}
	if verb == "evict" {
		status["reason"] = "Evicted"
	}
	return k.setStatus(ctx, pod, status)
}

// untilLimit is how long a side may take until what a scenario waits for is so.
const untilLimit = 30 * time.Second

// awaitObject waits until an object exists, is gone, or has the given value in it.
func (s *side) awaitObject(ctx context.Context, kind, name string, args []string, value map[string]any) error {
	resource, err := s.resource(kind)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	limited, cancel := context.WithTimeout(ctx, untilLimit)
	defer cancel()
	isGone := slices.Contains(args, "gone")
	err = s.untilObject(limited, kind, name, resource, func(object *unstructured.Unstructured) bool {
		return isGone == (object == nil) && (object == nil || contains(object.Object, value))
	})
	if err != nil && ctx.Err() == nil {
		return errors.New("never came true")
	}
	return err
}

// contains reports whether an object has at least the given fields.
func contains(have, want any) bool {
	fields, ok := want.(map[string]any)
	if !ok {
		return fmt.Sprint(have) == fmt.Sprint(want)
	}
	object, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for key := range fields {
		if !contains(object[key], fields[key]) {
			return false
		}
	}
	return true
}
