// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestASetIsPrintedLikeThoseOfApps(t *testing.T) {
	set := settest.Changed(func(set *v1.StatefulSet) {
		set.ResourceVersion = "12"
		set.CreationTimestamp = metav1.NewTime(time.Now().Add(-2 * time.Hour))
		set.Status.ReadyReplicas = 2
		set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "x:1"}, {Name: "b", Image: "y:2"}}
	})
	list := &v1.StatefulSetList{ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "more"}, Items: []v1.StatefulSet{*set}}
	tests := map[string]struct {
		object       runtime.Object
		options      runtime.Object
		wantHeader   string
		wantContinue string
	}{
		"alone": {object: set, options: &metav1.TableOptions{}, wantHeader: "Name/0 Ready/0 Age/0 Containers/1 Images/1"},
		"in a list": {
			object: list, options: &metav1.TableOptions{}, wantHeader: "Name/0 Ready/0 Age/0 Containers/1 Images/1", wantContinue: "more"},
		"without a heading": {object: list, options: &metav1.TableOptions{NoHeaders: true}, wantContinue: "more"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			table, err := tableConvertor{}.ConvertToTable(t.Context(), test.object, test.options)
			if err != nil {
				t.Fatalf("printing: %v", err)
			}
			if got := header(table); got != test.wantHeader {
				t.Errorf("columns: got %q, want %q", got, test.wantHeader)
			}
			if table.ResourceVersion != "12" || table.Continue != test.wantContinue {
				t.Errorf("resourceVersion and continue: got %q and %q, want 12 and %q", table.ResourceVersion, table.Continue, test.wantContinue)
			}
			if got, want := asJSON(t, table.Rows[0].Cells), `["web","2/3","120m","a,b","x:1,y:2"]`; len(table.Rows) != 1 || got != want {
				t.Errorf("rows: got %d, the first is %s, want 1, %s", len(table.Rows), got, want)
			}
		})
	}
}

func header(table *metav1.Table) string {
	var names []string
	for _, column := range table.ColumnDefinitions {
		names = append(names, fmt.Sprintf("%s/%d", column.Name, column.Priority))
	}
	return strings.Join(names, " ")
}
