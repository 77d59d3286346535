// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// reportService reports members that have the DNS names of another Service than the one that the
// set names. The controller does nothing about it: a name is no reason to take a member out of
// service. The message is the same for any number of members, because each change would be an
// event. Adopted pods may have no DNS name at all, and need no Service.
func reportService(f *facts, d *draft) verdict {
	for _, m := range f.members {
		if m.pod == nil || isTerminating(m.pod) || m.pod.Spec.Subdomain == "" || m.pod.Spec.Subdomain == f.world.Set.Spec.ServiceName {
			continue
		}
		old, next := words.Sanitize(m.pod.Spec.Subdomain), "then have none"
		if name := f.world.Set.Spec.ServiceName; name != "" {
			next = "then get those of Service " + words.Sanitize(name)
		}
		d.warn(v1.ReasonOtherServiceName, "members keep the DNS names of Service %s until they are recreated, and %s; keep Service %s until then",
			old, next, old)
		break
	}
	return proceed
}
