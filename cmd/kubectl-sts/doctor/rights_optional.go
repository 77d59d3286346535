// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"
)

// optional is a role that an operator may leave out.
type optional struct {
	// value is the one of the chart, and folder that of the manifests below artifacts/rights.
	value, folder string
	rights        []optionalRight
	// verdict makes a finding of what is lost.
	verdict func(about, says string, fix ...string) finding
}

// optionalRight is one right of such a role, and what does not work without it.
type optionalRight struct {
	right
	lost string
}

// optionalRoles are those of artifacts/rights. Sets that need one of the first three say so themselves,
// with the condition MissingRight.
func optionalRoles() []optional {
	const retried = "what was refused because of one is tried again only after a while"
	noted := func(about, says string, _ ...string) finding { return isNoted(about, says) }
	listed := []string{"list", "watch"}
	return []optional{
		{"rights.gates", "gates", []optionalRight{
			{right{resource: "pods/status", verbs: []string{"patch"}}, "sets with spec.disruption.gates say MissingRight"},
		}, noted},
		{"rights.inPlace", "in-place", []optionalRight{
			{right{resource: "pods/status", verbs: []string{"patch"}}, "sets with drainSeconds say MissingRight"},
			{right{resource: "pods/resize", verbs: []string{"patch"}}, "sets that change resources in place say MissingRight"},
		}, noted},
		{"rights.eviction", "eviction", []optionalRight{
			{right{resource: "pods/eviction", verbs: []string{"create"}}, "sets with spec.disruption.method: Evict say MissingRight"},
		}, noted},
		{"rights.reads", "reads", []optionalRight{
			{right{resource: "services", verbs: listed}, "sets get no warning about their serviceName"},
			{right{group: "storage.k8s.io", resource: "storageclasses", verbs: []string{"get", "list", "watch"}},
				"sets get no warning about a StorageClass that does not exist"},
			{right{resource: "limitranges", verbs: listed}, retried},
			{right{resource: "serviceaccounts", verbs: listed}, retried},
			{right{group: "policy", resource: "poddisruptionbudgets", verbs: listed},
				"an eviction that a budget blocked is tried again only after a while"},
			{right{group: "scheduling.k8s.io", resource: "priorityclasses", verbs: listed}, retried},
			{right{group: "node.k8s.io", resource: "runtimeclasses", verbs: listed}, retried},
		}, isDoubtful},
	}
}

// optionalRights are findings about roles that are missing, or of which a part is.
func (e *examiner) optionalRights(ctx context.Context) (found []finding) {
	for _, role := range optionalRoles() {
		about := "optional rights " + role.value
		var missing, lost []string
		for _, needed := range role.rights {
			lacking, err := e.missingRights(ctx, []right{needed.right})
			if err != nil {
				return append(found, isUnknown(about, err))
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
				role.verdict(about, fmt.Sprintf("the server may not %s: %s", strings.Join(missing, ", "), strings.Join(lost, "; ")),
					fmt.Sprintf("kubectl apply -k artifacts/rights/%s  # or %s=true with Helm", role.folder, role.value)))
		}
	}
	return found
}
