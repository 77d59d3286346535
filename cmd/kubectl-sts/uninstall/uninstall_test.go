// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
)

func deleteSets(r *run) { r.deleteSets = true }

func TestTheOrderEndangersNoPod(t *testing.T) {
	for sentence, change := range map[string]func(*run){
		"with their pods":                deleteSets,
		"while their pods run on":        func(r *run) { r.orphanMembers = true },
		"in the namespace of the server": func(r *run) { r.deleteSets, r.system = true, "statefulset-system" },
	} {
		t.Run(sentence, func(t *testing.T) {
			i := install(t, "db", "web")
			if err := i.run(t, change); err != nil {
				t.Fatalf("got error %v, want none; it said\n%s", err, &i.out)
			}
			i.mustBeRemoved(t)
			at := func(write string) int { return slices.Index(i.writes, write) }
			order := []int{
				at("delete statefulsets/db"), at("delete statefulsets/web"), at("patch apiservices/" + serviceName),
				at("delete apiservices/" + serviceName),
				at("delete deployments/" + serverName), at("delete clusterroles/" + serverName), at("delete validatingadmissionpolicies/" + guardName),
			}
			if order[0] < 0 || !slices.IsSorted(order) || order[6] != len(i.writes)-1 {
				t.Errorf("got writes\n%s\nwant sets, registration, server, rights, guard", strings.Join(i.writes, "\n"))
			}
		})
	}
}

func TestNothingIsChangedWhileSomethingIsInTheWay(t *testing.T) {
	unavailable := apierrors.NewServiceUnavailable("the store is refused")
	for sentence, c := range map[string]struct {
		prepare func(*installation)
		change  func(*run)
		want    []string
	}{
		"sets": {want: []string{"because there are sets", "namespace shop: 2 (db, web)", "--delete-sets", "--orphan-members"}},
		"a server that does not answer": {
			prepare: func(i *installation) { i.fail("statefulsets", unavailable) }, change: deleteSets,
			want: []string{"does not report which sets exist", "the store is refused", "kubectl sts doctor", "2 pods, 0 revisions and 0 claims",
				"--without-server"},
		},
		"a server that says the group is not found": {
			prepare: func(i *installation) {
				i.fail("statefulsets", apierrors.NewNotFound(v1.Resource("statefulsets"), ""))
			}, change: deleteSets,
			want: []string{"does not report which sets exist"},
		},
		"a server given up while pods belong to sets": {
			prepare: func(i *installation) { i.fail("statefulsets", unavailable) }, change: func(r *run) { r.withoutServer = true },
			want: []string{"2 pods, 0 revisions and 0 claims belong to sets", "kubectl apply -k artifacts/base"},
		},
		"pods of sets without a registration": {
			prepare: func(i *installation) {
				_ = i.objects.Tracker().Delete(registration().kind, "", serviceName)
			},
			want: []string{"2 pods, 0 revisions and 0 claims belong to sets", "docs/backup.md"},
		},
		"missing permissions": {
			prepare: func(i *installation) { i.forbid("delete", "apiservices", "clusterroles") }, change: deleteSets,
			want: []string{
				"permissions are missing: delete apiservices.apiregistration.k8s.io/v1.apps.statefulset.dev, delete clusterroles.rbac.authorization.k8s.io/statefulset-apiserver"},
		},
		"a set that is protected": {prepare: protectDB, change: deleteSets, want: []string{isProtected}},
		"a set that is protected, and pods that are to stay": {
			prepare: protectDB, change: func(r *run) { r.orphanMembers = true }, want: []string{isProtected},
		},
		"a set that is being deleted with its pods": {
			prepare: func(i *installation) {
				set := partial("StatefulSet", v1.SchemeGroupVersion.String(), "shop", "db")
				set.DeletionTimestamp, set.Finalizers = new(metav1.Now()), []string{metav1.FinalizerDeleteDependents}
				_ = i.objects.Tracker().Update(v1.SchemeGroupVersion.WithResource("statefulsets"), set, "shop")
			}, change: func(r *run) { r.orphanMembers = true },
			want: []string{"set shop/db is already being deleted with its members"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := install(t, "db", "web")
			if c.prepare != nil {
				c.prepare(i)
			}
			err := i.run(t, c.change)
			for _, want := range append(c.want, "nothing was changed") {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want one with %q", err, want)
				}
			}
			i.mustBeUntouched(t)
		})
	}
}

const isProtected = `set shop/db is protected ("prod"): remove annotation apps.statefulset.dev/protect first`

func protectDB(i *installation) {
	set := partial("StatefulSet", v1.SchemeGroupVersion.String(), "shop", "db")
	set.Annotations = map[string]string{v1.ProtectAnnotation: "prod"}
	_ = i.objects.Tracker().Update(v1.SchemeGroupVersion.WithResource("statefulsets"), set, "shop")
}

func (i *installation) fail(resource string, err error) {
	i.objects.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

func (i *installation) forbid(verb string, resources ...string) {
	i.host.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		asked := review.Spec.ResourceAttributes
		review.Status.Allowed = asked.Verb != verb || !slices.Contains(resources, asked.Resource)
		return true, review, nil
	})
}

func TestARunThatWasInterruptedIsCompletedByTheNext(t *testing.T) {
	whole := install(t, "db", "web")
	if err := whole.run(t, deleteSets); err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	for n := range len(whole.writes) {
		t.Run(fmt.Sprintf("after %d writes", n), func(t *testing.T) {
			i := install(t, "db", "web")
			i.budget = n
			if err := i.run(t, deleteSets); !errors.Is(err, errInterrupted) {
				t.Fatalf("got error %v, want the interruption", err)
			}
			i.budget = -1
			if err := i.run(t, deleteSets); err != nil {
				t.Fatalf("run again: got error %v, want none", err)
			}
			i.mustBeRemoved(t)
		})
	}
	t.Run("after every single write", func(t *testing.T) {
		i := install(t, "db", "web")
		err := errInterrupted
		for runs := 0; errors.Is(err, errInterrupted) && runs <= len(whole.writes); runs++ {
			i.budget = 1
			err = i.run(t, deleteSets)
		}
		if err != nil {
			t.Fatalf("got error %v, want none after %d runs", err, len(whole.writes)+1)
		}
		i.mustBeRemoved(t)
		if err := i.run(t, nil); err != nil {
			t.Errorf("once more, with nothing left: got error %v, want none", err)
		}
	})
}

func TestASetThatComesMeanwhileKeepsTheRegistration(t *testing.T) {
	i := install(t)
	looks := 0
	i.objects.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if looks++; looks == 3 { // at the start, before the end of the sets, and here
			pod := partial("Pod", "v1", "shop", "late-0")
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: "late", UID: "1"}}
			_ = i.objects.Tracker().Create(kindOf("", "pods"), pod, "shop")
		}
		return false, nil, nil
	})
	if err := i.run(t, nil); err == nil || !strings.Contains(err.Error(), "the registration stays") {
		t.Errorf("got error %v, want that the registration stays", err)
	}
	i.mustBeUntouched(t)
}

func TestAPreviewChangesNothing(t *testing.T) {
	i := install(t, "db")
	if err := i.run(t, func(r *run) { r.deleteSets, r.dryRun = true, true }); err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	i.mustBeUntouched(t)
	for _, want := range []string{"1 sets: delete them", "namespace shop: 1 (db)",
		"apiservices.apiregistration.k8s.io/v1.apps.statefulset.dev", "validatingadmissionpolicies", "what stays"} {
		if !strings.Contains(i.out.String(), want) {
			t.Errorf("got\n%s\nwant it to name %q", &i.out, want)
		}
	}
}

func TestManySetsAreCountedAndTenNamed(t *testing.T) {
	var sets []metav1.PartialObjectMetadata
	for n := range 25 {
		sets = append(sets, *partial("StatefulSet", "", fmt.Sprintf("ns-%d", n%2), fmt.Sprintf("set-%02d", n)))
	}
	got := list(sets)
	if names := strings.Count(got, "set-"); names != most || !strings.Contains(got, "namespace ns-0: 13 (set-00,") ||
		!strings.Contains(got, ", ...)") || !strings.Contains(got, "namespace ns-1: 12\n") {
		t.Errorf("got %d names in\n%s\nwant 10, and both namespaces with their counts", names, got)
	}
}

func TestFlagsThatExcludeEachOther(t *testing.T) {
	for sentence, c := range map[string]struct {
		args []string
		want string
	}{
		"both ways to end sets": {[]string{"--delete-sets", "--orphan-members"}, "cannot be combined"},
		"a dry run by servers":  {[]string{"--dry-run=server"}, `--dry-run is "server", must be none or client`},
		"another dry run":       {[]string{"--dry-run=yes"}, `--dry-run is "yes", must be none or client`},
		"no time":               {[]string{"--timeout=0s"}, "--timeout is 0s, must be more than 0"},
	} {
		t.Run(sentence, func(t *testing.T) {
			command := NewCommand(nil, genericiooptions.NewTestIOStreamsDiscard())
			command.SetArgs(c.args)
			command.SilenceErrors = true
			if err := command.ExecuteContext(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}
