// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	genericadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/admission"
)

// quotaOf is a quota plugin that notes when it looks and when it charges.
type quotaOf struct {
	*genericadmission.Handler
	notes *[]string
}

func (q quotaOf) Validate(_ context.Context, a genericadmission.Attributes, _ genericadmission.ObjectInterfaces) error {
	note := "charged"
	if a.IsDryRun() {
		note = "looked at"
	}
	*q.notes = append(*q.notes, note)
	return nil
}

func TestAQuotaIsChargedAfterTheTrials(t *testing.T) {
	for name, c := range map[string]struct {
		mode   string
		dryRun []string
		want   string
	}{
		"a set that the host refuses":              {"enforce", nil, "looked at"},
		"a set that the host lets pass":            {"warn", nil, "looked at, charged"},
		"a set that is not tried":                  {"off", nil, "charged"},
		"a dry run of a set that the host refuses": {"enforce", []string{metav1.DryRunAll}, "looked at"},
	} {
		t.Run(name, func(t *testing.T) {
			var notes []string
			host := startStrictHost(t)
			s := Start(t, withPreflight(t, c.mode, host.url), func(config *apiserver.Config) {
				plugin := quotaOf{genericadmission.NewHandler(genericadmission.Create), &notes}
				config.Generic.AdmissionControl = admission.DecorateQuota(plugin, resourcequota.PluginName)
			})
			_, _ = s.Sets().Create(t.Context(), Web("web"), metav1.CreateOptions{DryRun: c.dryRun})
			if got := strings.Join(notes, ", "); got != c.want {
				t.Errorf("the quota was %s, want %s", got, c.want)
			}
		})
	}
}

func TestASetThatIsAppliedIsTried(t *testing.T) {
	host := startStrictHost(t)
	s := Start(t, withPreflight(t, "enforce", host.url))
	manifest := `{` + typeMeta +
		`,"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"d"}]}}}}`
	_, err := s.Sets().Patch(t.Context(), "web", types.ApplyPatchType, []byte(manifest), metav1.PatchOptions{FieldManager: "test"})
	if got := errorText(err); !strings.Contains(got, "spec.template.spec.dnsPolicy") ||
		!slices.Contains(host.questions(), "POST /api/v1/namespaces/default/podtemplates?dryRun=All") {
		t.Errorf("got %q after asking %q, want that the host was asked and has refused", got, host.questions())
	}
}
