//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

func TestRows(t *testing.T) {
	rows, found := readRows(t), newReport(readExplanations(t))
	t.Run("server up", func(t *testing.T) {
		for _, r := range rows {
			if !r.Last {
				t.Run(r.Name, func(t *testing.T) {
					t.Parallel()
					r.compare(t, found)
				})
			}
		}
	})
	t.Run("server down", func(t *testing.T) {
		takeServerDown(t)
		for _, r := range rows {
			if r.Last {
				t.Run(r.Name, func(t *testing.T) { r.compare(t, found) })
			}
		}
	})
	found.print(t, rows)
}

// compare plays a row on all sides, and what it finds goes into the report.
func (r row) compare(t *testing.T, found *report) {
	references := map[string]played{}
	for _, s := range suite.sides {
		if !s.plays(r) {
			continue
		}
		result := play(t, r, s)
		if !s.ours {
			references[s.name] = result
			continue
		}
		found.add(r.Name, s.name, r.verdict(t, s, references[s.reference], result, found))
	}
}

// verdict says in a word how one side has done.
func (r row) verdict(t *testing.T, s side, builtIn, ours played, found *report) string {
	t.Helper()
	if s.plain() && r.Plain == refused {
		if !ours.failed[0] {
			t.Errorf("%s: %s succeeded, though rows.yaml says that plain kubectl refuses it", s.name, r.Steps[0].Run)
			return "FAILED"
		}
		return refused
	}
	differences := r.differences(t, s, builtIn, ours)
	if s.plain() && r.Plain == differs {
		if len(differences) == 0 {
			t.Errorf("%s prints the same as on apps/v1, though rows.yaml says that it differs", s.name)
			return "FAILED"
		}
		return differs
	}
	if unexplained := found.explain(r.Name, s.name, differences); len(unexplained) > 0 {
		t.Errorf("%s: on apps/v1 (-) and on ours (+), not explained in differences.yaml:\n%s", s.name, strings.Join(unexplained, "\n"))
		return "FAILED"
	}
	if len(differences) > 0 {
		return "explained"
	}
	return same
}

// differences returns the lines that differ, by step. A step with an expectation is held to that instead.
func (r row) differences(t *testing.T, s side, builtIn, ours played) []string {
	t.Helper()
	var all []string
	for i, next := range r.Steps {
		switch {
		case next.Compare == "none":
		case next.Expect == "":
			all = append(all, differingLines(builtIn.outputs[i], ours.outputs[i])...)
		case !regexp.MustCompile(next.Expect).MatchString(ours.outputs[i]):
			if s.plain() && r.Plain == differs {
				all = append(all, "+"+ours.outputs[i])
				continue
			}
			t.Errorf("%s: kubectl %s printed\n%s\nwant a match of\n%s", s.name, next.Run, ours.outputs[i], next.Expect)
		}
	}
	return append(all, differingLines(builtIn.audited, ours.audited)...)
}

// takeServerDown makes our API unavailable, by a service that does not exist, until the test has ended.
func takeServerDown(t *testing.T) {
	t.Helper()
	services := suite.Dynamic.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	const name = "v1.apps.statefulset.dev"
	set := func(ctx context.Context, service, available string) error {
		patch := fmt.Sprintf(`{"spec":{"service":{"name":%q}}}`, service)
		if _, err := services.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("changing the APIService: %w", err)
		}
		return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			found, err := services.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, nil //nolint:nilerr // it is asked again.
			}
			conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
			for _, c := range conditions {
				if c, ok := c.(map[string]any); ok && c["type"] == "Available" {
					return c["status"] == available, nil
				}
			}
			return false, nil
		})
	}
	if err := set(t.Context(), "statefulset-apiserver-gone", "False"); err != nil {
		t.Fatalf("taking the server down: %v", err)
	}
	t.Cleanup(func() {
		if err := set(context.Background(), "statefulset-apiserver", "True"); err != nil {
			t.Errorf("bringing the server back: %v", err)
		}
	})
}
