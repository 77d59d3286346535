// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// tellService tells of members that have the DNS names of another service than the set
// names. Nothing is done about it: a name is no reason to take a member from service. The
// words are the same for any number of them, because each change would be an event. Pods
// that were adopted may have no DNS name at all, which nobody has to keep a service for.
func tellService(f *facts, d *draft) verdict {
	for _, m := range f.members {
		if m.pod == nil || isTerminating(m.pod) || m.pod.Spec.Subdomain == "" || m.pod.Spec.Subdomain == f.world.Set.Spec.ServiceName {
			continue
		}
		old, next := words.Foreign(m.pod.Spec.Subdomain), "have none then"
		if name := f.world.Set.Spec.ServiceName; name != "" {
			next = "get those of Service " + words.Foreign(name) + " then"
		}
		d.warn(v1.ReasonOtherServiceName, "members have the DNS names of Service %s until they are recreated, and %s; keep Service %s until then",
			old, next, old)
		break
	}
	return proceed
}
