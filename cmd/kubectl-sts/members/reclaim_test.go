// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
)

// TestReclaiming has a set with claims of three members, of which it wants the first two; the
// third has a pod only where that is said.
func TestReclaiming(t *testing.T) {
	for sentence, test := range map[string]struct {
		ordinals []int32
		withPod  bool
		as       func(*replacement)
		answer   bool
		writes   []string
		out      string
		err      string
	}{
		"deletes what nobody wants when it has asked": {ordinals: []int32{2}, answer: true, writes: []string{"delete data-web-2 claim-2"},
			out: "claim data-web-2 (1Gi) will be deleted with all its data\nDelete them? [y/N]"},
		"changes nothing without an agreement": {
			ordinals: []int32{2}, out: "claim data-web-2 (1Gi) will be deleted with all its data\nDelete them? [y/N] nothing was changed"},
		"deletes nothing in a dry run": {
			ordinals: []int32{2}, as: func(r *replacement) { r.dryRun = cmdutil.DryRunServer }, writes: []string{"delete data-web-2 claim-2All"},
			out: "claim data-web-2 (1Gi) will be deleted with all its data (server dry run)"},
		"refuses all if one is wanted": {ordinals: []int32{1, 2}, answer: true,
			err: "web-1 is a member of the set; nothing was deleted; to replace its claims with new, empty ones: kubectl sts replace web-1 --new-claims"},
		"refuses a member with a pod": {
			ordinals: []int32{2}, withPod: true, answer: true, err: "pod web-2 exists, so its claims cannot be deleted yet; nothing was deleted"},
		"of members without claims": {ordinals: []int32{7}, answer: true, out: "the members have no claims that are not already being deleted"},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newOffice(t)
			o.sets.PrependReactor("get", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
				set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid"}}
				set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
				set.Spec.Replicas = new(int32(2))
				return true, set, nil
			})
			if !test.withPod {
				if err := o.host.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "shop", "web-2"); err != nil {
					t.Fatal(err)
				}
			}
			r := &replacement{sets: o.sets, host: o.host, namespace: "shop", out: &o.out, set: "web", ordinals: test.ordinals,
				confirm: func(question string) (bool, error) { o.out.WriteString(question); return test.answer, nil }}
			if test.as != nil {
				test.as(r)
			}
			err := r.reclaim(t.Context())
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if !slices.Equal(o.writes, test.writes) {
				t.Errorf("got writes %q, want %q", o.writes, test.writes)
			}
			if got := strings.TrimSpace(strings.ReplaceAll(o.out.String(), "statefulset.apps.statefulset.dev/web: ", "")); got != test.out {
				t.Errorf("it said\n%s\nwant\n%s", got, test.out)
			}
		})
	}
}

func TestOrdinalsAndRangesOfThem(t *testing.T) {
	const valid = ", must be ordinals or ranges of ordinals, such as 3-4,7"
	for text, test := range map[string]struct {
		want []int32
		err  string
	}{
		"3":          {want: []int32{3}},
		"3-5,1,4":    {want: []int32{1, 3, 4, 5}},
		"":           {err: `--ordinals has ""` + valid},
		"5-3":        {err: `--ordinals has "5-3"` + valid},
		"-1":         {err: `--ordinals has "-1"` + valid},
		"a":          {err: `--ordinals has "a"` + valid},
		"2147483647": {err: `--ordinals has "2147483647"` + valid},
		"0-255":      {want: upTo(256)},
		"0-256":      {err: "--ordinals has more than 256 ordinals"},
	} {
		got, err := parseOrdinals(text)
		if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err || !slices.Equal(got, test.want) {
			t.Errorf("%q: got %v and %v, want %v and %q", text, got, err, test.want, test.err)
		}
	}
}

func upTo(n int32) (all []int32) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
