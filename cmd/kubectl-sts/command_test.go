// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// asCommand makes the test binary be the command, which ends its process.
const asCommand = "BE_KUBECTL_STS"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// nowhere is the kubeconfig of a cluster that does not answer.
const nowhere = `{"clusters":[{"name":"n","cluster":{"server":"https://127.0.0.1:1"}}],"contexts":[{"name":"n","context":{"cluster":"n","user":"n"}}],"users":[{"name":"n","user":{"token":"none"}}],"current-context":"n"}`

// runCommand runs the command to its end, without a cluster.
func runCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("finding the test binary: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = args
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, []byte(nowhere), 0o600); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	cmd.Env = append(os.Environ(), asCommand+"=1", "KUBECONFIG="+config)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

func testCommand() *cobra.Command { return newCommand(genericiooptions.NewTestIOStreamsDiscard()) }

func TestHelpSpeaksOfThePlugin(t *testing.T) {
	root := testCommand()
	mentioned := regexp.MustCompile(`\bkubectl ([a-z][a-z-]*)`)
	eachCommand(root, func(command *cobra.Command) {
		if command.CommandPath() != "kubectl sts" && !strings.HasPrefix(command.CommandPath(), "kubectl sts ") {
			t.Errorf("a command is called %q, want it to begin with kubectl sts", command.CommandPath())
		}
		for _, mention := range mentioned.FindAllStringSubmatch(command.Long+command.Example, -1) {
			found, _, err := root.Find([]string{mention[1]})
			if err == nil && found != root {
				t.Errorf("the help of %q says %q, want kubectl sts %s", command.CommandPath(), mention[0], mention[1])
			}
		}
	})
}

func TestExamplesAreThoseOfCommandsThatExist(t *testing.T) {
	root := testCommand()
	for _, path := range []string{
		"rollout", "rollout status", "rollout history", "rollout undo", "rollout restart", "set image", "set env", "set resources",
		"set serviceaccount", "scale", "autoscale", "get", "describe", "events", "logs", "explain", "exec", "attach", "port-forward", "debug",
		"edit", "wait", "delete",
	} {
		command, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			t.Errorf("there is no command %q: %v", path, err)
			continue
		}
		own, ok := exampleOf(command.CommandPath())
		if !ok || command.Example != own || !strings.Contains(own, command.CommandPath()) {
			t.Errorf("the example of %q is %q, want one with StatefulSets", path, command.Example)
		}
	}
}

func TestEveryLeafHasAnExample(t *testing.T) {
	eachCommand(testCommand(), func(command *cobra.Command) {
		if command.Runnable() && !command.HasSubCommands() && command.Example == "" && command.Name() != "options" {
			t.Errorf("%q has no example", command.CommandPath())
		}
	})
}

func TestArgumentsFollowTheNameOfTheProgram(t *testing.T) {
	for sentence, c := range map[string]struct{ program, want []string }{
		"the plugin":          {[]string{"/usr/local/bin/kubectl-sts", "get", "sts"}, []string{"get", "sts"}},
		"the completion":      {[]string{"/usr/local/bin/kubectl_complete-sts", "get", ""}, []string{"__complete", "get", ""}},
		"the one for Windows": {[]string{"kubectl_complete-sts.exe", "ro"}, []string{"__complete", "ro"}},
		"a name of one's own": {[]string{"sts", "get"}, []string{"get"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := arguments(c.program); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	for sentence, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"without arguments it helps": {[]string{"kubectl-sts"}, 0, "Usage:\n  kubectl sts ", "^$"},
		"help points to the plugin": {
			[]string{"kubectl-sts", "rollout", "--help"}, 0, `Use "kubectl sts rollout <command> --help" for more`, "^$"},
		"an unknown command is named": {[]string{"kubectl-sts", "rolout"}, 1, "^$", `unknown command "rolout" for "kubectl sts"`},
		"an unknown flag is named": {[]string{"kubectl-sts", "rollout", "status", "--revison=1"}, 1, "^$",
			`unknown flag: --revison\nSee 'kubectl sts rollout status --help' for usage.`},
		"a cluster that does not answer is reported once": {[]string{"kubectl-sts", "get", "sts"}, 1, "^$",
			`^The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port\?\n$`},
		"the names of commands are completed": {[]string{"kubectl_complete-sts", "roll"}, 0, "^rollout\t", "ShellCompDirectiveNoFileComp"},
		"the subcommands of a command are completed": {
			[]string{"kubectl_complete-sts", "rollout", "un"}, 0, "^undo\t", "ShellCompDirectiveNoFileComp"},
	} {
		t.Run(sentence, func(t *testing.T) {
			code, stdout, stderr := runCommand(t, c.args...)
			if code != c.code || !regexp.MustCompile(c.stdout).MatchString(stdout) || !regexp.MustCompile(c.stderr).MatchString(stderr) {
				t.Errorf("%q: got exit code %d\n%s%s\nwant %d, %q and %q", c.args, code, stdout, stderr, c.code, c.stdout, c.stderr)
			}
		})
	}
}
