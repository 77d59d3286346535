// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// tableConvertor prints sets like those of apps/v1. Columns of priority 1 are shown with "-o wide".
type tableConvertor struct{}

func (tableConvertor) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	switch obj := object.(type) {
	case *v1.StatefulSet:
		table.ResourceVersion = obj.ResourceVersion
		table.Rows = []metav1.TableRow{row(obj)}
	case *v1.StatefulSetList:
		table.ListMeta = obj.ListMeta
		table.Rows = make([]metav1.TableRow, 0, len(obj.Items))
		for i := range obj.Items {
			table.Rows = append(table.Rows, row(&obj.Items[i]))
		}
	default:
		return nil, fmt.Errorf("cannot print %T as a table of StatefulSets", object)
	}
	if opts, ok := options.(*metav1.TableOptions); !ok || !opts.NoHeaders {
		table.ColumnDefinitions = columns()
	}
	return table, nil
}

func columns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the set, unique in its namespace."},
		{Name: "Ready", Type: "string", Description: "Number of ready members, of the number of desired members."},
		{Name: "Age", Type: "string", Description: "Time since the set was created."},
		{Name: "Containers", Type: "string", Priority: 1, Description: "Names of the containers in the template."},
		{Name: "Images", Type: "string", Priority: 1, Description: "Images of the containers in the template."},
	}
}

func row(set *v1.StatefulSet) metav1.TableRow {
	containers := set.Spec.Template.Spec.Containers
	return metav1.TableRow{
		Object: runtime.RawExtension{Object: set},
		Cells: []any{
			set.Name,
			fmt.Sprintf("%d/%d", set.Status.ReadyReplicas, ptr.Deref(set.Spec.Replicas, 1)),
			age(set.CreationTimestamp),
			joined(containers, func(c corev1.Container) string { return c.Name }),
			joined(containers, func(c corev1.Container) string { return c.Image }),
		},
	}
}

func age(created metav1.Time) string {
	if created.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(created.Time))
}

func joined(containers []corev1.Container, text func(corev1.Container) string) string {
	texts := make([]string, 0, len(containers))
	for _, c := range containers {
		texts = append(texts, text(c))
	}
	return strings.Join(texts, ",")
}
