// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestTheAgeOfTheLastVerifiedBackupIsTold(t *testing.T) {
	const file = "sets-00000042-20261122T120000Z-K3M5N7PQ.backup"
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	of := func(age time.Duration, more ...string) map[string]string {
		data := map[string]string{"every": "6h0m0s", "name": file, "key": "one", "verified": now.Add(-age).Format(time.RFC3339)}
		for i := 0; i < len(more); i += 2 {
			data[more[i]] = more[i+1]
		}
		return data
	}
	failed := []string{"failed", "2026-11-22T19:00:00Z", "failure", "writing it: 403 Forbidden"}
	const restore = "store restore --from=" + file
	tests := map[string]struct {
		told map[string]string // nil if there is no report
		want verdict
		says string
		fix  []string
	}{
		"none are asked for": {nil, doubt, "no backups are configured: ", []string{"backup.to=s3://"}},
		"one of this interval is good": {
			of(2 * time.Hour), fine, file + ", the newest verified copy of the store, is 120m old", []string{restore}},
		"one that is three intervals old is good yet": {of(18 * time.Hour), fine, "is 18h old", []string{restore}},
		"an older one is not": {of(18*time.Hour + time.Second), doubt, "is 18h old, and one is due every 6h0m0s",
			[]string{"logs deployment", "delete configmap", restore}},
		"a good one after which an attempt has failed": {of(2*time.Hour, failed...), doubt,
			"is 120m old; the last attempt failed at 2026-11-22T19:00:00Z: writing it: 403 Forbidden", []string{"logs deployment", restore}},
		"one that is not signed": {of(2*time.Hour, "key", ""), doubt, "it is not signed, so anyone who can write to the location",
			[]string{"backup.keySecret=SECRET", restore + " --data-dir=NEW_DIRECTORY --accept-unauthenticated"}},
		"one that is signed": {of(2 * time.Hour), fine, `is 120m old, and signed with key "one"`,
			[]string{restore + " --data-dir=NEW_DIRECTORY --backup-key-file=KEYS"}},
		"none yet": {
			map[string]string{"every": "6h0m0s"}, doubt, "no copy of the store has been verified yet", []string{"logs deployment"}},
		"none yet, as attempts fail": {map[string]string{"every": "6h0m0s", "failed": "2026-11-22T19:00:00Z", "failure": "no such bucket"},
			doubt, "no such bucket", []string{"logs deployment"}},
		"one of a clock that is a bit off": {of(-time.Minute), fine, "is 0s old", []string{restore}},
		"one of a clock that is wrong": {
			of(-24 * time.Hour), doubt, "has the future time 2026-11-23T20:00:00Z: a clock is wrong", []string{"logs deployment"}},
		"a name that is a command":     {of(time.Hour, "name", "$(reboot)"), fine, "is 60m old", []string{"store restore --from=FILE "}},
		"a report that was spoilt":     {of(time.Hour, "verified", "yesterday"), doubt, `verified is "yesterday"`, []string{"delete configmap"}},
		"a report without an interval": {of(time.Hour, "every", ""), doubt, `every is ""`, []string{"delete configmap"}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			var there []runtime.Object
			if test.told != nil {
				there = append(there, &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: "statefulset-system", Name: "statefulset-apiserver-backups"}, Data: test.told})
			}
			host := fake.NewClientset(there...)
			host.PrependReactor("create", "subjectaccessreviews", serverMay(func(authorizationv1.ResourceAttributes) bool { return true }))
			e := &examiner{host: host, system: "statefulset-system", now: now}
			got := e.backups(t.Context())
			if len(got) != 1 || got[0].verdict != test.want || !strings.Contains(got[0].message, test.says) {
				t.Fatalf("got %+v, want one finding %q that says %q", got, test.want, test.says)
			}
			if failures(got) > 0 {
				t.Errorf("got a failure, want none: sets work without backups")
			}
			if len(got[0].fix) != len(test.fix) {
				t.Errorf("got the commands %q, want %d", got[0].fix, len(test.fix))
			}
			for _, words := range test.fix {
				if !slices.ContainsFunc(got[0].fix, func(command string) bool { return strings.Contains(command, words) }) {
					t.Errorf("got the commands %q, want one with %q", got[0].fix, words)
				}
			}
		})
	}
}

// serverMay answers reviews of the server's access.
func serverMay(may func(authorizationv1.ResourceAttributes) bool) clienttesting.ReactionFunc {
	return func(action clienttesting.Action) (bool, runtime.Object, error) {
		review, ok := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		if !ok {
			return true, nil, errors.New("want a SubjectAccessReview")
		}
		review.Status.Allowed = review.Spec.User == "system:serviceaccount:statefulset-system:statefulset-apiserver" &&
			may(*review.Spec.ResourceAttributes)
		return true, review, nil
	}
}

func TestNoBackupsBecauseNobodyAsksIsToldFromNoRight(t *testing.T) {
	const name = "statefulset-apiserver-backups"
	tests := map[string]struct {
		may         func(authorizationv1.ResourceAttributes) bool
		failed      error
		says, never string
	}{
		"all rights, in the namespace and for the name": {
			may: func(a authorizationv1.ResourceAttributes) bool {
				return a.Namespace == "statefulset-system" && (a.Verb == "create" || a.Name == name)
			},
			says:  "no backups are configured: ",
			never: "is not allowed to",
		},
		"no right to create": {
			may:   func(a authorizationv1.ResourceAttributes) bool { return a.Verb != "create" },
			says:  "the server lacks the right to report them: service account statefulset-system/statefulset-apiserver is not allowed to create configmaps",
			never: "no backups are configured",
		},
		"no right to change": {
			may:   func(a authorizationv1.ResourceAttributes) bool { return a.Verb != "update" },
			says:  "is not allowed to update configmaps",
			never: "no backups are configured",
		},
		"one may not ask": {failed: errors.New("forbidden"),
			says: "no backups are configured, or the server lacks the right to report them; checking its rights failed: forbidden", never: "are reported"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			host := fake.NewClientset()
			host.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if test.failed != nil {
					return true, nil, test.failed
				}
				return serverMay(test.may)(action)
			})
			got := (&examiner{host: host, system: "statefulset-system", now: time.Now()}).backups(t.Context())
			if len(got) != 1 || got[0].verdict != doubt || !strings.Contains(got[0].message, test.says) ||
				strings.Contains(got[0].message, test.never) {
				t.Fatalf("got %+v, want one finding %q that says %q and not %q", got, doubt, test.says, test.never)
			}
			if !slices.ContainsFunc(got[0].fix, func(command string) bool { return strings.Contains(command, "backup.to=") }) {
				t.Errorf("got the commands %q, want the way to configure backups among them", got[0].fix)
			}
		})
	}
}

func TestBackupsThatOneMayNotLookAtAreNoFailure(t *testing.T) {
	host := fake.NewClientset()
	host.PrependReactor("get", "configmaps",
		func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	got := (&examiner{host: host, system: "statefulset-system", now: time.Now()}).backups(t.Context())
	if len(got) != 1 || got[0].verdict != unknown {
		t.Errorf("got %+v, want one finding %q", got, unknown)
	}
}
