// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
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

	"statefulset.dev/cmd/kubectl-sts/decide"
	"statefulset.dev/cmd/kubectl-sts/members"
	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// kubectl is the program name in help that refers to a command that only kubectl itself has, such
// as api-resources.
const kubectl = "kubectl"

// stockCommands returns the commands of kubectl that work on workloads. The others, about nodes,
// certificates or the configuration of kubectl, are the same for all kinds.
//
// Output to a terminal is escaped so that text from the cluster cannot control the terminal, except
// for the output of members and other programs.
func stockCommands(cluster genericclioptions.RESTClientGetter, factory cmdutil.Factory,
	streams genericiooptions.IOStreams) templates.CommandGroups {
	shown := terminal.GuardTerminals(streams)
	return templates.CommandGroups{
		{
			Message: "Rollouts and scaling:",
			Commands: []*cobra.Command{
				decide.WithDecisions(rollout.NewCmdRollout(kubectl, factory, shown), cluster, terminal.Guard(streams)),
				set.NewCmdSet(factory, shown),
				members.WithRemoval(scale.NewCmdScale(factory, shown), cluster, terminal.Guard(streams)),
				autoscale.NewCmdAutoscale(factory, shown),
			},
		},
		{
			Message: "Inspection:",
			Commands: []*cobra.Command{
				withNames(get.NewCmdGet(kubectl, factory, shown), factory),
				describe.NewCmdDescribe(kubectl, factory, shown),
				events.NewCmdEvents(factory, shown),
				logs.NewCmdLogs(factory, streams),
				explain.NewCmdExplain(kubectl, factory, shown),
			},
		},
		{
			Message: "Members:",
			Commands: []*cobra.Command{
				exec.NewCmdExec(factory, streams),
				attach.NewCmdAttach(factory, streams),
				portforward.NewCmdPortForward(factory, streams),
				withNames(debug.NewCmdDebug(factory, streams), factory),
				expose.NewCmdExposeService(factory, shown),
			},
		},
		{
			Message: "Changes:",
			Commands: []*cobra.Command{
				apply.NewCmdApply(kubectl, factory, shown),
				diff.NewCmdDiff(factory, streams),
				edit.NewCmdEdit(factory, streams),
				patch.NewCmdPatch(factory, shown),
				members.WithMembers(replace.NewCmdReplace(factory, shown), cluster, terminal.Guard(streams)),
				label.NewCmdLabel(factory, shown),
				annotate.NewCmdAnnotate(kubectl, factory, shown),
				members.WithOrder(delete.NewCmdDelete(factory, shown), cluster, terminal.Guard(streams)),
				wait.NewCmdWait(factory, shown),
			},
		},
	}
}

// withNames adds the completion of object names to a command whose package in kubectl cannot import
// the completion.
func withNames(command *cobra.Command, factory cmdutil.Factory) *cobra.Command {
	command.ValidArgsFunction = completion.ResourceTypeAndNameCompletionFunc(factory)
	return command
}
