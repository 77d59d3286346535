// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// offline is the prefix of the names of volumes that grow only while they are not in use.
	offline = "offline-"
	// smallest and largest limit the size of a disk, in bytes: XFS needs 300 MiB.
	smallest = 300 << 20
	largest  = 1 << 30
)

// controller creates and expands volumes, and changes their attributes.
type controller struct {
	csi.UnimplementedControllerServer

	dir string
}

func (controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse,
	error) {
	var can []*csi.ControllerServiceCapability
	for _, what := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csi.ControllerServiceCapability_RPC_EXPAND_VOLUME,
		csi.ControllerServiceCapability_RPC_MODIFY_VOLUME,
	} {
		can = append(can,
			&csi.ControllerServiceCapability{Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: what}}})
	}
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: can}, nil
}

func (c controller) CreateVolume(ctx context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	id := request.GetName()
	if request.GetParameters()["growth"] == "offline" {
		id = offline + id
	}
	size := request.GetCapacityRange().GetRequiredBytes()
	if err := checkSize(size); err != nil {
		return nil, err
	}
	if err := c.setSpeed(id, request.GetMutableParameters()); err != nil {
		return nil, err
	}
	path := imageOf(c.dir, id)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		if err := makeImage(ctx, path, size); err != nil {
			return nil, err
		}
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: id, CapacityBytes: size}}, nil
}

func (c controller) DeleteVolume(_ context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	for _, path := range []string{imageOf(c.dir, request.GetVolumeId()), c.speedOf(request.GetVolumeId())} {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return nil, internal(err)
		}
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func (controller) ValidateVolumeCapabilities(_ context.Context,
	request *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	return &csi.ValidateVolumeCapabilitiesResponse{
		Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: request.GetVolumeCapabilities()},
	}, nil
}

// ControllerExpandVolume enlarges the file. The file system follows on the node.
func (c controller) ControllerExpandVolume(_ context.Context,
	request *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	size := request.GetCapacityRange().GetRequiredBytes()
	if err := checkSize(size); err != nil {
		return nil, err
	}
	if err := os.Truncate(imageOf(c.dir, request.GetVolumeId()), size); err != nil {
		return nil, internal(err)
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: size, NodeExpansionRequired: true}, nil
}

func checkSize(size int64) error {
	if size < smallest || size > largest {
		return status.Errorf(codes.OutOfRange, "a disk must have %d to %d bytes, got %d", smallest, largest, size)
	}
	return nil
}

// ControllerModifyVolume records the speed of a disk.
func (c controller) ControllerModifyVolume(_ context.Context,
	request *csi.ControllerModifyVolumeRequest) (*csi.ControllerModifyVolumeResponse, error) {
	return &csi.ControllerModifyVolumeResponse{}, c.setSpeed(request.GetVolumeId(), request.GetMutableParameters())
}

func (c controller) setSpeed(id string, parameters map[string]string) error {
	speed, given := parameters["speed"]
	switch {
	case !given:
		return nil
	case speed != "slow" && speed != "fast":
		return status.Errorf(codes.InvalidArgument, "speed is %q, must be slow or fast", speed)
	}
	if err := os.WriteFile(c.speedOf(id), []byte(speed), 0o600); err != nil {
		return internal(fmt.Errorf("recording the speed: %w", err))
	}
	return nil
}

func (c controller) speedOf(id string) string { return filepath.Join(c.dir, id+".speed") }

func imageOf(dir, id string) string { return filepath.Join(dir, id+".img") }

func growsOffline(id string) bool { return strings.HasPrefix(id, offline) }
