// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// most is how many sets a message lists.
const most = 10

// checkBlockers returns why nothing must be changed yet.
func (r *run) checkBlockers(s situation) error {
	switch {
	case s.unanswered != nil && !r.withoutServer:
		return fmt.Errorf("nothing was changed, because the server does not report which sets exist: %w\n"+
			"Bring the server back and run this again. To find out why it does not serve:\n  kubectl sts doctor\n"+
			"If you cannot bring it back, and nothing in the cluster belongs to a set (now %s do):\n  kubectl sts uninstall --without-server",
			s.unanswered, s.owned)
	case (s.unanswered != nil || !s.registered) && !s.owned.none():
		return fmt.Errorf(
			"nothing was changed: %s belong to sets, and the server does not serve these sets. Without the server nothing can release these objects, "+
				"and a later registration would endanger them.\nBring the server back (docs/backup.md), and run this again:\n  kubectl apply -k artifacts/base\n  kubectl sts doctor", s.owned)
	case len(s.sets) > 0 && !r.deleteSets && !r.orphanMembers:
		return errors.New("nothing was changed, because there are sets:\n" + list(s.sets) +
			"Choose one:\n  kubectl sts uninstall --delete-sets     # delete them with their pods\n" +
			"  kubectl sts uninstall --orphan-members  # keep their pods running without an owner")
	case len(protected(s.sets)) > 0:
		return fmt.Errorf("nothing was changed, because there are sets that must not be deleted:\n  %s", strings.Join(protected(s.sets), "\n  "))
	case r.orphanMembers && leaving(s.sets) != "":
		return fmt.Errorf("nothing was changed: set %s is already being deleted with its members, so --orphan-members cannot keep them",
			leaving(s.sets))
	}
	return nil
}

// leaving returns a set that is already being deleted with its members.
func leaving(sets []metav1.PartialObjectMetadata) string {
	for i := range sets {
		if sets[i].DeletionTimestamp != nil && !slices.Contains(sets[i].Finalizers, metav1.FinalizerOrphanDependents) {
			return sets[i].Namespace + "/" + sets[i].Name
		}
	}
	return ""
}

// protected returns why the server would refuse to delete sets. The command checks this before it
// deletes anything, because otherwise it would delete the sets before a protected one.
func protected(sets []metav1.PartialObjectMetadata) []string {
	var texts []string
	for i := range sets {
		if _, protected := v1.Protected(&sets[i]); protected {
			texts = append(texts, v1.ExplainProtection(&sets[i]))
		}
	}
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("and %d more", more))
	}
	return texts
}

// list counts sets by namespace, and names the first sets.
func list(sets []metav1.PartialObjectMetadata) string {
	counts, names := map[string]int{}, map[string][]string{}
	sets = slices.Clone(sets)
	slices.SortFunc(sets, func(a, b metav1.PartialObjectMetadata) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range sets {
		counts[sets[i].Namespace]++
		if i < most {
			names[sets[i].Namespace] = append(names[sets[i].Namespace], sets[i].Name)
		}
	}
	var out strings.Builder
	namespaces := slices.Sorted(maps.Keys(counts))
	for i, namespace := range namespaces {
		if i == most {
			fmt.Fprintf(&out, "  and more in %d other namespaces\n", len(namespaces)-most)
			break
		}
		fmt.Fprintf(&out, "  namespace %s: %d", namespace, counts[namespace])
		if shown := names[namespace]; len(shown) > 0 {
			fmt.Fprintf(&out, " (%s", strings.Join(shown, ", "))
			if len(shown) < counts[namespace] {
				out.WriteString(", ...")
			}
			out.WriteString(")")
		}
		out.WriteString("\n")
	}
	return out.String()
}
