// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/annotate"
	"k8s.io/kubectl/pkg/cmd/apply"
	"k8s.io/kubectl/pkg/cmd/attach"
	"k8s.io/kubectl/pkg/cmd/autoscale"
	"k8s.io/kubectl/pkg/cmd/debug"
	"k8s.io/kubectl/pkg/cmd/delete"
	"k8s.io/kubectl/pkg/cmd/describe"
	"k8s.io/kubectl/pkg/cmd/diff"
	"k8s.io/kubectl/pkg/cmd/edit"
	"k8s.io/kubectl/pkg/cmd/events"
	"k8s.io/kubectl/pkg/cmd/exec"
	"k8s.io/kubectl/pkg/cmd/explain"
	"k8s.io/kubectl/pkg/cmd/expose"
	"k8s.io/kubectl/pkg/cmd/get"
	"k8s.io/kubectl/pkg/cmd/label"
	"k8s.io/kubectl/pkg/cmd/logs"
	"k8s.io/kubectl/pkg/cmd/patch"
	"k8s.io/kubectl/pkg/cmd/portforward"
	"k8s.io/kubectl/pkg/cmd/replace"
	"k8s.io/kubectl/pkg/cmd/rollout"
	"k8s.io/kubectl/pkg/cmd/scale"
	"k8s.io/kubectl/pkg/cmd/set"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/cmd/wait"
	"k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"
)

// kubectl is named where a command points to one that only kubectl itself has, such as api-resources.
const kubectl = "kubectl"

// stockCommands are those commands of kubectl that have to do with a workload. The others, about nodes, certificates or
// the configuration of kubectl, are the same for all kinds.
func stockCommands(factory cmdutil.Factory, streams genericiooptions.IOStreams) templates.CommandGroups {
	return templates.CommandGroups{
		{
			Message: "Rollouts and size:",
			Commands: []*cobra.Command{
				rollout.NewCmdRollout(kubectl, factory, streams),
				set.NewCmdSet(factory, streams),
				scale.NewCmdScale(factory, streams),
				autoscale.NewCmdAutoscale(factory, streams),
			},
		},
		{
			Message: "Looking:",
			Commands: []*cobra.Command{
				withNames(get.NewCmdGet(kubectl, factory, streams), factory),
				describe.NewCmdDescribe(kubectl, factory, streams),
				events.NewCmdEvents(factory, streams),
				logs.NewCmdLogs(factory, streams),
				explain.NewCmdExplain(kubectl, factory, streams),
			},
		},
		{
			Message: "Members:",
			Commands: []*cobra.Command{
				exec.NewCmdExec(factory, streams),
				attach.NewCmdAttach(factory, streams),
				portforward.NewCmdPortForward(factory, streams),
				withNames(debug.NewCmdDebug(factory, streams), factory),
				expose.NewCmdExposeService(factory, streams),
			},
		},
		{
			Message: "Changing:",
			Commands: []*cobra.Command{
				apply.NewCmdApply(kubectl, factory, streams),
				diff.NewCmdDiff(factory, streams),
				edit.NewCmdEdit(factory, streams),
				patch.NewCmdPatch(factory, streams),
				replace.NewCmdReplace(factory, streams),
				label.NewCmdLabel(factory, streams),
				annotate.NewCmdAnnotate(kubectl, factory, streams),
				delete.NewCmdDelete(factory, streams),
				wait.NewCmdWait(factory, streams),
			},
		},
	}
}

// withNames completes the names of objects for a command that cannot import what does it.
func withNames(command *cobra.Command, factory cmdutil.Factory) *cobra.Command {
	command.ValidArgsFunction = completion.ResourceTypeAndNameCompletionFunc(factory)
	return command
}
