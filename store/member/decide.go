// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import "fmt"

// situation is everything that a member decides by.
type situation struct {
	name    string
	ordinal int
	peerURL string
	advice  advice
	disk    disk
	// cluster is the store that the host knows to have been begun, and noted whether
	// servers have used one.
	cluster string
	noted   bool
	peers   census
}

// step is what to do next.
type step int

const (
	wait    step = iota // and look again
	start               // with what is on the disk
	adopt               // what was restored: it is the store from now on
	begin               // the store, as its only member
	add                 // us to the members, without a vote
	join                // them: the others know us
	replace             // take the member whose disk was lost off the list
)

// decision is a step, why it is waited, and whose place is taken.
type decision struct {
	step   step
	why    string
	member uint64
}

// decide looks at a disk. What was acknowledged is on the disks of a majority, so nothing is
// lost as long as a majority keeps its disks, none of them is changed, and an empty disk never
// passes for one that has something:
//
//   - A disk is used by the member whose name is on it, and by no other.
//   - An empty disk joins as a new member, with a new identity and without a vote, and votes
//     when it has everything. What its predecessor promised, it does not know of.
//   - The predecessor is removed first, by a majority. Etcd refuses that when the rest would be
//     no majority.
//   - A store begins once: on an empty disk of member 0, if nobody answers and the host
//     knows of none. The host is told before, and keeps the first that it is told of.
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
	return decision{step: wait, why: fmt.Sprintf("the disk is that of %s, and this is %s: give each its own disk back", s.disk.Name, s.name)},
		s.disk.Name != "" && s.disk.Name != s.name
}

func diskOfAnotherStore(s situation) (decision, bool) {
	return decision{step: wait,
			why: fmt.Sprintf(
				"the disk is one of store %s, and the cluster knows store %s. If that was restored, this disk is of no use any more: %s",
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
			step: wait, why: "a backup was restored here; it belongs on the disk of the member with ordinal 0, the others begin empty: " +
				s.advice.empty(s.name)}, true
	case len(s.peers.listed) > 0:
		return decision{step: wait,
			why: "a backup was restored here, and the other members have a store that works. To join them: " + s.advice.empty(s.name)}, true
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
	case s.cluster != "" || s.noted || s.peers.answered > 0:
		return decision{}, false
	case s.ordinal == 0:
		return decision{step: begin}, true
	}
	return decision{step: wait, why: "the member with ordinal 0 has not begun the store yet"}, true
}

func neverBegun(s situation) (decision, bool) {
	return decision{
			step: wait, why: "the disk is empty, the cluster knows a store that these members have not begun, and its sets would be missing here. " +
				s.advice.lost(s.name)},
		s.cluster == "" && s.noted
}

// advice is what the commands in a decision are made of.
type advice struct {
	namespace, prefix, dataDir string
}

// empty is how a member gets an empty disk, if it is a pod.
func (a advice) empty(name string) string {
	return fmt.Sprintf("`kubectl --namespace=%[1]s annotate persistentvolumeclaim data-%[2]s apps.statefulset.dev/allow-delete=yes`, "+
		"`kubectl --namespace=%[1]s delete persistentvolumeclaim data-%[2]s --wait=false` and `kubectl --namespace=%[1]s delete pod %[2]s`",
		a.namespace, name)
}

// lost is what to do if disks do not come back.
func (a advice) lost(name string) string {
	first := a.prefix + "-0"
	text := fmt.Sprintf(
		"If their disks are lost, restore a backup: `kubectl --namespace=%s exec --stdin %s -- /statefulset-apiserver store restore --from=- --data-dir=%s < BACKUP`", a.namespace, first, a.dataDir)
	if name != first {
		return text + ", while " + first + " has an empty disk, too"
	}
	return text + fmt.Sprintf(". If there never was a set: `kubectl --namespace=%s delete configmap %s`", a.namespace, MarkName)
}
