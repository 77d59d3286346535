// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestATrialTellsAnEndFromAFailure(t *testing.T) {
	for sentence, test := range map[string]struct {
		script string
		ended  bool
		err    string
	}{
		"a process that comes to its end":       {script: "cat > /dev/null; exit 0"},
		"one that runs out of memory, as in Go": {script: "cat > /dev/null; exit 2", ended: true},
		"one that is killed":                    {script: "cat > /dev/null; kill -9 $$", ended: true},
		"one that ends without reading":         {script: "exit 1", ended: true},
		"one that cannot read the request":      {script: "echo no JSON >&2; exit 3", err: "no JSON"},
	} {
		t.Run(sentence, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+test.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			err := NewTrial(program)(t.Context(), []byte(strings.Repeat("x", 1<<20)))
			if errors.Is(err, errTrialEnded) != test.ended || (err == nil) != (!test.ended && test.err == "") ||
				test.err != "" && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want that it ended: %t, error %q", err, test.ended, test.err)
			}
		})
	}
	if err := NewTrial(filepath.Join(t.TempDir(), "none"))(t.Context(), nil); err == nil || errors.Is(err, errTrialEnded) {
		t.Errorf("a program that cannot be started: got error %v, want one that is no end", err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := NewTrial("/bin/cat")(over, nil); !errors.Is(err, context.Canceled) || errors.Is(err, errTrialEnded) {
		t.Errorf("a term that is over: got error %v, want that, and no end", err)
	}
}

func TestWhatIsTriedIsEvaluated(t *testing.T) {
	set := evaluatingSet()
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "conf", Outputs: []v1.ObjectOutput{{Name: "A", Expression: "object.data.a"}}}}
	set.Spec.ObjectTemplates[0].Object.Raw = []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)"}}`)
	for sentence, request := range map[string]trialRequest{
		"members":                {Set: set, Members: []int{0, 7}},
		"outputs":                {Set: set, Template: "conf", Object: map[string]any{"data": map[string]any{"a": "b"}}},
		"an unknown template":    {Set: set, Template: "other"},
		"a set without a reason": {Set: &v1.StatefulSet{}, Members: []int{0}},
	} {
		text, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := ServeTrial(t.Context(), strings.NewReader(string(text))); err != nil {
			t.Errorf("%s: got error %v, want none", sentence, err)
		}
	}
	for _, text := range []string{"", "{", "{}"} {
		if err := ServeTrial(t.Context(), strings.NewReader(text)); err == nil {
			t.Errorf("%q: got no error, want one", text)
		}
	}
}

func TestOutputsOfASuspectedSetAreTriedFirst(t *testing.T) {
	term, host, set := newOutputTerm(t, 1)
	give(t, host, set, 0, "10.0.0.1")
	known := term.states.getOrCreate(cache.MetaObjectToName(set))
	known.keepEvaluated(set, identity.EvaluationOf(set).Inputs, nil)
	known.recordInterrupted(true)
	term.recorder = record.NewFakeRecorder(10)
	var tried []string
	ended := errTrialEnded
	term.config.Trial = func(_ context.Context, request []byte) error {
		var asked trialRequest
		if err := json.Unmarshal(request, &asked); err != nil {
			t.Error(err)
		}
		tried = append(tried, asked.Template)
		return ended
	}
	if p, _ := look(t, term, host); len(p.All()) > 0 || p.Status.Condition(v1.StatefulSetStalled).Reason != v1.ReasonEvaluationStopped ||
		len(tried) != 1 || tried[0] != "conf" {
		t.Errorf("after trials of %q that ended: got the plan %v, stalled for %q, want a trial of conf, no plan and %s",
			tried, p.All(), p.Status.Condition(v1.StatefulSetStalled).Reason, v1.ReasonEvaluationStopped)
	}
	ended = nil
	if p, _ := look(t, term, host); len(given(p)) != 1 {
		t.Errorf("after a trial that ended well: got the pods %q, want one", given(p))
	}
}

func TestASetIsMarkedBeforeItsOutputsAreReadFirst(t *testing.T) {
	term, host, set := newOutputTerm(t, 1)
	known := term.states.getOrCreate(cache.MetaObjectToName(set))
	for _, want := range []bool{true, false} {
		world := term.eventually(t, "objects are known", isKnown)
		e := &evaluation{term: term, state: known, set: world.Set}
		if _, err := term.decide(t.Context(), known, e, world); err != nil {
			t.Fatal(err)
		}
		if marked := e.set.Status.Evaluation != nil; marked != want {
			t.Errorf("got a mark: %t, want %t", marked, want)
		}
		give(t, host, set, 0, "10.0.0.1")
		term.eventually(t, "the change is seen", func(w plan.World) bool {
			return isKnown(w) && w.Objects[confOf(0)].ResourceVersion == fmt.Sprint(host.version)
		})
	}
}
