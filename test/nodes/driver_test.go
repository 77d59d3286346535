//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

const (
	// diskDriver is the driver of test/disks, and diskNode the node that it is on.
	diskDriver = "disks.statefulset.dev"
	diskNode   = "n1"
)

// startDriver starts a driver, with the provisioner and the resizer of Kubernetes, until the test ends
// and all its volumes are gone.
func startDriver(t *testing.T) {
	t.Helper()
	socket := cluster.Path("disks.sock")
	start(t, "disks", "-node="+diskNode, "-kubelet="+cluster.Path("nodes", diskNode, "kubelet"), "-dir="+diskDir(), "-socket="+socket)
	start(t, "csi-provisioner", "--csi-address="+socket, "--kubeconfig="+cluster.Kubeconfig())
	start(t, "csi-resizer", "--csi-address="+socket, "--kubeconfig="+cluster.Kubeconfig())

	drivers := cluster.Host.StorageV1().CSIDrivers()
	if _, err := drivers.Create(t.Context(), &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: diskDriver}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(false)},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("describing the driver: %v", err)
	}
	t.Cleanup(func() { _ = drivers.Delete(context.Background(), diskDriver, metav1.DeleteOptions{}) })
	t.Cleanup(func() { awaitNoVolumes(t) })
	harness.Eventually(t, "the kubelet knows the driver", func(ctx context.Context) error {
		found, err := cluster.Host.StorageV1().CSINodes().Get(ctx, diskNode, metav1.GetOptions{})
		if err == nil && !slices.ContainsFunc(found.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == diskDriver }) {
			err = fmt.Errorf("the node has the drivers %v", found.Spec.Drivers)
		}
		return err
	})
}

func diskDir() string { return cluster.Path("disks") }

// start runs a program until the test ends. What it says is with the logs of the cluster.
func start(t *testing.T, name string, args ...string) {
	t.Helper()
	log, err := os.OpenFile(cluster.Path("logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("opening a log: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program(name), args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was told to end
		_ = log.Close()
	})
}

// awaitNoVolumes waits until what the driver made is gone: nobody else can unmount it.
func awaitNoVolumes(t *testing.T) {
	t.Helper()
	var left []string
	err := wait.PollUntilContextTimeout(context.Background(), 200*time.Millisecond, harness.Patience, true,
		func(ctx context.Context) (bool, error) {
			volumes, err := cluster.Host.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			left = nil
			for i := range volumes.Items {
				if csi := volumes.Items[i].Spec.CSI; csi != nil && csi.Driver == diskDriver {
					left = append(left, volumes.Items[i].Name)
				}
			}
			return len(left) == 0, nil
		})
	if err != nil {
		t.Errorf("waiting until the volumes of removed namespaces are gone: %v, volumes %v", err, left)
	}
}

// driverClass is a class of disks of the driver, which grow while they are used, or only offline.
func driverClass(t *testing.T, parameters map[string]string) string {
	t.Helper()
	classes := cluster.Host.StorageV1().StorageClasses()
	class, err := classes.Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "disks-"}, Provisioner: diskDriver, Parameters: parameters, AllowVolumeExpansion: new(true),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a class: %v", err)
	}
	t.Cleanup(func() { _ = classes.Delete(context.Background(), class.Name, metav1.DeleteOptions{}) })
	return class.Name
}

// attributesClass is a class of attributes of such disks.
func attributesClass(t *testing.T, name, speed string) {
	t.Helper()
	classes := cluster.Host.StorageV1().VolumeAttributesClasses()
	if _, err := classes.Create(t.Context(), &storagev1.VolumeAttributesClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, DriverName: diskDriver, Parameters: map[string]string{"speed": speed},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a class of attributes: %v", err)
	}
	t.Cleanup(func() { _ = classes.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// withDriver gives each member a disk that follows its template, on the node of the driver.
func withDriver(size, class string) func(*v1.StatefulSet) {
	return func(made *v1.StatefulSet) {
		withClaims(size, class)(made)
		made.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
		made.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: diskNode}
	}
}
