//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// misreadings are the versions of sets, since the log had the given length, that a
// generic reader, such as Helm or Flux, calls otherwise than it should.
func (s *side) misreadings(since int) []difference {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []difference
	for i, c := range s.log {
		if i < since || c.kind != sets || c.verb == gone {
			continue
		}
		got := "nothing"
		if result, err := status.Compute(c.object); err == nil {
			got = string(result.Status)
		}
		if want := wordFor(c.object); !strings.Contains(want, got) {
			all = append(all, difference{what: "word for set " + c.name, builtin: want, ours: fmt.Sprintf("%s in version %d", got, c.version)})
		}
	}
	return all
}

// wordFor is what a generic reader should call a set. It is Current only if its counters
// are those of its spec, whatever its conditions say. Where a counter cannot tell a pod
// that is about to go from one that stays, either word will do.
func wordFor(set *unstructured.Unstructured) string {
	number := func(fields ...string) int64 {
		n, _, _ := unstructured.NestedInt64(set.Object, fields...)
		return n
	}
	status, _, _ := unstructured.NestedMap(set.Object, "status")
	stalled, _ := conditionsOf(status)["Stalled"].(map[string]any)
	replicas, updated := number("spec", "replicas"), number("status", "updatedReplicas")
	mayKeep := min(number("spec", "updateStrategy", "rollingUpdate", "partition"), replicas)
	if kind, _, _ := unstructured.NestedString(set.Object, "spec", "updateStrategy", "type"); kind == "OnDelete" {
		mayKeep = replicas
	}
	there := number("status", "replicas") == replicas && number("status", "availableReplicas") == replicas
	switch {
	case set.GetDeletionTimestamp() != nil:
		return "Terminating"
	case number("status", "observedGeneration") != set.GetGeneration():
		return "InProgress"
	case stalled["status"] == "True":
		return "Failed"
	case there && updated == replicas:
		return "Current"
	case there && updated >= replicas-mayKeep:
		return "Current or InProgress"
	default:
		return "InProgress"
	}
}
