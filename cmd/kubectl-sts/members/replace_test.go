// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	hostfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned/fake"
)

// office is a namespace with the set "web" of three members with a claim each. Members return
// at once.
type office struct {
	host   *hostfake.Clientset
	sets   *fake.Clientset
	writes []string
	out    bytes.Buffer
	// refusal is what the server says from the given request on.
	refusal error
	from    int
	// stuck keeps members from returning.
	stuck bool
}

func newOffice(t *testing.T, change ...func(*corev1.PersistentVolumeClaim)) *office {
	t.Helper()
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	set.Status.Conditions = []v1.StatefulSetCondition{
		{Type: v1.StatefulSetReady, Status: corev1.ConditionFalse, Message: "web-2 is being replaced, as requested"}}
	var objects []runtime.Object
	for ordinal := range 3 {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%d", ordinal), UID: types.UID(fmt.Sprintf("pod-%d", ordinal))}}
		pod.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("data-web-%d", ordinal), UID: types.UID(fmt.Sprintf("claim-%d", ordinal))}}
		claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		for _, f := range change {
			f(claim)
		}
		objects = append(objects, pod, claim)
	}
	o := &office{host: hostfake.NewClientset(objects...), sets: fake.NewSimpleClientset()}
	o.host.PrependReactor("delete", "persistentvolumeclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deletion := action.(clienttesting.DeleteActionImpl)
		o.writes = append(o.writes,
			fmt.Sprintf("delete %s %s%s", deletion.Name, *deletion.DeleteOptions.Preconditions.UID, strings.Join(deletion.DeleteOptions.DryRun, "")))
		return true, nil, nil
	})
	o.sets.PrependReactor("get", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if name := action.(clienttesting.GetAction).GetName(); name != "web" {
			return true, nil, apierrors.NewNotFound(v1.Resource("statefulsets"), name)
		}
		return true, set.DeepCopy(), nil
	})
	o.sets.PrependReactor("create", "statefulsets", o.replace)
	return o
}

// replace is the server and the controller.
func (o *office) replace(action clienttesting.Action) (bool, runtime.Object, error) {
	create := action.(clienttesting.CreateActionImpl)
	request := create.Object.(*v1.StatefulSetReplacement)
	text := fmt.Sprintf("%s %s of %s", create.GetSubresource(), create.Name, request.UID)
	for _, r := range request.Ordinals {
		text += fmt.Sprintf(" %d", r.First)
	}
	if request.Force {
		text += " by force"
	}
	dry := len(create.CreateOptions.DryRun) > 0
	if dry {
		text += " in a dry run"
	}
	o.writes = append(o.writes, text)
	if o.from--; o.refusal != nil && o.from < 0 {
		return true, nil, o.refusal
	}
	for _, r := range request.Ordinals {
		if name := fmt.Sprintf("web-%d", r.First); !dry && !o.stuck {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "new"}}
			pod.Status = corev1.PodStatus{
				Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
			if err := o.host.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), pod, "shop"); err != nil {
				return true, nil, err
			}
		}
	}
	return true, request, nil
}

func TestReplacing(t *testing.T) {
	const asked = "replace web of web-uid 2"
	for sentence, test := range map[string]struct {
		change  []func(*corev1.PersistentVolumeClaim)
		set     string
		as      func(*replacement)
		answer  bool
		refusal error
		from    int
		stuck   bool
		writes  []string
		out     string // with the prefix of each line left out
		err     string
	}{
		"asks the server": {writes: []string{asked}, out: "web-2 will be replaced"},
		"by force":        {as: func(r *replacement) { r.force = true }, writes: []string{asked + " by force"}},
		"two members": {
			as: func(r *replacement) { r.ordinals = []int32{2, 0} }, writes: []string{asked + " 0"}, out: "web-2, web-0 will be replaced"},
		"waits until they are back": {
			as: func(r *replacement) { r.wait = true }, writes: []string{asked}, out: "web-2 will be replaced\nweb-2 is back"},
		"gives up in time": {as: func(r *replacement) { r.wait, r.patience = true, 200*time.Millisecond }, stuck: true, writes: []string{asked},
			out: "web-2 will be replaced\nwaiting: web-2 is being replaced, as requested",
			err: "timed out after 200ms, while members web-2 were not back; the controller continues without this command. Last message of the set: web-2 is being replaced, as requested"},
		"changes nothing in a dry run of the client": {
			as: func(r *replacement) { r.dryRun = cmdutil.DryRunClient }, out: "web-2 will be replaced (dry run)"},
		"asks what would be in a dry run of the server": {as: func(r *replacement) { r.dryRun = cmdutil.DryRunServer },
			writes: []string{asked + " in a dry run"}, out: "web-2 will be replaced (server dry run)"},
		"of a set that does not exist": {set: "db", err: `statefulsets.apps.statefulset.dev "db" not found`},
		"says why the server refuses":  {refusal: fmt.Errorf("web-0 is unavailable"), writes: []string{asked}, err: "web-0 is unavailable"},
		"with new claims deletes those of before when it has asked": {as: func(r *replacement) { r.newClaims = true }, answer: true,
			writes: []string{asked + " in a dry run", "delete data-web-2 claim-2", asked},
			out:    "claim data-web-2 (1Gi) will be deleted with all its data\nDelete them? [y/N] web-2 will be replaced"},
		"with new claims changes nothing without an agreement": {
			as: func(r *replacement) { r.newClaims = true }, writes: []string{asked + " in a dry run"},
			out: "claim data-web-2 (1Gi) will be deleted with all its data\nDelete them? [y/N] nothing was changed"},
		"with new claims does not ask if told so": {as: func(r *replacement) { r.newClaims, r.yes = true, true },
			writes: []string{asked + " in a dry run", "delete data-web-2 claim-2", asked},
			out:    "claim data-web-2 (1Gi) will be deleted with all its data\nweb-2 will be replaced"},
		"with new claims keeps those of a member that the server does not replace": {as: func(r *replacement) { r.newClaims, r.yes = true, true },
			refusal: fmt.Errorf("web-0 is unavailable"), writes: []string{asked + " in a dry run"}, err: "web-0 is unavailable"},
		"with new claims says so when the server thinks otherwise meanwhile": {as: func(r *replacement) { r.newClaims, r.yes = true, true },
			refusal: fmt.Errorf("web-0 is unavailable"), from: 1, writes: []string{asked + " in a dry run", "delete data-web-2 claim-2", asked},
			err: "the claims are being deleted, but the members were not replaced: they still use these claims, which are deleted with their pods; try again with --force: web-0 is unavailable"},
		"with new claims in a dry run of the server": {as: func(r *replacement) { r.newClaims, r.dryRun = true, cmdutil.DryRunServer },
			writes: []string{asked + " in a dry run", "delete data-web-2 claim-2All", asked + " in a dry run"},
			out:    "claim data-web-2 (1Gi) will be deleted with all its data (server dry run)\nweb-2 will be replaced (server dry run)"},
		"with new claims in a dry run of the client": {as: func(r *replacement) { r.newClaims, r.dryRun = true, cmdutil.DryRunClient },
			out: "claim data-web-2 (1Gi) will be deleted with all its data (dry run)\nweb-2 will be replaced (dry run)"},
		"with new claims that are being deleted already": {
			change: []func(*corev1.PersistentVolumeClaim){func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Now()) }},
			as:     func(r *replacement) { r.newClaims = true }, writes: []string{asked + " in a dry run", asked},
			out: "the members have no claims that are not already being deleted\nweb-2 will be replaced"},
		"with new claims leaves those of others": {
			change: []func(*corev1.PersistentVolumeClaim){func(c *corev1.PersistentVolumeClaim) {
				c.OwnerReferences = []metav1.OwnerReference{{Kind: "Cache", Name: "fast", UID: "x", Controller: new(true)}}
			}},
			as:  func(r *replacement) { r.newClaims = true },
			err: "claim data-web-2 is controlled by Cache fast, so it is not deleted; nothing was changed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, test.change...)
			o.refusal, o.from, o.stuck = test.refusal, test.from, test.stuck
			r := &replacement{
				sets: o.sets, host: o.host, namespace: "shop", out: &o.out, set: "web", ordinals: []int32{2}, patience: 20 * time.Second,
				confirm: func(question string) (bool, error) { o.out.WriteString(question); return test.answer, nil }}
			if test.set != "" {
				r.set = test.set
			}
			if test.as != nil {
				test.as(r)
			}
			err := r.run(t.Context())
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if !slices.Equal(o.writes, test.writes) {
				t.Errorf("got writes\n%q\nwant\n%q", o.writes, test.writes)
			}
			if got := strings.TrimSpace(strings.ReplaceAll(o.out.String(), "statefulset.apps.statefulset.dev/"+r.set+": ", "")); test.out != "" &&
				got != test.out {
				t.Errorf("it said\n%s\nwant\n%s", got, test.out)
			}
		})
	}
}

func TestAnInterruptedWaitSaysWhoIsNotBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := newOffice(t)
	o.stuck = true
	o.sets.PrependReactor("create", "statefulsets",
		func(clienttesting.Action) (bool, runtime.Object, error) { cancel(); return false, nil, nil })
	r := &replacement{sets: o.sets, host: o.host, namespace: "shop", out: &o.out, set: "web", ordinals: []int32{2}, wait: true}
	err := r.run(ctx)
	if want := "interrupted, while members web-2 were not back; the controller continues without this command"; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func TestMembersByTheirNames(t *testing.T) {
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("web-%d", i)
	}
	for sentence, test := range map[string]struct {
		args     []string
		set      string
		ordinals []int32
		err      string
	}{
		"one":                      {args: []string{"web-2"}, set: "web", ordinals: []int32{2}},
		"several":                  {args: []string{"web-2", "pod/web-0", "pods/web-10"}, set: "web", ordinals: []int32{2, 0, 10}},
		"one of a set with a dash": {args: []string{"my-db-1"}, set: "my-db", ordinals: []int32{1}},
		"of two sets": {
			args: []string{"web-2", "db-0"}, err: "db-0 is a member of set db, but the others are members of set web; name members of one set"},
		"one twice": {args: []string{"web-2", "pod/web-2"}, err: "member web-2 is named twice"},
		"a set": {
			args: []string{"statefulset/web"}, err: `"statefulset/web" is not a name of a member; members have names such as web-2`},
		"more than may be replaced": {args: many, err: "33 members are named, but one request can replace at most 32"},
	} {
		t.Run(sentence, func(t *testing.T) {
			set, ordinals, err := Named(test.args)
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Fatalf("got error %v, want %q", err, test.err)
			}
			if set != test.set || !reflect.DeepEqual(ordinals, test.ordinals) {
				t.Errorf("got set %q and ordinals %v, want %q and %v", set, ordinals, test.set, test.ordinals)
			}
		})
	}
}
