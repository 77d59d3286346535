// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"
)

// optional is a role that an operator can omit.
type optional struct {
	// value is the value of the chart, and folder the folder of the manifests below artifacts/rights.
	value, folder string
	rights        []optionalRight
	// verdict makes a finding about the missing rights.
	verdict func(about, says string, fix ...string) finding
}

// optionalRight is one right of such a role, and the effect of its absence.
type optionalRight struct {
	right
	lost string
}

// optionalRoles returns the roles of artifacts/rights. Sets that need one of the first three report
// that themselves, with the reason MissingRight.
func optionalRoles() []optional {
	const retried = "a request that was refused because of such an object is retried only after a delay"
	noted := func(about, says string, _ ...string) finding { return infoFinding(about, says) }
	listed := []string{"list", "watch"}
	return []optional{
		{"rights.gates", "gates", []optionalRight{
			{right{resource: "pods/status", verbs: []string{"patch"}}, "sets with spec.disruption.gates report MissingRight"},
		}, noted},
		{"rights.inPlace", "in-place", []optionalRight{
			{right{resource: "pods/status", verbs: []string{"patch"}}, "sets with drainSeconds report MissingRight"},
			{right{resource: "pods/resize", verbs: []string{"patch"}}, "sets that change resources in place report MissingRight"},
		}, noted},
		{"rights.eviction", "eviction", []optionalRight{
			{right{resource: "pods/eviction", verbs: []string{"create"}}, "sets with spec.disruption.method: Evict report MissingRight"},
		}, noted},
		{"rights.reads", "reads", []optionalRight{
			{right{resource: "services", verbs: listed}, "sets get no warning about their serviceName"},
			{right{group: "storage.k8s.io", resource: "storageclasses", verbs: []string{"get", "list", "watch"}},
				"sets get no warning about a StorageClass that does not exist"},
			{right{resource: "limitranges", verbs: listed}, retried},
			{right{resource: "serviceaccounts", verbs: listed}, retried},
			{right{group: "policy", resource: "poddisruptionbudgets", verbs: listed},
				"an eviction that a PodDisruptionBudget blocked is retried only after a delay"},
			{right{group: "scheduling.k8s.io", resource: "priorityclasses", verbs: listed}, retried},
			{right{group: "node.k8s.io", resource: "runtimeclasses", verbs: listed}, retried},
		}, warnFinding},
	}
}

// optionalRights returns findings about roles that the server lacks, at least in part.
func (e *examiner) optionalRights(ctx context.Context) (found []finding) {
	for _, role := range optionalRoles() {
		about := "optional rights " + role.value
		var missing, lost []string
		for _, needed := range role.rights {
			lacking, err := e.missingRights(ctx, []right{needed.right})
			if err != nil {
				return append(found, skipFinding(about, err))
			}
			if len(lacking) == 0 {
				continue
			}
			missing = append(missing, lacking...)
			if len(lost) == 0 || lost[len(lost)-1] != needed.lost {
				lost = append(lost, needed.lost)
			}
		}
		if len(missing) > 0 {
			found = append(found,
				role.verdict(about, fmt.Sprintf("the server is not allowed to %s: %s", strings.Join(missing, ", "), strings.Join(lost, "; ")),
					fmt.Sprintf("kubectl apply -k artifacts/rights/%s  # or %s=true with Helm", role.folder, role.value)))
		}
	}
	return found
}
