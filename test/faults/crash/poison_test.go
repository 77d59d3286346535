// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The evaluation of a set with the value POISON=yes ends the process, wherever it is evaluated: in the
// server, and in the process in which the server tries it. Admission does not get there.
const (
	evaluates = "func (e Evaluation) Run(within *render.Evaluation, ordinals []int) {\n"
	poisoned  = "\tif e.set.Spec.Identity != nil && e.set.Spec.Identity.Values[\"POISON\"] == \"yes\" {\n\t\tos.Exit(2)\n\t}\n"
)

// TestTheEvaluationCanBePoisoned needs no cluster, so that each change of the source shows whether the
// suite can still be played.
func TestTheEvaluationCanBePoisoned(t *testing.T) { poisonedEvaluation(t) }

// poisonedEvaluation is the source that is built in the place of another one, and the root of the tree.
func poisonedEvaluation(t *testing.T) (root, original, changed string) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	original = filepath.Join(root, "identity", "evaluation.go")
	content, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	if count := strings.Count(string(content), evaluates); count != 1 {
		t.Fatalf("%s has the text to replace %d times, want once:\n%s", original, count, evaluates)
	}
	return root, original,
		strings.Replace(strings.Replace(string(content), evaluates, evaluates+poisoned, 1), "import (\n", "import (\n\t\"os\"\n", 1)
}
