// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

// mounts is the part of the driver that the kubelet calls: a volume is staged once, and published
// for each pod that uses it.
type mounts struct {
	csi.UnimplementedNodeServer

	dir  string
	node string
}

func (m mounts) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: m.node}, nil
}

func (mounts) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	var can []*csi.NodeServiceCapability
	for _, what := range []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME, csi.NodeServiceCapability_RPC_EXPAND_VOLUME,
	} {
		can = append(can, &csi.NodeServiceCapability{Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: what}}})
	}
	return &csi.NodeGetCapabilitiesResponse{Capabilities: can}, nil
}

func (m mounts) NodeStageVolume(ctx context.Context, request *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	at := request.GetStagingTargetPath()
	if err := mount(ctx, at, "-o", "loop", imageOf(m.dir, request.GetVolumeId())); err != nil {
		return nil, err
	}
	// The file may have grown meanwhile.
	if _, err := command(ctx, "xfs_growfs", at); err != nil {
		return nil, err
	}
	// Pods may run as any user.
	if err := os.Chmod(at, 0o777); err != nil {
		return nil, internal(err)
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

func (mounts) NodeUnstageVolume(ctx context.Context, request *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	return &csi.NodeUnstageVolumeResponse{}, unmount(ctx, request.GetStagingTargetPath())
}

func (mounts) NodePublishVolume(ctx context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if err := os.MkdirAll(request.GetTargetPath(), 0o755); err != nil {
		return nil, internal(err)
	}
	return &csi.NodePublishVolumeResponse{}, mount(ctx, request.GetTargetPath(), "--bind", request.GetStagingTargetPath())
}

func (mounts) NodeUnpublishVolume(ctx context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := unmount(ctx, request.GetTargetPath()); err != nil {
		return nil, err
	}
	if err := os.Remove(request.GetTargetPath()); err != nil && !os.IsNotExist(err) {
		return nil, internal(err)
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// NodeExpandVolume expands the file system to the size of the file. For a volume that grows
// offline, staging does that, and it is impossible later: the kubelet calls NodeExpandVolume only
// after it has published the volume.
func (m mounts) NodeExpandVolume(ctx context.Context, request *csi.NodeExpandVolumeRequest) (*csi.NodeExpandVolumeResponse, error) {
	image := imageOf(m.dir, request.GetVolumeId())
	var err error
	if growsOffline(request.GetVolumeId()) {
		err = expectGrown(ctx, image)
	} else {
		err = growMounted(ctx, image, request.GetStagingTargetPath())
	}
	if err != nil {
		return nil, err
	}
	return &csi.NodeExpandVolumeResponse{CapacityBytes: request.GetCapacityRange().GetRequiredBytes()}, nil
}
