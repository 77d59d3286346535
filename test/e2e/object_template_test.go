//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "statefulset.dev/api/apps/v1"
)

// TestLifeOfTheExampleWithAConfigurationInTurn exchanges the template of the example for another one in one
// write, as who changes a configuration that pods mount does; and removes that, although the pods need it,
// and puts it back. It is not parallel, because it gives the controller rights, and takes them away again.
//
//nolint:paralleltest // see above
func TestLifeOfTheExampleWithAConfigurationInTurn(t *testing.T) {
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/configuration.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	takeRightsAwayAgain(t, "configmaps")
	mayMake(t, "configmaps", true)
	mayDelete(t, "configmaps", true)
	first := strings.ReplaceAll(string(content), "conf-v2", "conf-v1")
	kubectlApply(t, first, "-n", ns)
	waitReady(t, ns, "db", 2)
	expectNames(t, ns, "ConfigMap db-0-conf-v1", "ConfigMap db-1-conf-v1")

	const goes = "delete ConfigMap db-1-conf-v1 (template conf-v1 removed, not needed since "
	if said, err := planCommand(t, ns, string(content), "-f", "-"); err != nil || !strings.Contains(said, goes) {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, goes)
	}
	const warning = `template "conf-v1" (ConfigMap $(IDENTITY)-conf-v1) is removed, and its objects are deleted 1s after no pod can use them any more; to keep them, add the template again`
	if _, said, err := suite.Kubectl(t.Context(), string(content), "apply", "-f", "-", "-n", ns); err != nil ||
		!strings.Contains(said, warning) {
		t.Fatalf("applying the example with the next configuration: got %v, %s, want a warning with %q", err, said, warning)
	}
	waitStatus(t, ns, "the old configuration is gone", func(set *v1.StatefulSet) string {
		if all := set.Status.ObjectTemplates; len(all) != 1 || all[0].RemovedAt != nil || set.Status.UpdatedReplicas != 2 ||
			set.Status.CurrentRevision != set.Status.UpdateRevision {
			return fmt.Sprintf("status says %+v", set.Status)
		}
		return ""
	})
	expectNames(t, ns, "ConfigMap db-0-conf-v2", "ConfigMap db-1-conf-v2")
	waitReady(t, ns, "db", 2)

	before := objectUIDs(t, ns)
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p", `[{"op":"remove","path":"/spec/objectTemplates"}]`)
	const kept = "ConfigMap db-0-conf-v2 is kept as long as spec.template names $(IDENTITY)-conf-v2"
	waitStatus(t, ns, "the objects that the pods mount are kept", func(set *v1.StatefulSet) string {
		if all := set.Status.ObjectTemplates; len(all) != 1 || all[0].RemovedAt == nil || all[0].Message != kept || all[0].Present != 2 {
			return fmt.Sprintf("status says %+v", set.Status)
		}
		return ""
	})
	if tree := plugin(t, "tree", "db", "-n", ns); !strings.Contains(tree, "conf-v2  ConfigMap $(IDENTITY)-conf-v2, template removed at ") ||
		!strings.Contains(tree, "ConfigMap db-0-conf-v2 is kept as long as spec.template names ") {
		t.Errorf("the tree says nothing of what is kept:\n%s", tree)
	}
	kubectlApply(t, string(content), "-n", ns)
	waitStatus(t, ns, "the template is back", func(set *v1.StatefulSet) string {
		if all := set.Status.ObjectTemplates; len(all) != 1 || all[0].RemovedAt != nil || all[0].Updated != 2 {
			return fmt.Sprintf("status says %+v", set.Status)
		}
		return ""
	})
	expectObjects(t, ns, before)
}

func expectNames(t *testing.T, ns string, want ...string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(objectUIDs(t, ns))); !slices.Equal(got, want) {
		t.Errorf("the objects are %v, want %v", got, want)
	}
}
