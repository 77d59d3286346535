// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func TestDifferenceOfALiveObject(t *testing.T) {
	const template = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-x","labels":{"tier":"db"}},"spec":{"ports":[{"port":80},{"port":81}],"selector":{"pod":"$(IDENTITY)"},"limit":"1000m","ipFamily":null,"none":{}}}`
	for sentence, test := range map[string]struct{ live, want string }{
		"there is none where it has more": {
			`{"kind":"Service","metadata":{"name":"web-1-x","uid":"1","labels":{"tier":"db","a":"b"}},"spec":{"ports":[{"port":80,"protocol":"TCP"},{"port":81}],"selector":{"pod":"web-1"},"limit":"1","type":"ClusterIP"}}`, ""},
		"a field is lacking": {
			`{"kind":"Service","metadata":{"name":"web-1-x","labels":{"tier":"db"}},"spec":{"ports":[{"port":80},{"port":81}],"limit":"1"}}`,
			"spec.selector"},
		"a field has another value, that of another one": {
			`{"kind":"Service","metadata":{"name":"web-1-x","labels":{"tier":"db"}},"spec":{"ports":[{"port":80},{"port":81}],"selector":{"pod":"web-2"},"limit":"1"}}`, "spec.selector.pod"},
		"a list has an item that differs": {
			`{"kind":"Service","metadata":{"name":"web-1-x","labels":{"tier":"db"}},"spec":{"ports":[{"port":80},{"port":82}],"selector":{"pod":"web-1"},"limit":"1"}}`, "spec.ports[1].port"},
		"a list has fewer items": {
			`{"kind":"Service","metadata":{"name":"web-1-x","labels":{"tier":"db"}},"spec":{"ports":[{"port":80}],"selector":{"pod":"web-1"},"limit":"1"}}`, "spec.ports"},
		"of several it is the first by name": {`{"kind":"Service","metadata":{"name":"web-1-x"},"spec":{}}`, "metadata.labels"},
		"a quantity is another one, however it is written": {
			`{"kind":"Service","metadata":{"name":"web-1-x","labels":{"tier":"db"}},"spec":{"ports":[{"port":80},{"port":81}],"selector":{"pod":"web-1"},"limit":"2000m"}}`, "spec.limit"},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
			set.Spec.Identity = &v1.MemberIdentity{}
			set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "x", Object: runtime.RawExtension{Raw: []byte(template)}}}
			templates, wrong := identity.OverridesOf(set).Objects()
			if wrong != nil {
				t.Fatal(wrong)
			}
			var live map[string]any
			if err := json.Unmarshal([]byte(test.live), &live); err != nil {
				t.Fatal(err)
			}
			if got, wrong := templates[0].Difference(1, live); got != test.want || wrong != nil {
				t.Errorf("got %q and error %v, want %q", got, wrong, test.want)
			}
		})
	}
}
