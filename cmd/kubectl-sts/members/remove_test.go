// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestRemove(t *testing.T) {
	for sentence, test := range map[string]struct {
		names []string
		want  Removal
		err   string
	}{
		"one": {names: []string{"web-2"}, want: Removal{Replicas: 3, Reserved: []v1.OrdinalRange{{First: 2}}}},
		"two": {
			names: []string{"web-4", "web-0"}, want: Removal{Replicas: 2, Reserved: []v1.OrdinalRange{{First: 4}, {First: 0}}}},
		"one that is reserved":      {names: []string{"web-1"}, err: "set web has no member web-1 to remove"},
		"one above the highest":     {names: []string{"web-5"}, err: "set web has no member web-5 to remove"},
		"one twice":                 {names: []string{"web-2", "web-2"}, err: "member web-2 is named twice"},
		"one of another set":        {names: []string{"db-2"}, err: `"db-2" is not a member of set web; its members have names such as web-0`},
		"an ordinal without a name": {names: []string{"2"}, err: `"2" is not a member of set web; its members have names such as web-0`},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1.StatefulSetSpec{
				Replicas: new(int32(4)), Ordinals: &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 1}}}}}
			got, err := Remove(set, test.names)
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Fatalf("got error %v, want %q", err, test.err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestNamesOfASet(t *testing.T) {
	for sentence, test := range map[string]struct {
		args []string
		want string
	}{
		"a type and a name": {[]string{"statefulset", "web"}, "web"},
		"both in one":       {[]string{"sset/web"}, "web"},
		"the name alone":    {[]string{"web"}, "web"},
		"the whole type":    {[]string{"statefulset.v1.apps.statefulset.dev/web"}, "web"},
		"another type":      {[]string{"deployment/web"}, ""},
		"the built-in type": {[]string{"statefulsets.apps/web"}, ""},
		"several":           {[]string{"statefulset", "web", "db"}, ""},
		"none":              {nil, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, err := setName(test.args); got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q and %v, want %q", got, err, test.want)
			}
		})
	}
}
