// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
	"statefulset.dev/identity"
)

const (
	// TrialArgument is the only argument of a process that runs ServeTrial.
	TrialArgument = "evaluate-in-trial"
	// TrialRefused is its exit code if it could not read the request.
	TrialRefused = 3
	// trialTimeout limits how long it may take.
	trialTimeout = 30 * time.Second
)

// errTrialEnded is the result of a trial whose process ended before it completed the evaluation.
var errTrialEnded = errors.New("the separate process for the evaluation ended")

// Trial evaluates expressions in a separate process, because they may end it.
type Trial func(ctx context.Context, request []byte) error

// NewTrial returns a trial that runs a program, which reads the request and calls ServeTrial.
func NewTrial(program string) Trial {
	return func(ctx context.Context, request []byte) error {
		ctx, cancel := context.WithTimeout(ctx, trialTimeout)
		defer cancel()
		var said headBuffer
		process := exec.CommandContext(ctx, program, TrialArgument)
		process.Stdin, process.Stderr = bytes.NewReader(request), &said
		err := process.Run()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("evaluating in a separate process: %w", ctx.Err())
		case !errors.As(err, &exit) || exit.ExitCode() == TrialRefused:
			return fmt.Errorf("evaluating in a separate process: %w: %s", err, said.text)
		default:
			klog.FromContext(ctx).Info("The separate process for an evaluation ended", "state", exit.String(), "said", string(said.text))
			return errTrialEnded
		}
	}
}

// headBuffer keeps the beginning of what a process prints.
type headBuffer struct{ text []byte }

func (t *headBuffer) Write(text []byte) (int, error) {
	const most = 1 << 10
	t.text = append(t.text, text[:min(len(text), most-min(most, len(t.text)))]...)
	return len(text), nil
}

// trialRequest says what to evaluate: the expressions of a set for some members, or the outputs of
// an object.
type trialRequest struct {
	Set     *v1.StatefulSet   `json:"set"`
	Older   []identity.Source `json:"older,omitempty"`
	Members []int             `json:"members,omitempty"`
	// Template and Object are set for outputs.
	Template string         `json:"template,omitempty"`
	Object   map[string]any `json:"object,omitempty"`
}

// ServeTrial evaluates what a request asks for. It returns an error only for a request that cannot
// be read. The controller reports expressions that cannot be evaluated, or that panic, where it
// uses them.
func ServeTrial(ctx context.Context, in io.Reader) error {
	var request trialRequest
	if err := json.NewDecoder(in).Decode(&request); err != nil || request.Set == nil {
		return fmt.Errorf("reading the evaluation request: %w", errors.Join(err, errors.New("it must name a set")))
	}
	defer func() { _ = recover() }()
	if request.Template == "" {
		evaluateMembers(ctx, identity.EvaluationOf(request.Set, request.Older...), request.Members)
		return nil
	}
	templates, wrong := identity.OverridesOf(request.Set).Objects()
	at := slices.IndexFunc(templates, func(o identity.Object) bool { return o.Template().Name == request.Template })
	if wrong == nil && at >= 0 {
		objects.OutputsFrom(templates[at], &unstructured.Unstructured{Object: request.Object})
	}
	return nil
}

// trialOf evaluates the outputs of an object in a separate process, if an evaluation of its set was
// interrupted.
func (t *term) trialOf(state *setState) objects.Trial {
	return func(ctx context.Context, template identity.Object, live *unstructured.Unstructured) error {
		if !state.wasInterrupted() {
			return nil
		}
		return t.tryOutputs(ctx, state, template, live)
	}
}

func (t *term) tryOutputs(ctx context.Context, state *setState, template identity.Object, live *unstructured.Unstructured) error {
	set, ok := get[*v1.StatefulSet](t.view, setsResource, state.key.Namespace, state.key.Name)
	if !ok || len(template.Template().Outputs) == 0 {
		return nil
	}
	err := t.try(ctx, set, trialRequest{Template: template.Template().Name, Object: live.Object})
	if errors.Is(err, errTrialEnded) {
		state.keepEnded()
	}
	return err
}

// try evaluates the expressions of the set, or the outputs of an object, in a separate process.
func (t *term) try(ctx context.Context, set *v1.StatefulSet, request trialRequest) error {
	if t.config.Trial == nil {
		return nil
	}
	request.Set = set.DeepCopy()
	request.Set.Status, request.Set.ManagedFields = v1.StatefulSetStatus{}, nil
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding the evaluation request: %w", err)
	}
	return t.config.Trial(ctx, text)
}
