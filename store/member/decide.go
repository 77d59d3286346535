// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import "fmt"

// situation is everything on which a member bases its decision.
type situation struct {
	name    string
	ordinal int
	peerURL string
	advice  advice
	disk    disk
	// cluster is the store that the host cluster has recorded as created, and storeUsed is true if
	// servers have used a store.
	cluster   string
	storeUsed bool
	peers     peerStatus
}

// step is what to do next.
type step int

const (
	wait    step = iota // and decide again
	start               // with the data on the disk
	adopt               // the restored data as the store from now on
	begin               // the store, as its only member
	add                 // this member to the members, without a vote
	join                // the members, which have added this member
	replace             // remove the member whose disk was lost from the list
)

// decision is a step, the reason to wait, and the member to replace.
type decision struct {
	step   step
	why    string
	member uint64
}

// decide decides what to do with a disk. Data that was acknowledged is on the disks of a majority.
// So nothing is lost while a majority keeps its disks unchanged, and an empty disk is never taken
// for one with data:
//
//   - A disk is used only by the member whose name is on it.
//   - An empty disk joins as a new member, with a new identity and without a vote, and votes when
//     it has all data. It does not know what its predecessor promised.
//   - The predecessor is removed first, by a majority. Etcd refuses that if the remaining members
//     would be no majority.
//   - A store is created once: on an empty disk of member 0, if no other member answers and the
//     host cluster knows of no store. The store is recorded in the cluster before, and the cluster
//     keeps the first record.
func decide(s situation) decision {
	for _, rule := range rules() {
		if d, applies := rule(s); applies {
			return d
		}
	}
	return decision{step: wait, why: "the disk is empty, and no majority of the other members answers. " + s.advice.lost(s.name)}
}

func rules() []func(situation) (decision, bool) {
	return []func(situation) (decision, bool){
		busyDisk, diskOfAnother, diskOfAnotherStore, ownDisk, restoredDisk,
		majorityAnswers, begunHere, notBegun, neverBegun,
	}
}

func busyDisk(s situation) (decision, bool) {
	return decision{step: wait, why: "another process is using the disk"}, s.disk.busy
}

func diskOfAnother(s situation) (decision, bool) {
	return decision{step: wait, why: fmt.Sprintf("the disk belongs to %s, but this member is %s: give each member its own disk back", s.disk.Name, s.name)},
		s.disk.Name != "" && s.disk.Name != s.name
}

func diskOfAnotherStore(s situation) (decision, bool) {
	return decision{step: wait,
			why: fmt.Sprintf(
				"the disk belongs to store %s, but the cluster knows store %s. If that was restored, this disk is not needed any more: %s",
				s.disk.Cluster, s.cluster, s.advice.empty(s.name))},
		s.disk.used && s.disk.Cluster != "" && s.cluster != "" && s.disk.Cluster != s.cluster
}

func ownDisk(s situation) (decision, bool) {
	return decision{step: start}, s.disk.used && s.disk.Name == s.name
}

func restoredDisk(s situation) (decision, bool) {
	switch {
	case !s.disk.isRestored():
		return decision{}, false
	case s.ordinal != 0:
		return decision{
			step: wait, why: "a backup was restored here, but it belongs on the disk of the member with ordinal 0, and the others begin empty: " +
				s.advice.empty(s.name)}, true
	case len(s.peers.listed) > 0:
		return decision{step: wait,
			why: "a backup was restored here, but the other members have a working store. To join them: " + s.advice.empty(s.name)}, true
	}
	return decision{step: adopt}, true
}

func majorityAnswers(s situation) (decision, bool) {
	if len(s.peers.listed) == 0 {
		return decision{}, false
	}
	switch self := s.peers.find(s.name, s.peerURL); {
	case self == nil:
		return decision{step: add}, true
	case self.IsLearner && self.Name == "":
		return decision{step: join}, true
	default:
		return decision{step: replace, member: self.ID}, true
	}
}

func begunHere(s situation) (decision, bool) {
	return decision{step: begin}, s.disk.Stage == beginning && s.disk.Cluster == s.cluster
}

func notBegun(s situation) (decision, bool) {
	switch {
	case s.cluster != "" || s.storeUsed || s.peers.answered > 0:
		return decision{}, false
	case s.ordinal == 0:
		return decision{step: begin}, true
	}
	return decision{step: wait, why: "the member with ordinal 0 has not created the store yet"}, true
}

func neverBegun(s situation) (decision, bool) {
	return decision{
			step: wait, why: "the disk is empty, and the cluster knows a store that these members have not created, whose sets would be missing here. " +
				s.advice.lost(s.name)},
		s.cluster == "" && s.storeUsed
}

// advice has the parameters of the commands in a decision.
type advice struct {
	namespace, prefix, dataDir string
}

// empty has the commands that give a member an empty disk, if it is a pod.
func (a advice) empty(name string) string {
	return fmt.Sprintf("`kubectl --namespace=%[1]s annotate persistentvolumeclaim data-%[2]s apps.statefulset.dev/allow-delete=yes`, "+
		"`kubectl --namespace=%[1]s delete persistentvolumeclaim data-%[2]s --wait=false` and `kubectl --namespace=%[1]s delete pod %[2]s`",
		a.namespace, name)
}

// lost describes what to do if disks do not come back.
func (a advice) lost(name string) string {
	first := a.prefix + "-0"
	text := fmt.Sprintf(
		"If their disks are lost, restore a backup: `kubectl --namespace=%s exec --stdin %s -- /statefulset-apiserver store restore --from=- --data-dir=%s < BACKUP`", a.namespace, first, a.dataDir)
	if name != first {
		return text + ", while " + first + " has an empty disk, too"
	}
	return text + fmt.Sprintf(". If there never was a set: `kubectl --namespace=%s delete configmap %s`", a.namespace, ClusterNoteName)
}
