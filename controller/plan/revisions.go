// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// hashLabel is the label of a revision with the hash that is also in its name.
const hashLabel = "controller.kubernetes.io/hash"

// revision is a recorded template, or one about to be recorded.
type revision struct {
	name string
	data []byte
	// at identifies the object with the template; it is not set for the update revision, whose
	// template the set has.
	at version
}

// revisions are the recorded templates of the set, the latest last.
type revisions []*appsv1.ControllerRevision

func sortRevisions(all []*appsv1.ControllerRevision) revisions {
	slices.SortFunc(all, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// index is the position of the revision with a name, -1 if there is none.
func (r revisions) index(name string) int {
	return slices.IndexFunc(r, func(known *appsv1.ControllerRevision) bool { return known.Name == name })
}

func (r revisions) latest() *appsv1.ControllerRevision {
	if len(r) == 0 {
		return nil
	}
	return r[len(r)-1]
}

// next is the number that the next revision gets.
func (r revisions) next() int64 {
	if latest := r.latest(); latest != nil {
		return latest.Revision + 1
	}
	return 1
}

func revisionHash(data []byte, collisions int32) string {
	hash := fnv.New32()
	hash.Write(data)
	hash.Write([]byte(strconv.FormatInt(int64(collisions), 10)))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10))
}
