// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command statefulset-apiserver serves StatefulSets of the group
// apps.statefulset.dev and runs their members in a host cluster.
package main

import (
	"context"
	"fmt"
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"statefulset.dev/controller"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == controller.TrialArgument {
		os.Exit(trial(context.Background()))
	}
	command, err := newCommand()
	if err == nil {
		err = command.ExecuteContext(genericapiserver.SetupSignalContext())
	}
	if err != nil {
		fatal(err)
	}
}

// fatal prints an error and ends the command with exit code 1.
func fatal(err error) {
	fmt.Fprintln(os.Stderr, oneLine(err))
	os.Exit(1)
}
