// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"slices"
	"strings"
	"testing"

	"statefulset.dev/test/docs/page"
)

func fence(info string, lines ...string) page.Fence {
	return page.Fence{Line: 10, Info: info, Lines: lines}
}

func TestUseOfFences(t *testing.T) {
	for sentence, c := range map[string]struct {
		fence page.Fence
		want  page.Use
		fails string
	}{
		"commands":                      {fence: fence("console", "$ kubectl get sset"), want: page.Use{Run: true}},
		"commands in another namespace": {fence: fence("console fresh", "$ kubectl get sset"), want: page.Use{Run: true, Fresh: true}},
		"commands that need the cluster for themselves": {
			fence: fence("console alone", "$ kubectl get sset"), want: page.Use{Run: true, Alone: true}},
		"commands on real nodes": {
			fence: fence("console nodes", "$ kubectl get sset"), want: page.Use{Run: true, Nodes: true}},
		"commands on real nodes that have one server": {
			fence: fence("console nodes single", "$ kubectl get sset"), want: page.Use{Run: true, Nodes: true, Installed: "single"}},
		"commands on nodes that there are not": {fence: fence("console nodes two", "$ kubectl get sset"), fails: "one of bare, single, ha"},
		"commands that are not run": {
			fence: fence("console norun needs real nodes", "$ make demo"), want: page.Use{NotRun: "needs real nodes"}},
		"commands that are not run, no why": {fence: fence("console norun", "$ make demo"), fails: "does not say why"},
		"a word that there is not":          {fence: fence("console skip", "$ make demo"), fails: "want ```console"},
		"no command":                        {fence: fence("console", "make demo"), fails: "is output before any command"},
		"nothing":                           {fence: fence("console"), fails: "the fence has no command"},
		"no language":                       {fence: fence("", "kubectl get sset"), fails: "want console for commands"},
		"a shell":                           {fence: fence("sh", "kubectl get sset"), fails: "want console for commands"},
		"a listing":                         {fence: fence("text", "web-0"), want: page.Use{}},
		"a listing with a command":          {fence: fence("text", "$ kubectl get sset"), fails: "want console"},
		"a file":                            {fence: fence("yaml db.yaml", "kind: StatefulSet"), want: page.Use{File: "db.yaml"}},
		"a file somewhere else":             {fence: fence("yaml ../db.yaml", "kind: StatefulSet"), fails: "want the name of one file"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := c.fence.Use()
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got error %v, want one with %q", err, c.fails)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %+v and %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestCommandsOfAFence(t *testing.T) {
	got, err := fence("console", "$ cat >f <<EOF", "> a", ">", "> EOF", "$ kubectl get \\", "  sset", "NAME", "", "web", "",
		"$ kubectl delete sset web", "error: no").Commands()
	if err != nil {
		t.Fatal(err)
	}
	want := []page.Command{
		{Line: 11, Text: "cat >f <<EOF\na\n\nEOF"},
		{Line: 15, Text: "kubectl get \\\n  sset", Want: []string{"NAME", "", "web"}},
		{Line: 21, Text: "kubectl delete sset web", Want: []string{"error: no"}},
	}
	same := func(a, b page.Command) bool {
		return a.Line == b.Line && a.Text == b.Text && slices.Equal(a.Want, b.Want)
	}
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got[1].Fails() || !got[2].Fails() {
		t.Errorf("the second fails: %v, the third fails: %v; want only the third, which prints an error", got[1].Fails(), got[2].Fails())
	}
}

func TestWhatIsShownToFail(t *testing.T) {
	for line, want := range map[string]bool{
		"error: nothing was changed":                                         true,
		"command terminated with exit code 1":                                true,
		`Error from server (Forbidden): set default/db is protected`:         true,
		`The StatefulSet "web" is invalid: spec.replicas: Invalid value: -1`: true,
		"The set is there":            false,
		"no error: all is well":       false,
		"Warning: spec.paused is set": false,
	} {
		if got := (page.Command{Want: []string{line}}).Fails(); got != want {
			t.Errorf("%q fails: got %v, want %v", line, got, want)
		}
	}
}

func TestWhatIsRepeated(t *testing.T) {
	for command, want := range map[string]bool{
		"kubectl get pods":                          true,
		"kubectl sts plan -f web.yaml":              true,
		"kubectl sts rollout status statefulset/db": true,
		"kubectl rollout undo statefulset/db":       false,
		"kubectl sts replace db-2 --wait":           false,
		"kubectl -n other logs deployment/web":      true,
		"kubectl -n other delete pod db-0":          false,
		"A=$(kubectl get pod db-0 -o name)":         true,
		"A=$(kubectl create token db)":              false,
		"kubectl apply -f web.yaml":                 false,
		"kubectl get pods; kubectl delete pod db-0": false,
		"make demo": false,
	} {
		if got := (page.Command{Text: command}).Repeatable(); got != want {
			t.Errorf("%s is repeated: got %v, want %v", command, got, want)
		}
	}
}

func TestWhatIsAssigned(t *testing.T) {
	for command, want := range map[string]string{
		"LOST=$(kubectl get pod web-1 -o jsonpath='{.spec.nodeName}')": "LOST",
		"LOST=n1 kubectl get pods":                                     "",
		"echo LOST=$(date)":                                            "",
	} {
		if got := (page.Command{Text: command}).Assigns(); got != want {
			t.Errorf("%s assigns: got %q, want %q", command, got, want)
		}
	}
}

const text = `# A page, of sorts

See [there](there.md#a-part) and [the site](https://example.test/a.md), and ` + "`[not](this.md)`" + `.

* an item

  of two paragraphs

      with code

1. another:

   ` + "```console" + `
   $ true
   ` + "```" + `

    code
`

func TestParse(t *testing.T) {
	p := page.Parse("docs/a.md", text)
	if len(p.Fences) != 1 || p.Fences[0].Line != 13 || !slices.Equal(p.Fences[0].Lines, []string{"$ true"}) {
		t.Errorf("fences: got %+v, want one at line 13 with the command true", p.Fences)
	}
	if want := []page.Link{{Line: 3, Target: "there.md", Anchor: "a-part"}}; !slices.Equal(p.Links, want) {
		t.Errorf("links: got %v, want %v", p.Links, want)
	}
	if want := []int{9}; !slices.Equal(p.Indented, want) {
		t.Errorf("indented code: got lines %v, want %v", p.Indented, want)
	}
	if !p.Anchors["a-page-of-sorts"] {
		t.Errorf("anchors: got %v, want a-page-of-sorts", p.Anchors)
	}
}
