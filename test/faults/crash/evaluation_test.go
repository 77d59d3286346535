//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/harness/lab"
)

// TestASetThatEndsItsServerIsSetAside has the real server end by a set: the next server serves, and leaves
// the set as it is until somebody changes or releases it.
func TestASetThatEndsItsServerIsSetAside(t *testing.T) {
	b := openBench(t)
	program := b.controller(t, ours, b.server.Name, b.URL(lab.HostAPI), b.etcd.URL)
	program.Exe = poisonedServer(t)
	server := b.Start(t, program)
	b.warmUp(t)
	plain := scenarios.All()[0].Set
	runs := b.newRuns(t, ours, []scenarios.Scenario{{Name: "poison", Set: plain}, {Name: "innocent", Set: plain}})
	poison, innocent := runs[0], runs[1]
	for _, r := range runs {
		if err := r.create(t.Context(), "0"); err != nil {
			t.Fatal(err)
		}
		r.change(t, `{"spec":{"identity":{"values":{"POISON":"no"},"transforms":[{"path":"/metadata/annotations/poison","expression":"POISON + string(ORDINAL)"}]}}}`)
		r.eventually(t, "the set is ready", func(o scenarios.Observed) bool { return isReadyAt(o.Set) })
	}
	before := podUIDs(poison.observed())

	poison.change(t, `{"spec":{"identity":{"values":{"POISON":"yes"}}}}`)
	select {
	case <-server.Exited():
	case <-time.After(patience):
		t.Fatal("the server still runs, want that the set has ended it")
	}
	server = b.Start(t, program)
	poison.eventually(t, "the set is set aside", func(o scenarios.Observed) bool { return o.Set.Status.Evaluation.IsStopped() })
	set := poison.observed().Set
	stalled := set.Status.Condition(v1.StatefulSetStalled)
	for _, want := range []string{"spec.identity.transforms", set.Status.Evaluation.Inputs, "kubectl sts evaluate web"} {
		if stalled.Reason != v1.ReasonEvaluationStopped || !strings.Contains(stalled.Message, want) {
			t.Errorf("got Stalled with the reason %s: %s; want %s, and that it names %s", stalled.Reason, stalled.Message,
				v1.ReasonEvaluationStopped, want)
		}
	}
	if after := podUIDs(poison.observed()); after != before || set.Status.Evaluation.Deaths != 2 {
		t.Errorf("got the pods %s after %d deaths, want those from before, %s, after 2", after, set.Status.Evaluation.Deaths, before)
	}

	innocent.change(t, `{"spec":{"replicas":5}}`)
	innocent.eventually(t, "the other set grows", func(o scenarios.Observed) bool { return isReadyAt(o.Set) && len(o.Pods) == 5 })

	stop := set.Status.Evaluation.Release()
	poison.change(t, `{"metadata":{"annotations":{"`+v1.EvaluateAnnotation+`":"`+stop+`"}}}`)
	poison.eventually(t, "the released set is set aside again", func(o scenarios.Observed) bool {
		mark := o.Set.Status.Evaluation
		return mark.IsStopped() && mark.Release() != stop && mark.Deaths == 3
	})
	poison.change(t, `{"spec":{"identity":{"values":{"POISON":"no more"}}}}`)
	poison.eventually(t, "the set is released by another value",
		func(o scenarios.Observed) bool { return isReadyAt(o.Set) && o.Set.Status.Evaluation == nil })
	poison.change(t, `{"spec":{"identity":{"values":{"POISON":"yes"}}}}`)
	select {
	case <-server.Exited():
	case <-time.After(patience):
		t.Fatal("the server still runs, want that the set has ended it once more")
	}
	server = b.Start(t, program)
	poison.eventually(t, "the set is set aside", func(o scenarios.Observed) bool { return o.Set.Status.Evaluation.IsStopped() })
	if err := poison.remove(t.Context(), metav1.DeletePropagationBackground); err != nil {
		t.Errorf("deleting the set: %v", err)
	}
	poison.eventually(t, "the set and its pods are deleted", func(o scenarios.Observed) bool { return o.Set == nil && len(o.Pods) == 0 })
	select {
	case <-server.Exited():
		t.Error("the last server has ended, want that it runs")
	default:
	}
}

// poisonedServer builds the server with an evaluation that ends the process.
func poisonedServer(t *testing.T) string {
	t.Helper()
	root, original, changed := poisonedEvaluation(t)
	dir := t.TempDir()
	file, overlay, program := filepath.Join(dir, "evaluation.go"), filepath.Join(dir, "overlay.json"),
		filepath.Join(dir, "statefulset-apiserver")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{file: changed, overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", program, "./cmd/statefulset-apiserver")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, output)
	}
	return program
}

// change patches the set, also while the server starts.
func (r *run) change(t *testing.T, patch string) {
	t.Helper()
	err := repeat(t.Context(), func() error {
		_, err := r.client.Patch(t.Context(), setName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if apierrors.IsInvalid(err) {
			t.Fatalf("changing the set: %v", err)
		}
		return err
	})
	if err != nil {
		t.Fatalf("changing the set: %v", err)
	}
}

// eventually waits until the run is as it is to be.
func (r *run) eventually(t *testing.T, what string, is func(scenarios.Observed) bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		woken := r.wait()
		o := r.observed()
		if o.Set != nil && is(o) || o.Set == nil && strings.HasSuffix(what, "deleted") && is(o) {
			return
		}
		select {
		case <-woken:
		case <-deadline:
			t.Fatalf("waited %s until %s; it has %d pods, and the status %+v", patience, what, len(o.Pods), o.Set.Status)
		}
	}
}

func isReadyAt(set *v1.StatefulSet) bool {
	return set.Status.ObservedGeneration == set.Generation && set.Status.Condition(v1.StatefulSetReady).Status == corev1.ConditionTrue
}

// podUIDs are the pods, in the order of their names.
func podUIDs(o scenarios.Observed) string {
	all := map[string]types.UID{}
	for i := range o.Pods {
		all[o.Pods[i].Name] = o.Pods[i].UID
	}
	text, _ := json.Marshal(all)
	return string(text)
}
