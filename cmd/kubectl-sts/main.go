// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-sts is a plugin for kubectl: "kubectl sts" is kubectl for StatefulSets of the group
// apps.statefulset.dev. Under the name kubectl_complete-sts it completes what is typed after "kubectl sts".
package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"statefulset.dev/cmd/kubectl-sts/adapter"
)

// completer is the name under which kubectl looks for a program that completes the arguments of this plugin.
const completer = "kubectl_complete-sts"

func main() {
	adapter.Install()
	quietDiscovery()
	command := newCommand(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	command.SetArgs(arguments(os.Args))
	cmdutil.CheckErr(cli.RunNoErrOutput(command))
}

// arguments returns the arguments of the command for those of the program.
func arguments(program []string) []string {
	name := strings.TrimSuffix(filepath.Base(program[0]), ".exe")
	if name == completer {
		return append([]string{cobra.ShellCompRequestCmd}, program[1:]...)
	}
	return program[1:]
}
