// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

// remove is what is done to take away a pod that may serve: by an update, because somebody has
// asked for it, or because its member is not wanted. All such removals go through here. What
// removes a pod otherwise finds it useless: it has ended, or it keeps an update from going on.
func remove(f *facts, m member, why DeleteReason) []Action {
	removal := DeletePod{Ordinal: m.ordinal, Pod: exact(m.pod), Reason: why}
	if why == DeleteForUpdate || why == DeleteMisshapen {
		removal.Turn = f.turnOf(m)
	}
	return []Action{removal}
}
