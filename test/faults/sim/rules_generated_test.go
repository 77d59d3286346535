// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// secretChanges judges that what is drawn for a Secret stays, and is not drawn again for those who were
// given it.
func (j *judge) secretChanges(secret *corev1.Secret, how watch.EventType) {
	switch {
	case how == watch.Deleted:
		delete(j.drawn, secret.Name)
	case how == watch.Added:
		if who := j.givenTo(secret.Name); len(who) > 0 && scenarios.IsOf(scenarios.Name, secret) {
			j.broke("nothing is drawn over data", "%s is created, and was given to %v", secret.Name, who)
		}
		j.drawn[secret.Name] = secret.Data
	case !maps.EqualFunc(j.drawn[secret.Name], secret.Data, bytes.Equal):
		j.broke("what is drawn stays", "the data of %s are other ones", secret.Name)
	}
}

// givenTo are the claims and pods that say that they were given a Secret.
func (j *judge) givenTo(secret string) (names []string) {
	for _, object := range slices.Concat(j.world.host.List(model.Claims, namespace), j.world.host.List(model.Pods, namespace)) {
		if scenarios.GivenTo(object, secret) {
			names = append(names, object.GetName())
		}
	}
	return names
}
