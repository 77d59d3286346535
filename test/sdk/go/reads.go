// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/client"
)

func reads() []scenario {
	return []scenario{{"pages", pages}, {"watch", watched}, {"resume", resumed}, {"410", expired}}
}

func pages(p play) error {
	names := []string{"page-0", "page-1", "page-2", "page-3", "page-4"}
	for _, name := range names {
		if err := p.create(name); err != nil {
			return err
		}
	}
	var found []string
	pages := 0
	for options := (metav1.ListOptions{Limit: 2, LabelSelector: "play in (page-0,page-1,page-2,page-3,page-4)"}); ; pages++ {
		list, err := p.sets.List(p, options)
		if err != nil {
			return err
		}
		for i := range list.Items {
			found = append(found, list.Items[i].Name)
		}
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	if !slices.Equal(found, names) || pages < 1 {
		return fmt.Errorf("got %q in %d pages, want %q in several", found, pages+1, names)
	}
	return nil
}

// follow plays the life of a set, and checks that a watch reports each change once.
func (p play) follow(name string) error {
	list, err := p.sets.List(p, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := p.create(name); err != nil {
		return err
	}
	for _, value := range []string{"1", "2", "3"} {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"step":%q}}}`, value)
		if _, err := client.Patch(p, p.sets, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	if err := p.sets.Delete(p, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	var told []string
	for change, err := range client.Watch(p, p.sets,
		metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: "play=" + name}) {
		if err != nil {
			return err
		}
		step := string(change.Type) + change.Set.Annotations["step"]
		// The controller writes the status meanwhile.
		if len(told) == 0 || told[len(told)-1] != step && step != "MODIFIED" {
			told = append(told, step)
		}
		if change.Type == "DELETED" {
			break
		}
	}
	wanted := []string{"ADDED", "MODIFIED1", "MODIFIED2", "MODIFIED3", "DELETED3"}
	if !slices.Equal(told, wanted) {
		return fmt.Errorf("got %q, want %q", told, wanted)
	}
	return nil
}

func watched(p play) error { return p.follow("watched") }

// resumed is disconnected twice by the proxy.
func resumed(p play) error { return p.follow("cut") }

func expired(p play) error {
	for _, err := range client.Watch(p, p.sets, metav1.ListOptions{ResourceVersion: "1"}) {
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			return fmt.Errorf("got error %w, want an error that the resource version is too old", err)
		}
		return nil
	}
	return errors.New("the watch ended without an error")
}
