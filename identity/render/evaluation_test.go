// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// askedContext ends when it has been asked so often whether it has ended.
type askedContext struct {
	context.Context //nolint:containedctx // it is one

	left atomic.Int64
}

func (c *askedContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestAnEvaluationEndsWithItsContext(t *testing.T) {
	of := transforming(`string(lists.range(300).map(i, lists.range(9).map(j, i * j)).size())`, nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	soon := &askedContext{Context: t.Context()}
	soon.left.Store(500)
	for sentence, ctx := range map[string]context.Context{"that has ended before": ended, "that ends meanwhile": soon} {
		t.Run("one "+sentence, func(t *testing.T) {
			of.Evaluation = Within(ctx)
			value, wrong := rendering(of)
			if wrong == nil || !wrong.Stopped || value != "" {
				t.Errorf("got %q, error %+v, want an evaluation that was stopped", value, wrong)
			}
			if !of.Evaluation.Ended() {
				t.Error("the evaluation has not ended, want that it has")
			}
		})
	}
	of.Evaluation = nil
	if value, wrong := rendering(of); wrong != nil || value != "300" {
		t.Errorf("without an end: got %q, error %v, want 300", value, wrong)
	}
}

func TestFourExpressionsAreEvaluatedAtATime(t *testing.T) {
	if n := cap(evaluating); n != 4 {
		t.Fatalf("%d expressions are evaluated at a time, want 4", n)
	}
	for range cap(evaluating) {
		evaluating <- struct{}{}
	}
	of := transforming(`IDENTITY`, nil)
	waits, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	of.Evaluation = Within(waits)
	if value, wrong := rendering(of); wrong == nil || !wrong.Stopped {
		t.Errorf("beside four others: got %q, error %v, want an evaluation that was stopped", value, wrong)
	}
	of.Evaluation = nil
	r, done := New(of), make(chan string)
	go func() {
		pod, wrong := r.Pod(&corev1.PodTemplateSpec{}, Member{})
		if wrong != nil {
			done <- wrong.Error()
			return
		}
		done <- pod.Annotations["x"]
	}()
	<-evaluating
	if got := <-done; got != "db-0" {
		t.Errorf("after one of them: got %q, want db-0", got)
	}
	for range cap(evaluating) - 1 {
		<-evaluating
	}
}
