// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

var update = flag.Bool("update", false, "write what the planner does now into testdata/sequences")

const separator = "----------\n"

// TestSequences plays the script in the first half of every file below
// testdata/sequences and compares what the planner did with the second half.
//
// Commands: "set key=value..." changes the set; "look" computes and carries out one
// plan; "settle" lets a willing kubelet work until nothing is left to do; "ready",
// "unready", "fail", "succeed", "kill" and "gone" happen to the pods named; "wait
// 10s" lets time pass; "skew 720h" sets the clock of the controller ahead of that of the host;
// "unprove" removes managed fields; "refuse TEXT: ERROR" makes actions fail; "allow" ends that;
// "replace" asks for the pods named to be replaced, as a forced request does; "hold" and "unhold" set
// and remove the annotation; "show" prints what is there; move has the commands about sets that come
// from another group, ail those about pods that do not start, elect those about who leads, decide
// those about steps, agree those about gates, restartCommand those about updates in place,
// objectCommand those about objects beside pods, and trouble those that make a run unfair.
func TestSequences(t *testing.T) {
	files, err := filepath.Glob("testdata/sequences/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("finding scripts: %v, %d found", err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(content), separator)
			got := play(t, Compute, script)
			if *update {
				if err := os.WriteFile(file, []byte(script+separator+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("the planner did\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// play carries out a script with a planner and returns what happened, line by line.
func play(t tester, compute func(World) Plan, script string) string {
	s := &stage{host: newHost(t, compute)}
	s.play(script)
	return s.story()
}

// play carries out a script, line by line.
func (s *stage) play(script string) {
	for line := range strings.SplitSeq(script, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			s.tell(words)
		}
	}
}

// tell carries out one command and logs it.
func (s *stage) tell(words []string) {
	fmt.Fprintf(&s.log, "> %s\n", strings.Join(words, " "))
	s.command(words[0], words[1:])
	s.noticed(actorOf(words[0]))
	s.remember()
}

// story is what happened so far. Names of revisions are hashes; the order of their
// appearance reads better.
func (s *stage) story() string {
	text := s.log.String()
	for i, name := range s.seen {
		text = strings.ReplaceAll(text, name, fmt.Sprintf("rev%d", i+1))
	}
	return text
}

type stage struct {
	*host
	// script are the commands of a sequence that was drawn.
	script []string
	log    strings.Builder
	seen   []string
	// left is the status of the set that the present one takes over from.
	left v1.StatefulSetStatus
}

func (s *stage) command(name string, args []string) {
	switch name {
	case "set":
		s.configure(args)
	case "replace":
		s.each(args, s.ask)
	case "look":
		s.lookAndTell()
	case "settle":
		s.settle()
	case "ready":
		s.each(args, func(pod string) { s.ready(pod, corev1.ConditionTrue) })
	case "unready":
		s.each(args, func(pod string) { s.ready(pod, corev1.ConditionFalse) })
	case "fail":
		s.each(args, func(pod string) { s.end(pod, corev1.PodFailed) })
	case "succeed":
		s.each(args, func(pod string) { s.end(pod, corev1.PodSucceeded) })
	case "kill":
		s.eachPod(args, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: s.now} })
	case "gone":
		s.each(args, func(name string) { s.gone(name) })
	case "orphan":
		s.eachPod(args, func(pod *corev1.Pod) { pod.OwnerReferences = nil })
	case "steal":
		s.eachPod(args, func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{stranger()} })
	case "unlabel":
		s.eachPod(args, func(pod *corev1.Pod) { delete(pod.Labels, "app") })
	case "mislabel":
		s.eachPod(args, func(pod *corev1.Pod) { pod.Labels["statefulset.kubernetes.io/pod-name"] = "x" })
	case "hold":
		s.hold(args)
	case "unhold":
		s.set.Annotations = nil
	case "deleteset":
		s.set.DeletionTimestamp = &metav1.Time{Time: s.now}
	case "killclaim":
		s.each(args, s.killClaim)
	case "dropclaim":
		s.each(args, func(claim string) { delete(s.claims, claim) })
	case "refuse":
		what, why, _ := strings.Cut(strings.Join(args, " "), ": ")
		s.refuse[what] = refusalFor(why)
	case "allow":
		clear(s.refuse)
	case "wait":
		duration, err := time.ParseDuration(args[0])
		if err != nil {
			s.t.Fatalf("reading %q as a duration: %v", args[0], err)
		}
		s.now = s.now.Add(duration)
	case "skew":
		s.setSkew(args[0])
	case "unprove":
		s.unprove(args)
	case "show":
		s.show()
	default:
		if !s.objectCommand(name, args) && !s.move(name, args) && !s.ail(name, args) && !s.elect(name, args) && !s.decide(name, args) &&
			!s.agree(name, args) && !s.restartCommand(name, args) {
			s.trouble(name, args)
		}
	}
}

func (s *stage) each(names []string, do func(string)) {
	for _, name := range names {
		do(name)
	}
}

func (s *stage) eachPod(names []string, do func(*corev1.Pod)) {
	for _, name := range names {
		s.changePod(name, do)
	}
}

func (s *stage) end(name string, phase corev1.PodPhase) {
	s.changePod(name, func(pod *corev1.Pod) { pod.Status.Phase, pod.Status.Conditions = phase, nil })
}

func (s *stage) lookAndTell() (acted bool) {
	before := s.set.Status.Rollout
	p, done, failed := s.look()
	s.report(p, done, failed)
	return len(done)+len(failed) > 0 || !apiequality.Semantic.DeepEqual(before, s.set.Status.Rollout)
}

// farLook is from when on a story does not tell of the next look: nearly every plan
// has to see whether the set still moves.
const farLook = 9 * time.Minute

func (s *stage) report(p Plan, done []action.Action, failed []Failure) {
	for _, act := range done {
		fmt.Fprintf(&s.log, "  %s\n", act)
	}
	for _, failure := range failed {
		fmt.Fprintf(&s.log, "  FAILED %s\n", failure.Action)
	}
	for _, act := range s.early {
		fmt.Fprintf(&s.log, "  NOT DUE %s\n", act)
	}
	for _, warning := range p.Warnings {
		fmt.Fprintf(&s.log, "  warning %s: %s\n", warning.Reason, warning.Message)
	}
	status := s.set.Status
	s.name(status.CurrentRevision)
	s.name(status.UpdateRevision)
	fmt.Fprintf(&s.log, "  status %d pods, %d ready, %d available, %d of current %s, %d of update %s\n", status.Replicas, status.ReadyReplicas,
		status.AvailableReplicas, status.CurrentReplicas, cmp.Or(status.CurrentRevision, "none"), status.UpdatedReplicas,
		cmp.Or(status.UpdateRevision, "none"))
	if rollout := status.Rollout; rollout != nil && rollout.Unblocking != nil {
		fmt.Fprintf(&s.log, "  replacing member %d out of turn at %s\n", *rollout.Unblocking, rollout.Revision)
	}
	if rollout := status.Rollout; rollout != nil && rollout.Step > 0 {
		fmt.Fprintf(&s.log, "  reached by %s: %s; superseded: %s%s\n", rollout.Revision, rangesText(rollout.Released),
			rangesText(rollout.Superseded), s.stepText(rollout))
	}
	for _, request := range status.Replacements {
		fmt.Fprintf(&s.log, "  member %d is to be replaced\n", request.Ordinal)
	}
	for _, c := range status.VolumeClaims {
		fmt.Fprintf(&s.log, "  claims %s\n", countsOf(c))
	}
	for _, line := range slices.Concat(undeletedTexts(status.Reclaims), objectsTexts(status.ObjectTemplates), s.userActionsText()) {
		fmt.Fprintf(&s.log, "  %s\n", line)
	}
	for _, c := range status.Conditions {
		if tells(status.Conditions, c) {
			fmt.Fprintf(&s.log, "  %s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	if p.RequeueAfter > 0 && p.RequeueAfter < farLook {
		fmt.Fprintf(&s.log, "  look again in %s\n", p.RequeueAfter)
	}
}

func (s *stage) name(revision string) {
	if revision != "" && !slices.Contains(s.seen, revision) {
		s.seen = append(s.seen, revision)
	}
}

// settle plays a kubelet that starts what it is given and ends what it is asked
// to, at once, until the planner has nothing more to do.
func (s *stage) settle() {
	for range 200 {
		acted := s.lookAndTell()
		for _, name := range slices.Sorted(maps.Keys(s.pods)) {
			switch pod := s.pods[name]; {
			case isTerminating(pod):
				delete(s.pods, name)
				fmt.Fprintf(&s.log, "> gone %s\n", name)
			case isBehind(pod):
				s.restart(name, false)
				fmt.Fprintf(&s.log, "> restart %s\n", name)
				fallthrough
			case pod.Status.Phase == corev1.PodPending, s.lags(pod):
				s.ready(name, corev1.ConditionTrue)
				fmt.Fprintf(&s.log, "> ready %s\n", name)
			case s.resizable(name):
				s.resized(name)
				fmt.Fprintf(&s.log, "> resized %s\n", name)
			default:
				continue
			}
			acted = true
		}
		if !acted {
			return
		}
	}
	s.t.Fatalf("the planner does not come to rest:\n%s", s.log.String())
}

func byName[T metav1.Object](a, b T) int { return strings.Compare(a.GetName(), b.GetName()) }

func owners(object metav1.Object) string {
	var names []string
	for _, ref := range object.GetOwnerReferences() {
		names = append(names, ref.Kind+"/"+ref.Name)
	}
	return "[" + strings.Join(names, " ") + "]"
}
