// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

func TestListsAreSelectedAndPaged(t *testing.T) {
	s := Start(t)
	for _, name := range []string{"a", "b", "c"} {
		set := Web(name)
		set.Labels = map[string]string{"first": map[bool]string{true: "yes", false: "no"}[name == "a"]}
		s.Create(t, set)
	}
	tests := map[string]struct {
		options metav1.ListOptions
		want    []string
	}{
		"all":           {metav1.ListOptions{}, []string{"a", "b", "c"}},
		"by label":      {metav1.ListOptions{LabelSelector: "first=no"}, []string{"b", "c"}},
		"by name":       {metav1.ListOptions{FieldSelector: "metadata.name=b"}, []string{"b"}},
		"by page":       {metav1.ListOptions{Limit: 2}, []string{"a", "b"}},
		"from a cache":  {metav1.ListOptions{ResourceVersion: "0"}, []string{"a", "b", "c"}},
		"by no such ns": {metav1.ListOptions{FieldSelector: "metadata.namespace=other"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s.Eventually(t, "the list is right", func(context.Context) error { // a cache may lag behind
				if got := s.names(t, test.options); !slices.Equal(got, test.want) {
					return fmt.Errorf("names: got %q, want %q", got, test.want)
				}
				return nil
			})
		})
	}
}

func TestAWatchSeesEveryChange(t *testing.T) {
	s := Start(t)
	watcher, err := s.Sets().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("watching: %v", err)
	}
	defer watcher.Stop()

	set := s.Create(t, Web("web"))
	expectEvent(t, watcher, watch.Added, "web", 1)
	set.Spec.Replicas = ptr.To[int32](4)
	if _, err := s.Sets().Update(t.Context(), set, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("updating: %v", err)
	}
	expectEvent(t, watcher, watch.Modified, "web", 2)
	if err := s.Sets().Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting: %v", err)
	}
	expectEvent(t, watcher, watch.Deleted, "web", 2)
}

func TestAWatchCanBeginWithTheListAndABookmark(t *testing.T) {
	s := Start(t)
	s.Create(t, Web("a"))
	watcher, err := s.Sets().Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents:    new(true),
		AllowWatchBookmarks:  true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		t.Fatalf("watching: %v", err)
	}
	defer watcher.Stop()
	expectEvent(t, watcher, watch.Added, "a", 1)
	bookmark := nextEvent(t, watcher)
	set, ok := bookmark.Object.(*v1.StatefulSet)
	if bookmark.Type != watch.Bookmark || !ok || set.Annotations[metav1.InitialEventsAnnotationKey] != "true" || set.ResourceVersion == "" {
		t.Errorf("after the list: got %s %+v, want a bookmark that ends the initial events", bookmark.Type, bookmark.Object)
	}
}

func TestSetsArePrintedAsATable(t *testing.T) {
	s := Start(t)
	s.Create(t, Web("web"))
	table := &metav1.Table{}
	err := s.Clients.AppsV1().RESTClient().Get().Namespace(Namespace).Resource("statefulsets").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Into(table)
	if err != nil {
		t.Fatalf("getting the table: %v", err)
	}
	var columns []string
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, c.Name)
	}
	if want := []string{"Name", "Ready", "Age", "Containers", "Images"}; !slices.Equal(columns, want) {
		t.Errorf("columns: got %q, want %q", columns, want)
	}
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != 5 || table.Rows[0].Cells[1] != "0/3" || table.Rows[0].Cells[4] != "nginx:1" {
		t.Errorf("rows: got %+v, want one with 0/3 ready and image nginx:1", table.Rows)
	}
}

func expectEvent(t *testing.T, watcher watch.Interface, kind watch.EventType, name string, generation int64) {
	t.Helper()
	event := nextEvent(t, watcher)
	set, ok := event.Object.(*v1.StatefulSet)
	if !ok || event.Type != kind || set.Name != name || set.Generation != generation {
		t.Fatalf("event: got %s %+v, want %s of %s in generation %d", event.Type, event.Object, kind, name, generation)
	}
}

func nextEvent(t *testing.T, watcher watch.Interface) watch.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	select {
	case event, ok := <-watcher.ResultChan():
		if !ok {
			t.Fatal("the watch ended")
		}
		return event
	case <-ctx.Done():
		t.Fatalf("no event within %s", Patience)
		return watch.Event{}
	}
}
