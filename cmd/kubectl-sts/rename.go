// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// rename writes "kubectl sts" in the help of kubectl's commands, and uses the examples of exampleOf
// where it has one. Commands that the plugin does not have keep their names, because only kubectl
// itself has them.
func rename(root *cobra.Command) {
	mentioned := regexp.MustCompile(`\bkubectl ([a-z][a-z-]*)`)
	renamed := func(text string) string {
		return mentioned.ReplaceAllStringFunc(text, func(mention string) string {
			name := mentioned.FindStringSubmatch(mention)[1]
			if found, _, err := root.Find([]string{name}); err != nil || found == root {
				return mention
			}
			return root.CommandPath() + " " + name
		})
	}
	renameUsage(root)
	eachCommand(root, func(command *cobra.Command) {
		if command == root {
			return
		}
		command.Short, command.Long = renamed(command.Short), renamed(command.Long)
		if own, ok := exampleOf(command.CommandPath()); ok {
			command.Example = own
		} else {
			command.Example = renamed(command.Example)
		}
	})
}

// renameUsage corrects the one line in which kubectl's template prints the name of the program
// instead of its title.
func renameUsage(root *cobra.Command) {
	stock := root.UsageFunc()
	root.SetUsageFunc(func(command *cobra.Command) error {
		out := command.OutOrStderr()
		var text bytes.Buffer
		command.SetOut(&text)
		defer command.SetOut(out)
		if err := stock(command); err != nil {
			return err
		}
		_, err := strings.NewReplacer(root.Name()+" ", root.CommandPath()+" ").WriteString(out, text.String())
		return err
	})
}

func eachCommand(command *cobra.Command, do func(*cobra.Command)) {
	do(command)
	for _, below := range command.Commands() {
		eachCommand(below, do)
	}
}
