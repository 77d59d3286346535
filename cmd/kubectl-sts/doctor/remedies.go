// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
)

// remedies returns the commands that show more about a reason, or fix the problem.
func remedies(set *v1.StatefulSet, reason string) []string { //nolint:gocyclo // one case a reason
	kubectl := "kubectl -n " + set.Namespace
	tree := fmt.Sprintf("kubectl sts -n %s tree %s", set.Namespace, set.Name)
	events := fmt.Sprintf("%s events --for=statefulset.%s/%s", kubectl, v1.GroupName, set.Name)
	edit := fmt.Sprintf("%s edit statefulset.%s/%s", kubectl, v1.GroupName, set.Name)
	switch reason {
	case v1.ReasonHeld:
		return []string{fmt.Sprintf("%s annotate statefulset.%s/%s %s-  # release it", kubectl, v1.GroupName, set.Name, v1.HoldAnnotation)}
	case v1.ReasonHostRefused:
		return []string{events, kubectl + " get resourcequota,limitrange",
			"# the cluster refuses the request in the message: change what it names, or the set; the controller retries"}
	case v1.ReasonMissingRight:
		return []string{"# grant the controller the right in the message, or change the set", edit}
	case v1.ReasonHostUnavailable:
		return []string{"kubectl get --raw '/readyz?verbose'", events}
	case v1.ReasonInvalidSelector:
		return []string{edit}
	case v1.ReasonNameTaken:
		return []string{
			kubectl + " get pods --show-labels", "# the pod in the message does not belong to the set: delete it, or give it the labels of the set"}
	case v1.ReasonRenderFailed:
		return []string{
			edit, fmt.Sprintf("kubectl sts -n %s rollout undo statefulset/%s  # back to the previous revision", set.Namespace, set.Name)}
	case v1.ReasonEvaluationStopped:
		return []string{edit + "  # change the fields in the message",
			fmt.Sprintf("kubectl sts -n %s evaluate %s  # evaluate them once more", set.Namespace, set.Name)}
	case v1.ReasonKindUnavailable:
		return []string{"kubectl api-resources", fmt.Sprintf("kubectl get clusterroles -l %s/aggregate-to-controller=true", v1.GroupName),
			"# the controller needs rights for the kind in the message, and the cluster must serve the kind",
			kubectl + " get rolebinding statefulset-controller-objects  # if the server has --object-namespaces, each namespace in it needs this binding"}
	case v1.ReasonObjectShared, v1.ReasonObjectExists:
		return []string{tree, edit, "# the object in the message does not belong to the set: delete it, or rename the object of the set"}
	case v1.ReasonGeneratedSecretMissing:
		return []string{
			tree, kubectl + " get secrets",
			"# the Secret in the message is not generated again, because existing data may depend on it: restore it from a backup, or create it with the keys in the message"}
	case v1.ReasonClaimShared:
		return []string{kubectl + " get persistentvolumeclaims", tree}
	case v1.ReasonClaimsNotMounted:
		return []string{kubectl + " get persistentvolumeclaims", tree,
			"kubectl get mutatingwebhookconfigurations  # and mutatingadmissionpolicies: which of them change pods of this namespace?"}
	case v1.ReasonRevisionUnreadable:
		return []string{kubectl + " get controllerrevisions"}
	case v1.ReasonProgressDeadlineExceeded:
		return []string{
			tree, events, fmt.Sprintf("kubectl sts -n %s rollout undo statefulset/%s  # back to the previous revision", set.Namespace, set.Name)}
	default:
		return []string{tree, events}
	}
}
