// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestPathsOfTheHostBecomePathsOfTheSet(t *testing.T) {
	set := settest.Changed(func(set *v1.StatefulSet) {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, settest.ClaimTemplate("log"))
		set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "first"}, {Name: "www"}, {Name: "last"}}
	})
	template := templateTrials(nil, set)
	trials := map[string]trial{"template": template[0], "pod": template[1], "claim": claimTrials(set)[1]}
	tests := map[string]struct{ of, path, want string }{
		"the template":                       {"template", "template", "spec.template"},
		"a container of the template":        {"template", "template.spec.containers[0].image", "spec.template.spec.containers[0].image"},
		"the labels, as the host calls them": {"template", "template.labels", "spec.template.labels"},
		"a claim's volume":                   {"template", "template.spec.volumes[1].name", "spec.volumeClaimTemplates[1].name"},
		"the first volume of the template":   {"template", "template.spec.volumes[2].name", "spec.template.spec.volumes[0].name"},
		"a volume behind one that is replaced": {
			"template", "template.spec.volumes[3].hostPath.path", "spec.template.spec.volumes[2].hostPath.path"},
		"a volume that nobody has":              {"template", "template.spec.volumes[9].name", "spec.template.spec.volumes[9].name"},
		"the volumes":                           {"template", "template.spec.volumes", "spec.template.spec.volumes"},
		"a field whose name begins alike":       {"template", "templates.spec", "templates.spec"},
		"a container of the pod":                {"pod", "spec.containers[1].ports[0]", "spec.template.spec.containers[1].ports[0]"},
		"the labels of the pod":                 {"pod", "metadata.labels", "spec.template.metadata.labels"},
		"the hostname, which is made of a name": {"pod", "spec.hostname", "metadata.name"},
		"a volume of the pod": {
			"pod", "spec.volumes[0].persistentVolumeClaim", "spec.volumeClaimTemplates[0].persistentVolumeClaim"},
		"the size of a claim":   {"claim", "spec.resources[storage]", "spec.volumeClaimTemplates[1].spec.resources[storage]"},
		"the labels of a claim": {"claim", "metadata.labels", "spec.volumeClaimTemplates[1].metadata.labels"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := trials[test.of].origin.of(test.path); got != test.want {
				t.Errorf("%s of the %s: got %q, want %q", test.path, test.of, got, test.want)
			}
		})
	}
}

// refusing answers for objects of the kind of example with the error, and is willing
// to create all others.
func refusing(example runtime.Object, err error, warnings ...string) *answeringHost {
	return &answeringHost{answer: func(object runtime.Object) Answer {
		if fmt.Sprintf("%T", object) == fmt.Sprintf("%T", example) {
			return Answer{Err: err, Warnings: warnings}
		}
		return Answer{}
	}}
}

func invalidAt(path string) error {
	at := field.NewPath(path)
	return apierrors.NewInvalid(schema.GroupKind{Kind: "X"}, "x", field.ErrorList{field.Invalid(at, "x", "must be better")})
}

func TestWhatTheHostSaysOfANewSet(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("exceeded quota: x"))
	template, pod, claim := &corev1.PodTemplate{}, &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	tests := map[string]struct {
		preflight      Preflight
		errs, warnings []string
	}{
		"an invalid template is refused": {
			preflight: Preflight{Host: refusing(template, invalidAt("template.spec.dnsPolicy"))},
			errs:      []string{`spec.template.spec.dnsPolicy: Invalid value: "x": must be better`},
		},
		"an invalid claim is refused": {
			preflight: Preflight{Host: refusing(claim, invalidAt("spec.volumeName"))},
			errs:      []string{`spec.volumeClaimTemplates[0].spec.volumeName: Invalid value: "x": must be better`},
		},
		"an invalid template is warned of, if that was chosen": {
			preflight: Preflight{Host: refusing(template, invalidAt("template.spec.dnsPolicy")), WarnOnly: true},
			warnings:  []string{`spec.template.spec.dnsPolicy: Invalid value: "x": must be better`},
		},
		"a pod that is invalid though its template is not is warned of": {
			preflight: Preflight{Host: refusing(pod, invalidAt("spec.hostname"))},
			warnings:  []string{`spec.template: a pod could not be created: metadata.name: Invalid value: "x": must be better`},
		},
		"labels of a claim, which the set's own kind does not look at, are warned of": {
			preflight: Preflight{Host: refusing(claim, invalidAt("metadata.labels"))},
			warnings: []string{
				`spec.volumeClaimTemplates[0]: a claim could not be created: spec.volumeClaimTemplates[0].metadata.labels: Invalid value: "x": must be better`},
		},
		"a complaint of a kind that is not known is refused in its own words": {
			preflight: Preflight{Host: refusing(template, &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid,
				Details: &metav1.StatusDetails{
					Causes: []metav1.StatusCause{{Type: "FieldValueUgly", Message: "Ugly: so ugly", Field: "template.spec"}}}}})},
			errs: []string{"spec.template.spec: Invalid value: Ugly: so ugly"},
		},
		"an answer that is no list of fields is warned of": {
			preflight: Preflight{Host: refusing(template,
				apierrors.NewGenericServerResponse(422, "POST", schema.GroupResource{Resource: "podtemplates"}, "", "what?", 0, true))},
			warnings: []string{
				"spec.template: a pod template could not be created now: the server rejected our request due to an error in our request (post podtemplates)"},
		},
		"a policy is warned of": {
			preflight: Preflight{Host: refusing(pod, forbidden)},
			warnings:  []string{`spec.template: a pod could not be created now: pods is forbidden: exceeded quota: x`},
		},
		"a host that takes too long is warned of": {
			preflight: Preflight{Host: refusing(template, fmt.Errorf("asking: %w", context.DeadlineExceeded))},
			warnings:  []string{"spec.template: not checked: the host cluster did not answer within 3s"},
		},
		"a host that cannot be reached is warned of": {
			preflight: Preflight{Host: refusing(claim, errors.New("no route to host"))},
			warnings:  []string{"spec.volumeClaimTemplates[0]: not checked: no route to host"},
		},
		"warnings of the host are passed on": {
			preflight: Preflight{Host: refusing(template, nil, "template.spec.nodeSelector[a]: deprecated", "would violate PodSecurity", "a: b c")},
			warnings:  []string{"spec.template.spec.nodeSelector[a]: deprecated", "would violate PodSecurity", "a: b c"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, warnings := warningsOf(t.Context())
			err := test.preflight.AfterCreate(rest.ValidateAllObjectFunc)(ctx, settest.Valid())
			if got := settest.Causes(t, err); !slices.Equal(got, test.errs) {
				t.Errorf("errors: got %q, want %q", got, test.errs)
			}
			if !slices.Equal(warnings.texts, test.warnings) {
				t.Errorf("warnings: got %q, want %q", warnings.texts, test.warnings)
			}
		})
	}
}

func TestALongComplaintIsShortened(t *testing.T) {
	value := strings.Repeat("é", 1000)
	cause := metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.template", Message: `Invalid value: "` + value + `": field is immutable`}
	got := origin{whole: "spec.objectTemplates[0].object"}.fieldError(cause).Error()
	want := `spec.objectTemplates[0].object.spec.template: Invalid value: "` + strings.Repeat("é", 99) + " ... " + strings.Repeat("é", 279) +
		`": field is immutable`
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}
