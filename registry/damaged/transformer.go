// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"bytes"
	"context"
	"errors"

	"google.golang.org/grpc/status"
	"k8s.io/apiserver/pkg/storage/value"
)

// transformer puts values from etcd into envelopes, after the configured transformer has decrypted
// them.
type transformer struct {
	value.Transformer
}

// TransformFromStorage decrypts a value. If that fails because a key service cannot be reached, the
// value may be intact, and does not count as damaged.
func (t transformer) TransformFromStorage(ctx context.Context, data []byte, at value.Context) ([]byte, bool, error) {
	out, stale, err := t.Transformer.TransformFromStorage(ctx, data, at)
	mode, key := modeOf(ctx), string(at.AuthenticatedData())
	switch {
	case err != nil && (isOutage(err) || mode != substitute):
		return nil, false, &unreadable{key: key, cause: err}
	case err != nil:
		//nolint:nilerr // the envelope carries the fault to the codec, which knows the set
		return envelope{mode: mode, key: key, fault: err.Error()}.seal(), false, nil
	case mode == bare && !bytes.HasPrefix(out, []byte(magic)):
		return out, stale, nil
	default:
		return envelope{mode: mode, key: key, value: out}.seal(), stale, nil
	}
}

// isOutage reports whether a retry may succeed.
func isOutage(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var remote interface{ GRPCStatus() *status.Status }
	return errors.As(err, &remote)
}
