// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	cliresource "k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/describe"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/terminal"
	"statefulset.dev/identity"
)

func describer(others describe.DescriberFunc) describe.DescriberFunc {
	return func(cluster genericclioptions.RESTClientGetter, mapping *meta.RESTMapping) (describe.ResourceDescriber, error) {
		if mapping.GroupVersionKind.GroupKind() != ours() {
			return others(cluster, mapping)
		}
		adapted, err := configOfAppsV1(cluster)
		if err != nil {
			return nil, err
		}
		stock, ok := describe.DescriberFor(builtIn(), adapted)
		if !ok {
			return nil, fmt.Errorf("kubectl does not describe %s", builtIn())
		}
		config, err := cluster.ToRESTConfig()
		if err != nil {
			return nil, err
		}
		sets, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("creating a client: %w", err)
		}
		host, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("creating a client: %w", err)
		}
		return setDescriber{stock: stock, sets: sets, host: host}, nil
	}
}

// setDescriber prints the description that kubectl prints for a set of apps/v1, then the parts that
// only our sets have, then the events.
type setDescriber struct {
	stock describe.ResourceDescriber
	sets  dynamic.Interface
	host  kubernetes.Interface
}

func (d setDescriber) Describe(namespace, name string, settings describe.DescriberSettings) (string, error) {
	ctx := context.TODO() // kubectl passes no context to a describer.
	set, err := d.sets.Resource(v1.SchemeGroupVersion.WithResource(resource)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	withoutEvents := settings
	withoutEvents.ShowEvents = false
	described, err := d.stock.Describe(namespace, name, withoutEvents)
	if err != nil {
		return "", err
	}
	text := bytes.NewBufferString(described)
	if err := describeOwn(text, set); err != nil {
		return "", err
	}
	if settings.ShowEvents {
		d.describeEvents(ctx, text, set, settings.ChunkSize)
	}
	return terminal.Text(text.String()), nil
}

// describeOwn writes the conditions, the user actions, and the fields that apps/v1 does not have.
func describeOwn(out io.Writer, set *unstructured.Unstructured) error {
	typed := &v1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(set.Object, typed); err != nil {
		return fmt.Errorf("reading StatefulSet %q: %w", set.GetName(), err)
	}
	describeConditions(out, typed.Status.Conditions)
	describeUserActions(out, typed)
	additional, err := unknownToBuiltIn(set.Object)
	if err != nil || len(additional) == 0 {
		return err
	}
	text, err := yaml.Marshal(additional)
	if err != nil {
		return fmt.Errorf("printing the additional fields of StatefulSet %q: %w", set.GetName(), err)
	}
	fmt.Fprintf(out, "Fields that apps/v1 does not have:\n  %s\n", strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  "))
	return nil
}

func describeConditions(out io.Writer, conditions []v1.StatefulSetCondition) {
	if len(conditions) == 0 {
		return
	}
	tabs := columns(out)
	defer func() { _ = tabs.Flush() }() // into memory
	fmt.Fprint(tabs, "Conditions:\n  Type\tStatus\tReason\tMessage\n  ----\t------\t------\t-------\n")
	for _, c := range conditions {
		fmt.Fprintf(tabs, "  %s\t%s\t%s\t%s\n", terminal.Line(string(c.Type)), terminal.Line(string(c.Status)), terminal.Line(c.Reason),
			terminal.Line(c.Message))
	}
}

func describeUserActions(out io.Writer, set *v1.StatefulSet) {
	if len(set.Status.UserActions) == 0 {
		return
	}
	fmt.Fprint(out, "User Actions:\n")
	for i := range set.Status.UserActions {
		fmt.Fprintf(out, "  %s\n", terminal.Line(identity.DescribeUserAction(set.Name, &set.Status.UserActions[i])))
	}
}

// describeEvents prints no events if they cannot be read, as kubectl does.
func (d setDescriber) describeEvents(ctx context.Context, out io.Writer, set *unstructured.Unstructured, chunk int64) {
	events := d.host.CoreV1().Events(set.GetNamespace())
	name, namespace, kind, uid := set.GetName(), set.GetNamespace(), set.GetKind(), string(set.GetUID())
	options := metav1.ListOptions{FieldSelector: events.GetFieldSelector(&name, &namespace, &kind, &uid).String(), Limit: chunk}
	found := &corev1.EventList{}
	err := cliresource.FollowContinue(&options, func(page metav1.ListOptions) (runtime.Object, error) {
		list, err := events.List(ctx, page)
		if err != nil {
			return nil, cliresource.EnhanceListError(err, page, "events")
		}
		found.Items = append(found.Items, list.Items...)
		return list, nil
	})
	if err != nil {
		return
	}
	tabs := columns(out)
	defer func() { _ = tabs.Flush() }() // into memory
	describe.DescribeEvents(found, describe.NewPrefixWriter(tabs))
}

// columns aligns columns as kubectl does in a description.
func columns(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 8, 2, ' ', 0) }
