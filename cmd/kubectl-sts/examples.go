// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "k8s.io/kubectl/pkg/util/templates"

// exampleOf returns an example with StatefulSets for a command of kubectl whose own ones are about other kinds.
func exampleOf(command string) (string, bool) {
	example, ok := map[string]string{
		"kubectl sts rollout": `
			# Restart the members of a set, one after the other
			kubectl sts rollout restart statefulset/db

			# Wait until that is done
			kubectl sts rollout status statefulset/db`,
		"kubectl sts rollout status": `
			# Follow the rollout of a set until it is complete
			kubectl sts rollout status statefulset/db

			# Look once, without waiting
			kubectl sts rollout status statefulset/db --watch=false`,
		"kubectl sts rollout promote": `
			# Let the update of a set go on from the step that it is at
			kubectl sts rollout promote statefulset/db

			# Approve the steps up to the second one
			kubectl sts rollout promote statefulset/db --step=2

			# Update all members now
			kubectl sts rollout promote statefulset/db --all`,
		"kubectl sts rollout abort": `
			# Bring the members that an update has reached back to the revision before
			kubectl sts rollout abort statefulset/db`,
		"kubectl sts rollout history": `
			# The revisions of a set
			kubectl sts rollout history statefulset/db

			# The template of one of them
			kubectl sts rollout history statefulset/db --revision=3`,
		"kubectl sts rollout undo": `
			# Go back to the revision before
			kubectl sts rollout undo statefulset/db

			# Go back to revision 3
			kubectl sts rollout undo statefulset/db --to-revision=3

			# Say what would be done
			kubectl sts rollout undo statefulset/db --dry-run=server`,
		"kubectl sts rollout restart": `
			# Restart the members of a set
			kubectl sts rollout restart statefulset/db

			# Restart the members of all sets with a label
			kubectl sts rollout restart statefulset --selector=app=db`,
		"kubectl sts set image": `
			# Change the image of the container "db"
			kubectl sts set image statefulset/db db=postgres:18.1

			# Print the changed set, and change nothing
			kubectl sts set image statefulset/db db=postgres:18.1 --dry-run=client -o yaml`,
		"kubectl sts set env": `
			# Set a variable of all containers
			kubectl sts set env statefulset/db LOG_LEVEL=debug

			# List the variables
			kubectl sts set env statefulset/db --list`,
		"kubectl sts set resources": `
			# Set what the containers request, and their limits
			kubectl sts set resources statefulset/db --requests=cpu=500m,memory=1Gi --limits=memory=2Gi`,
		"kubectl sts set serviceaccount": `
			# Run the members as the service account "db"
			kubectl sts set serviceaccount statefulset/db db`,
		"kubectl sts scale": `
			# Have five members
			kubectl sts scale statefulset/db --replicas=5

			# Have five members, if there are three now
			kubectl sts scale statefulset/db --current-replicas=3 --replicas=5`,
		"kubectl sts autoscale": `
			# Have between three and nine members, for a CPU use of 80%
			kubectl sts autoscale statefulset/db --min=3 --max=9 --cpu=80%`,
		"kubectl sts get": `
			# The sets of the namespace, with their images
			kubectl sts get statefulsets -o wide

			# Follow a set as it changes
			kubectl sts get statefulset db --watch

			# The sets of apps/v1
			kubectl sts get statefulsets.v1.apps`,
		"kubectl sts describe": `
			# Conditions, members, template and events of a set
			kubectl sts describe statefulset db

			# All sets whose name begins with "db"
			kubectl sts describe statefulset db`,
		"kubectl sts events": `
			# The events of a set
			kubectl sts events --for=statefulset/db`,
		"kubectl sts logs": `
			# The log of one member
			kubectl sts logs statefulset/db

			# The logs of all members, as they grow
			kubectl sts logs statefulset/db --all-pods --follow`,
		"kubectl sts explain": `
			# What a field means
			kubectl sts explain statefulset.spec.updateStrategy`,
		"kubectl sts exec": `
			# Open a shell in a member
			kubectl sts exec -it statefulset/db -- sh

			# Run a command in a member of your choice
			kubectl sts exec db-2 -- df -h /data`,
		"kubectl sts attach": `
			# Attach to the running process of a member
			kubectl sts attach -it statefulset/db`,
		"kubectl sts port-forward": `
			# Reach port 5432 of a member on this machine
			kubectl sts port-forward statefulset/db 5432

			# Reach a member of your choice
			kubectl sts port-forward pod/db-2 5432`,
		"kubectl sts debug": `
			# Run a debugging container in a member
			kubectl sts debug -it db-0 --image=busybox --target=db`,
		"kubectl sts replace": `
			# Replace a set by the one in a file
			kubectl sts replace -f db.yaml

			# Have a member recreated, with its claims, and wait until it is back
			kubectl sts replace db-2 --wait

			# Have a member recreated with new, empty claims
			kubectl sts replace db-2 --new-claims

			# Give up the member of a node that is off for good, with its data
			kubectl taint node node-b node.kubernetes.io/out-of-service=nodeshutdown:NoExecute
			kubectl sts replace db-2 --lost-node=node-b --new-claims`,
		"kubectl sts edit": `
			# Edit a set
			kubectl sts edit statefulset/db`,
		"kubectl sts wait": `
			# Wait until a set is ready
			kubectl sts wait --for=condition=Ready statefulset/db --timeout=5m`,
		"kubectl sts delete": `
			# Delete a set and its members
			kubectl sts delete statefulset/db

			# Delete a set, and leave its members running
			kubectl sts delete statefulset/db --cascade=orphan

			# Remove the members of a set in order, and delete it then
			kubectl sts delete --ordered db`,
	}[command]
	return templates.Examples(example), ok
}
