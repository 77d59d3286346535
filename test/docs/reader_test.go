//go:build docs

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"statefulset.dev/test/docs/page"
)

const (
	// patience is how long a command may take, and how long one that only asks is repeated.
	patience = 2 * time.Minute
	// patienceWithNodes is the same where processes start and end.
	patienceWithNodes = 6 * time.Minute
	// pause is between two attempts.
	pause = 300 * time.Millisecond
)

// reader does what a page says.
type reader struct {
	name string
	// dir has the files of the page, and home is where programs keep theirs.
	dir, home, path string
	// patience is how long a command may take.
	patience time.Duration
	// stands is what words stand for, which those who read replace by their own.
	stands *strings.Replacer
	// variables are those that the page has assigned.
	variables []string
	// namespace is where the reader is, empty if it has to be made.
	namespace string
	matcher   *page.Matcher
	// answers are what the page is to be filled with.
	answers []answer
}

func newReader(t *testing.T, p page.Page) *reader {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{
		name: strings.ToLower(path.Base(nameOf(p))), dir: t.TempDir(), home: t.TempDir(),
		patience: patience, stands: strings.NewReplacer(), matcher: page.NewMatcher(),
	}
	for name, target := range map[string]string{"artifacts": filepath.Join(here, "artifacts"), "test": filepath.Join(here, "test"),
		"bin": filepath.Join(here, "bin"), ".cluster": suite.Dir} {
		if err := os.Symlink(target, filepath.Join(r.dir, name)); err != nil {
			t.Fatalf("giving the page %s: %v", name, err)
		}
	}
	r.path = strings.Join([]string{suite.Dir, filepath.Join(here, "bin"), os.Getenv("PATH")}, string(os.PathListSeparator))
	return r
}

// keep writes a file of the page.
func (r *reader) keep(t *testing.T, name string, lines []string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatalf("keeping a file of the page: %v", err)
	}
}

// run plays a fence until a command is not as the page has it, and says whether all were.
func (r *reader) run(t *testing.T, path string, fence page.Fence) bool {
	t.Helper()
	commands, err := fence.Commands()
	if err != nil {
		t.Errorf("%s:%d: %v", path, fence.Line, err)
		return false
	}
	for _, c := range commands {
		if err := r.play(t, c); err != nil {
			var f *unexpected
			if !errors.As(err, &f) {
				t.Fatalf("%s:%d: %v", path, c.Line, err)
			}
			t.Error(failure(path, c.Line, c.Text, strings.Join(c.Want, "\n"), f.got, f.why))
			return false
		}
	}
	return true
}

// unexpected is what a command did in the place of what the page says.
type unexpected struct {
	why error
	got string
}

func (u *unexpected) Error() string { return fmt.Sprintf("%v: %s", u.why, u.got) }

// play runs a command, and compares what it does with the page.
func (r *reader) play(t *testing.T, c page.Command) error {
	t.Helper()
	if r.namespace == "" {
		r.enter(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), r.patience)
	defer cancel()
	if asked(c) {
		r.answer(ctx, c)
		return nil
	}
	for {
		got, err := r.shell(ctx, c.Text)
		why := r.judge(c, got, err)
		if why == nil {
			return nil
		}
		if !c.Repeatable() || ctx.Err() != nil {
			return &unexpected{why, got}
		}
		select {
		case <-ctx.Done():
			return &unexpected{why, got}
		case <-time.After(pause):
		}
	}
}

func (r *reader) judge(c page.Command, got string, err error) error {
	switch {
	case err != nil && !c.Fails():
		return err
	case err == nil && c.Fails():
		return errors.New("the page shows an error, and it succeeded")
	case len(c.Want) == 0:
		return nil
	}
	return r.matcher.Match(c.Want, got)
}

// shell gives a command to bash. Readers are in the namespace default, so that is what the output has.
func (r *reader) shell(ctx context.Context, text string) (string, error) {
	variable := page.Command{Text: text}.Assigns()
	if variable != "" {
		// What the command tells people goes elsewhere.
		text += " && printf %s \"$" + variable + "\" >\"$HOME/" + variable + "\""
	}
	cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", r.stands.Replace(text))
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(r.home, "kubeconfig"), "HOME="+r.home, "PATH="+r.path)
	// What was built for clusters stays where it is.
	if cache, err := os.UserCacheDir(); err == nil {
		cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+cache)
	}
	cmd.Env = append(cmd.Env, r.variables...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("it took more than %s: %w", r.patience, err)
	}
	if variable != "" && err == nil {
		value, err := os.ReadFile(filepath.Join(r.home, variable))
		r.variables = append(r.variables, variable+"="+string(value))
		return "", err
	}
	return strings.ReplaceAll(string(out), r.namespace, "default"), err
}

// enter makes a namespace, and goes there.
func (r *reader) enter(t *testing.T) {
	t.Helper()
	r.namespace = suite.Namespace(t, "docs-"+r.name)
	config, err := clientcmd.LoadFromFile(suite.Kubeconfig())
	if err != nil {
		t.Fatalf("reading the cluster's kubeconfig: %v", err)
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		t.Fatalf("reading the cluster's kubeconfig: %v", err)
	}
	for _, c := range config.Contexts {
		c.Namespace = r.namespace
	}
	if err := clientcmd.WriteToFile(*config, filepath.Join(r.home, "kubeconfig")); err != nil {
		t.Fatalf("writing the reader's kubeconfig: %v", err)
	}
}

// command is what stands in no page.
func command(text string, want ...string) page.Command { return page.Command{Text: text, Want: want} }
