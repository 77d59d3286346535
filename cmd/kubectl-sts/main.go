// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-sts is a plugin for kubectl: "kubectl sts" is kubectl for StatefulSets of the
// group apps.statefulset.dev. Under the name kubectl_complete-sts it completes what is typed after
// "kubectl sts".
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"statefulset.dev/cmd/kubectl-sts/adapter"
	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// completer is the name under which kubectl looks for a program that completes the arguments of
// this plugin.
const completer = "kubectl_complete-sts"

func main() {
	adapter.Install()
	quietDiscovery()
	cmdutil.BehaviorOnFatal(printAndExit)
	command := newCommand(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	command.SetArgs(arguments(os.Args))
	cmdutil.CheckErr(cli.RunNoErrOutput(command))
}

// printAndExit prints an error and ends the program. The text may contain text from the cluster, so
// control characters in it are escaped.
func printAndExit(message string, code int) {
	if message != "" {
		fmt.Fprintln(os.Stderr, terminal.Text(strings.TrimSuffix(message, "\n")))
	}
	os.Exit(code)
}

// arguments returns the arguments of the root command for the arguments of the program.
func arguments(program []string) []string {
	name := strings.TrimSuffix(filepath.Base(program[0]), ".exe")
	if name == completer {
		return append([]string{cobra.ShellCompRequestCmd}, program[1:]...)
	}
	return program[1:]
}
