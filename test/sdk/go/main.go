// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command go plays the scenarios with the Go client, and prints a line for each.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/client"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
	"statefulset.dev/test/harness"
)

const limit = 2 * time.Minute

// play is the input of a scenario: clients for the sets of a namespace in which everything is
// allowed, and of one in which nothing is allowed.
type play struct {
	context.Context
	sets, others typed.StatefulSetInterface
}

type scenario struct {
	name string
	run  func(play) error
}

func main() {
	clients, namespace, err := client.Connect("")
	if err != nil {
		fmt.Fprintf(os.Stderr, "connecting: %v\n", err)
		os.Exit(1)
	}
	failed := false
	for _, s := range append(reads(), append(writes(), refusals()...)...) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		err := s.run(play{ctx, clients.AppsV1().StatefulSets(namespace), clients.AppsV1().StatefulSets("default")})
		cancel()
		line := map[string]string{"scenario": s.name}
		if err != nil {
			line["error"], failed = err.Error(), true
		}
		text, _ := json.Marshal(line)
		fmt.Println(string(text))
	}
	if failed {
		os.Exit(1)
	}
}

// want returns an error unless got equals wanted.
func want[T comparable](what string, got, wanted T) error {
	if got != wanted {
		return fmt.Errorf("%s: got %v, want %v", what, got, wanted)
	}
	return nil
}

// create creates a set without members, with a label with its own name.
func (p play) create(name string) error {
	set := harness.NewSet(name, 0)
	set.Labels = map[string]string{"play": name}
	_, err := p.sets.Create(p, set, metav1.CreateOptions{})
	return err
}
