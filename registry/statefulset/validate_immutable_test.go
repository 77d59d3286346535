// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// TestWhatMustNotChangeIsNamed: users read which field of theirs differs, and its two values.
func TestWhatMustNotChangeIsNamed(t *testing.T) {
	const claims = "spec.volumeClaimTemplates"
	const refused = claims + ": Invalid value: field is immutable: "
	const help = "; set spec.volumeClaimUpdate to change it"
	claim := settest.Claim
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		want   string
	}{
		"a size": {claim(func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("512Gi")
		}), refused + claims + `[0].spec.resources.requests.storage is "512Gi", and was "1Gi"` + help},
		"a class that was not named": {claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("fast") }),
			refused + claims + `[0].spec.storageClassName is "fast", and was not set` + help},
		"an annotation with a domain": {
			claim(func(c *corev1.PersistentVolumeClaim) { c.Annotations = map[string]string{"example.com/tier": "a"} }),
			refused + claims + `[0].metadata.annotations is {"example.com/tier":"a"}, and was not set` + help},
		"a template that is removed": {settest.Spec(func(s *v1.StatefulSetSpec) {
			s.VolumeClaimTemplates = nil
			s.Template.Spec.Containers[0].VolumeMounts = nil
		}), refused + claims +
			` is not set, and was [{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"www"},"spec":{"accessModes":[...` + help},
		"a template that is added": {settest.Spec(func(s *v1.StatefulSetSpec) {
			s.VolumeClaimTemplates = append(s.VolumeClaimTemplates, settest.ClaimTemplate("log"))
		}), refused + claims +
			`[1] is {"metadata":{"name":"log"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage..., and was not set` +
			help},
		"a key of the selector with a domain": {settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Selector.MatchLabels["example.com/tier"], s.Template.Labels["example.com/tier"] = "a", "a"
		}), `spec.selector: Invalid value: {"matchLabels":{"app":"web","example.com/tier":"a"}}: field is immutable: spec.selector.matchLabels[example.com/tier] is "a", and was not set`},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := ValidateUpdate(nil, settest.Changed(test.change), settest.Valid())
			if got := fmt.Sprint(errs.ToAggregate()); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if strings.Contains(fmt.Sprint(errs.ToAggregate()), "null") {
				t.Errorf("got %v, want no null that nobody wrote", errs)
			}
		})
	}
}
