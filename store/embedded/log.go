// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"slices"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// etcdLog makes etcd's log part of ours, from a level on that can be changed.
//
// What etcd logs as its last words before it would panic or exit, as it does
// when it finds its data damaged, is raised as a panic in full, so that
// startWithoutPanic can report it: by itself the panic has only the message, and
// leaves out the error and the file that it speaks of. Once etcd is running such
// a panic could not be caught, so the process is ended instead, as onFatal says.
type etcdLog struct {
	zap.AtomicLevel
	fatal  *atomic.Pointer[func(error)]
	fields []zapcore.Field
}

const (
	// quietStart keeps remarks on the configuration out of the log, which is ours.
	quietStart = zapcore.ErrorLevel
	// whileRunning lets slow disks and the like be heard of.
	whileRunning = zapcore.WarnLevel
	// quietStop keeps out the errors of listeners that are closed on purpose.
	quietStop = zapcore.DPanicLevel
)

func newEtcdLog() etcdLog {
	return etcdLog{AtomicLevel: zap.NewAtomicLevelAt(quietStart), fatal: &atomic.Pointer[func(error)]{}}
}

// onFatal says how the process ends when etcd cannot go on.
func (l etcdLog) onFatal(end func(error)) { l.fatal.Store(&end) }

// logger is what etcd is given.
func (l etcdLog) logger() *zap.Logger { return zap.New(l).Named("etcd") }

// With adds fields to every entry.
func (l etcdLog) With(fields []zapcore.Field) zapcore.Core {
	l.fields = append(slices.Clip(l.fields), fields...)
	return l
}

// Check takes an entry if its level is high enough.
func (l etcdLog) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if l.Enabled(entry.Level) {
		return checked.AddCore(entry, l)
	}
	return checked
}

// Write hands an entry on.
func (l etcdLog) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(slices.Clip(l.fields), fields...) {
		f.AddTo(values)
	}
	if entry.Level >= zapcore.PanicLevel {
		reason := fmt.Sprintf("%s: %v", entry.Message, values.Fields)
		if end := l.fatal.Load(); end != nil {
			(*end)(fmt.Errorf("the embedded etcd cannot go on: %s", reason))
		}
		panic(reason)
	}
	args := []any{"etcd", entry.LoggerName}
	for key, value := range values.Fields {
		args = append(args, key, value)
	}
	if entry.Level >= zapcore.ErrorLevel {
		klog.Background().Error(nil, entry.Message, args...)
	} else {
		klog.Background().Info(entry.Message, args...)
	}
	return nil
}

// Sync has nothing to flush: our log does that.
func (etcdLog) Sync() error { return nil }
