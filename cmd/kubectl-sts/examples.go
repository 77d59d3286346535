// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "k8s.io/kubectl/pkg/util/templates"

// exampleOf returns an example with StatefulSets for a command whose examples in kubectl are about
// other kinds.
func exampleOf(command string) (string, bool) {
	example, ok := map[string]string{
		"kubectl sts rollout": `
			# Restart the members of a set, one after the other
			kubectl sts rollout restart statefulset/db

			# Wait until the restart is complete
			kubectl sts rollout status statefulset/db`,
		"kubectl sts rollout status": `
			# Follow the rollout of a set until it is complete
			kubectl sts rollout status statefulset/db

			# Print the status once, without waiting
			kubectl sts rollout status statefulset/db --watch=false`,
		"kubectl sts rollout promote": `
			# Approve the current step of an update
			kubectl sts rollout promote statefulset/db

			# Approve the steps up to the second one
			kubectl sts rollout promote statefulset/db --step=2

			# Update all members now
			kubectl sts rollout promote statefulset/db --all`,
		"kubectl sts rollout abort": `
			# Return the members that an update has reached to the current revision
			kubectl sts rollout abort statefulset/db`,
		"kubectl sts rollout history": `
			# List the revisions of a set
			kubectl sts rollout history statefulset/db

			# Show the template of one revision
			kubectl sts rollout history statefulset/db --revision=3`,
		"kubectl sts rollout undo": `
			# Go back to the previous revision
			kubectl sts rollout undo statefulset/db

			# Go back to revision 3
			kubectl sts rollout undo statefulset/db --to-revision=3

			# Show what would change
			kubectl sts rollout undo statefulset/db --dry-run=server`,
		"kubectl sts rollout restart": `
			# Restart the members of a set
			kubectl sts rollout restart statefulset/db

			# Restart the members of all sets with a label
			kubectl sts rollout restart statefulset --selector=app=db`,
		"kubectl sts set image": `
			# Change the image of the container "db"
			kubectl sts set image statefulset/db db=postgres:18.1

			# Print the changed set without changing it in the cluster
			kubectl sts set image statefulset/db db=postgres:18.1 --dry-run=client -o yaml`,
		"kubectl sts set env": `
			# Set a variable of all containers
			kubectl sts set env statefulset/db LOG_LEVEL=debug

			# List the variables
			kubectl sts set env statefulset/db --list`,
		"kubectl sts set resources": `
			# Set the requests and limits of the containers
			kubectl sts set resources statefulset/db --requests=cpu=500m,memory=1Gi --limits=memory=2Gi`,
		"kubectl sts set serviceaccount": `
			# Run the members as the service account "db"
			kubectl sts set serviceaccount statefulset/db db`,
		"kubectl sts scale": `
			# Scale a set to five members
			kubectl sts scale statefulset/db --replicas=5

			# Scale a set to five members, if it has three now
			kubectl sts scale statefulset/db --current-replicas=3 --replicas=5`,
		"kubectl sts autoscale": `
			# Keep between three and nine members, for a CPU usage of 80%
			kubectl sts autoscale statefulset/db --min=3 --max=9 --cpu=80%`,
		"kubectl sts get": `
			# List the sets of the namespace with their images
			kubectl sts get statefulsets -o wide

			# Watch a set
			kubectl sts get statefulset db --watch

			# List the sets of apps/v1
			kubectl sts get statefulsets.v1.apps`,
		"kubectl sts describe": `
			# Show the conditions, members, template and events of a set
			kubectl sts describe statefulset db

			# Describe all sets whose names begin with "db"
			kubectl sts describe statefulset db`,
		"kubectl sts events": `
			# List the events of a set
			kubectl sts events --for=statefulset/db`,
		"kubectl sts logs": `
			# Print the log of one member
			kubectl sts logs statefulset/db

			# Follow the logs of all members
			kubectl sts logs statefulset/db --all-pods --follow`,
		"kubectl sts explain": `
			# Show the documentation of a field
			kubectl sts explain statefulset.spec.updateStrategy`,
		"kubectl sts exec": `
			# Open a shell in a member
			kubectl sts exec -it statefulset/db -- sh

			# Run a command in a specific member
			kubectl sts exec db-2 -- df -h /data`,
		"kubectl sts attach": `
			# Attach to the running process of a member
			kubectl sts attach -it statefulset/db`,
		"kubectl sts port-forward": `
			# Forward port 5432 of this machine to a member
			kubectl sts port-forward statefulset/db 5432

			# Forward the port to a specific member
			kubectl sts port-forward pod/db-2 5432`,
		"kubectl sts debug": `
			# Run a debugging container in a member
			kubectl sts debug -it db-0 --image=busybox --target=db`,
		"kubectl sts replace": `
			# Replace a set with the one in a file
			kubectl sts replace -f db.yaml

			# Recreate the pod of a member, keep its claims, and wait until it is back
			kubectl sts replace db-2 --wait

			# Recreate the pod of a member with new, empty claims
			kubectl sts replace db-2 --new-claims

			# Give up the member on a node that is permanently off, with its data
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

			# Delete a set, and keep its pods running
			kubectl sts delete statefulset/db --cascade=orphan

			# Remove the members of a set in order, then delete the set
			kubectl sts delete --ordered db`,
	}[command]
	return templates.Examples(example), ok
}
