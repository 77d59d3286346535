//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestDisksOfADriverChange changes disks that have a file system, by what changes them in a cluster:
// the resizer and the kubelet.
func TestDisksOfADriverChange(t *testing.T) {
	startDriver(t)
	forOurs(t, "disks of a driver grow under running members, and one that cannot is given up by the command that the set names", growOnline)
	forOurs(t, "disks that grow only while nobody uses them wait until somebody replaces their members, and keep their data", growOffline)
	forOurs(t, "disks get another class of attributes under running members, and a class that the driver does not take costs no pod",
		changeAttributes)
}

func growOnline(t *testing.T, k kind) {
	s := newSet(t, k, 2, withDriver("320Mi", driverClass(t, nil)))
	before := []int{s.room(t, 0), s.room(t, 1)}
	pods := s.watchPods(t)
	s.change(t, growTo("512Mi"))
	s.awaitReason(t, v1.ReasonMembersAvailable, "")
	s.expectSizes(t, "512Mi", "512Mi")
	for ordinal, was := range before {
		if is := s.room(t, ordinal); is < was+150 {
			t.Errorf("member %d has %d MiB on its disk, want 192 more than the %d of before", ordinal, is, was)
		}
	}

	s.change(t, growTo("2Gi"))
	s.awaitReason(t, v1.ReasonClaimGrowthRefused,
		"claim data-web-1 cannot be changed to match its template: ControllerResizeInfeasible to 2Gi: ")
	s.awaitInfeasible(t, 2)
	s.expectSizes(t, "2Gi", "2Gi")
	s.giveUpChange(t, growTo("512Mi"))
	s.awaitReason(t, v1.ReasonMembersAvailable, "")
	s.expectSizes(t, "513Mi", "513Mi")
	pods.expect(t)
}

func growOffline(t *testing.T, k kind) {
	s := newSet(t, k, 2, withDriver("320Mi", driverClass(t, map[string]string{"growth": "offline"})))
	was := s.room(t, 1)
	s.put(t, 1, "value", "kept")
	pods := s.watchPods(t)
	s.change(t, growTo("512Mi"))
	s.awaitRestartsRequired(t, 2)
	s.awaitReason(t, v1.ReasonGrowingClaims, "claim data-web-1 has grown to 512Mi, except for its file system")
	if is := s.room(t, 1); is != was {
		t.Errorf("member 1 has %d MiB on its disk, want the %d of before for as long as it runs", is, was)
	}
	pods.expect(t)

	for _, ordinal := range []int{1, 0} {
		if said, err := s.sts(t, "replace", fmt.Sprintf("web-%d", ordinal)); err != nil {
			t.Fatalf("replacing member %d: %v\n%s", ordinal, err, said)
		}
		s.awaitRestartsRequired(t, int32(ordinal))
		s.awaitReady(t, 2)
	}
	s.awaitReason(t, v1.ReasonMembersAvailable, "")
	pods.expect(t, recreations("web-1", "web-0")...)
	if is := s.room(t, 1); is < was+150 {
		t.Errorf("member 1 has %d MiB on its disk, want 192 more than the %d of before", is, was)
	}
	if got := s.read(t, 1, "value"); got != "kept" {
		t.Errorf("on the disk of member 1 is %q, want what was there before it grew", got)
	}
}

func changeAttributes(t *testing.T, k kind) {
	for _, class := range []string{"slow", "fast", "warp"} {
		attributesClass(t, class, class)
	}
	s := newSet(t, k, 2, func(made *v1.StatefulSet) {
		withDriver("320Mi", driverClass(t, nil))(made)
		made.Spec.VolumeClaimTemplates[0].Spec.VolumeAttributesClassName = new("slow")
	})
	s.expectSpeeds(t, "slow")
	pods := s.watchPods(t)
	s.change(t, ofAttributes("fast"))
	s.awaitReason(t, v1.ReasonMembersAvailable, "")
	s.expectSpeeds(t, "fast")

	s.change(t, ofAttributes("warp"))
	s.awaitReason(t, v1.ReasonClaimGrowthRefused,
		"claim data-web-1 cannot be changed to match its template: attributes of class warp are infeasible")
	s.awaitInfeasible(t, 2)
	s.expectSpeeds(t, "fast")
	s.giveUpChange(t, ofAttributes("fast"))
	s.awaitReason(t, v1.ReasonMembersAvailable, "")
	pods.expect(t)
}

// giveUpChange changes the template back, and then the claims of both members, by the command that the set names for the first.
func (s *set) giveUpChange(t *testing.T, back string) {
	t.Helper()
	said, err := s.says(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, command, named := strings.Cut(said, "change the template back, and then the claim: kubectl ")
	if !named {
		t.Fatalf("the set says %q, want a command for the claim", said)
	}
	s.change(t, back)
	for _, claim := range []string{"data-web-1", "data-web-0"} {
		forClaim := strings.Replace(command, "data-web-1", claim, 1)
		shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", "exec "+cluster.Path("kubectl")+" "+forClaim)
		shell.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig())
		if output, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("running the command %q that the set names: %v\n%s", forClaim, err, output)
		}
	}
}

// awaitInfeasible waits until the status counts that many claims whose change the driver has refused, of two.
func (s *set) awaitInfeasible(t *testing.T, want int32) {
	t.Helper()
	s.awaitClaims(t, fmt.Sprintf("%d of 2 claims cannot be changed to match their template", want),
		func(status v1.VolumeClaimStatus) bool { return status.Infeasible == want && status.Claims == 2 })
}

func ofAttributes(class string) string {
	return fmt.Sprintf(`[{"op":"replace","path":"/spec/volumeClaimTemplates/0/spec/volumeAttributesClassName","value":%q}]`, class)
}

// room is how large the disk of a member is to the member, in MiB.
func (s *set) room(t *testing.T, ordinal int) int {
	t.Helper()
	output, err := kubectl(t.Context(), "exec", fmt.Sprintf("web-%d", ordinal), "-n", s.ns, "-c", "web", "--", "df", "-m", "/data").Output()
	if err != nil {
		t.Fatalf("asking member %d for the size of its disk: %v", ordinal, err)
	}
	fields := strings.Fields(string(output[strings.IndexByte(string(output), '\n')+1:]))
	if len(fields) < 2 {
		t.Fatalf("member %d says of its disk %q", ordinal, output)
	}
	size, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatalf("member %d says of its disk %q: %v", ordinal, output, err)
	}
	return size
}

// awaitRestartsRequired waits until so many disks have grown but for their file systems.
func (s *set) awaitRestartsRequired(t *testing.T, want int32) {
	t.Helper()
	s.awaitClaims(t, fmt.Sprintf("%d claims wait for a restart", want),
		func(status v1.VolumeClaimStatus) bool { return status.RestartRequired == want })
}

// awaitClaims waits until the status has the claims of one template, with counts that are as wanted.
func (s *set) awaitClaims(t *testing.T, what string, wanted func(v1.VolumeClaimStatus) bool) {
	t.Helper()
	harness.Eventually(t, what, func(ctx context.Context) error {
		found, err := cluster.Sets.AppsV1().StatefulSets(s.ns).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (len(found.Status.VolumeClaims) != 1 || !wanted(found.Status.VolumeClaims[0])) {
			err = fmt.Errorf("status.volumeClaims are %+v", found.Status.VolumeClaims)
		}
		return err
	})
}

// expectSpeeds asks the host and the driver for the attributes of all disks.
func (s *set) expectSpeeds(t *testing.T, want string) {
	t.Helper()
	claims, err := cluster.Host.CoreV1().PersistentVolumeClaims(s.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing claims: %v", err)
	}
	for _, claim := range claims.Items {
		volume, err := cluster.Host.CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("getting the volume of claim %s: %v", claim.Name, err)
		}
		noted, err := os.ReadFile(filepath.Join(diskDir(), volume.Spec.CSI.VolumeHandle+".speed"))
		if got := ptr.Deref(claim.Status.CurrentVolumeAttributesClassName, ""); got != want || string(noted) != want {
			t.Errorf("claim %s has the attributes %q, and its disk %q, error %v, want %s", claim.Name, got, noted, err, want)
		}
	}
}
