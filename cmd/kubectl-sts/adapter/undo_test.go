// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func TestUndoingAnUpdateClearsTheIdentityThatTheRevisionHasNot(t *testing.T) {
	for sentence, test := range map[string]struct {
		now, then *v1.MemberIdentity
		want      string // in the patch, empty if none is sent
		not       string
	}{
		"of a set that has one, the template being the same": {&v1.MemberIdentity{}, nil, `"identity":null`, ""},
		"to a revision that has one": {
			&v1.MemberIdentity{}, &v1.MemberIdentity{Env: []string{"SET"}}, `"identity":{"$patch":"replace","env":["SET"]}`, "null"},
		"of a set that has none, to a revision that has one":    {nil, &v1.MemberIdentity{}, `"identity":{"$patch":"replace"}`, "null"},
		"of a set that has none, to the same template, is vain": {nil, nil, "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := newSet()
			set.Namespace, set.UID, set.Spec.Identity = "shop", "ours", test.now
			set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
			revision := func(number int64, with *v1.MemberIdentity) appsv1.ControllerRevision {
				return appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "db-" + string(rune('0'+number)),
					Labels: map[string]string{"app": "db"}, OwnerReferences: []metav1.OwnerReference{identity.Owner(set)}},
					Revision: number,
					Data:     runtime.RawExtension{Raw: identity.RevisionData(identity.Source{Template: &set.Spec.Template, Identity: with})}}
			}
			patch := ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var answer any = set
				switch {
				case strings.HasSuffix(r.URL.Path, "/controllerrevisions"):
					answer = &appsv1.ControllerRevisionList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevisionList"},
						Items: []appsv1.ControllerRevision{revision(1, test.then), revision(2, test.now)}}
				case r.Method == http.MethodPatch:
					body, _ := io.ReadAll(r.Body)
					patch = string(body)
				}
				w.Header().Set("Content-Type", jsonType)
				_ = json.NewEncoder(w).Encode(answer)
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			config.Wrap(Transport)
			if _, err := (undoer{config}).Rollback(set, nil, 1, cmdutil.DryRunNone); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(patch, test.want) || test.want == "" && patch != "" || test.not != "" && strings.Contains(patch, test.not) {
				t.Errorf("got the patch %s, want %s in it", patch, test.want)
			}
		})
	}
}
