// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command disks is a CSI driver for one node, whose volumes are files that contain a file system.
// They grow like cloud volumes: first the file, and then the kubelet expands the file system. That
// happens while a pod uses the volume, or, in a class with the parameter growth=offline, only
// before it is mounted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// driver is the name of the driver in storage classes.
const driver = "disks.statefulset.dev"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "disks:", err)
		os.Exit(1)
	}
}

func run() error {
	node := flag.String("node", "", "`name` of the node whose kubelet mounts the volumes")
	kubelet := flag.String("kubelet", "", "`directory` of that kubelet")
	dir := flag.String("dir", "", "`directory` of the volumes")
	socket := flag.String("socket", "", "`path` of the socket that the provisioner, the resizer and the kubelet call")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return fmt.Errorf("creating the directory of the volumes: %w", err)
	}
	volumes := grpc.NewServer()
	csi.RegisterIdentityServer(volumes, identity{})
	csi.RegisterControllerServer(volumes, controller{dir: *dir})
	csi.RegisterNodeServer(volumes, mounts{dir: *dir, node: *node})
	plugins := grpc.NewServer()
	registration.RegisterRegistrationServer(plugins, plugin{endpoint: *socket})

	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return serve(ctx, volumes, *socket) })
	serving.Go(func() error {
		return serve(ctx, plugins, filepath.Join(*kubelet, "plugins_registry", driver+".sock"))
	})
	return serving.Wait()
}

// serve listens on a socket until the context ends. It replaces a socket that an earlier process
// left.
func serve(ctx context.Context, server *grpc.Server, socket string) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the socket of an earlier process: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	if err := server.Serve(listener); err != nil {
		return fmt.Errorf("serving %s: %w", socket, err)
	}
	return nil
}

// plugin registers the driver with the kubelet.
type plugin struct {
	registration.UnimplementedRegistrationServer

	endpoint string
}

func (p plugin) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: driver, Endpoint: p.endpoint, SupportedVersions: []string{"1.0.0"}},
		nil
}

func (plugin) NotifyRegistrationStatus(_ context.Context,
	status *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if !status.GetPluginRegistered() {
		fmt.Fprintln(os.Stderr, "disks: the kubelet did not register the driver:", status.GetError())
	}
	return &registration.RegistrationStatusResponse{}, nil
}

// identity describes the driver.
type identity struct {
	csi.UnimplementedIdentityServer
}

func (identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driver, VendorVersion: "1"}, nil
}

func (identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

func (identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{
		{Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}}},
		{Type: &csi.PluginCapability_VolumeExpansion_{
			VolumeExpansion: &csi.PluginCapability_VolumeExpansion{Type: csi.PluginCapability_VolumeExpansion_ONLINE}}},
	}}, nil
}
