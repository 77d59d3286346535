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

// etcdLog passes the log of etcd on to our log, from a level on that can change.
//
// Before etcd panics or exits, for example because its data is damaged, it logs the reason. etcdLog
// raises this log entry as a panic, so that startWithoutPanic can report it: the panic of etcd has
// only the message, without the error and the file that it is about. Once etcd is running, such a
// panic could not be recovered, so the process ends as onFatal defines.
type etcdLog struct {
	zap.AtomicLevel
	fatal  *atomic.Pointer[func(error)]
	fields []zapcore.Field
}

const (
	// quietStart keeps remarks about the configuration out of the log, because the configuration is
	// ours.
	quietStart = zapcore.ErrorLevel
	// whileRunning reports slow disks and similar problems.
	whileRunning = zapcore.WarnLevel
	// quietStop suppresses the errors of listeners that are closed on purpose.
	quietStop = zapcore.DPanicLevel
)

func newEtcdLog() etcdLog {
	return etcdLog{AtomicLevel: zap.NewAtomicLevelAt(quietStart), fatal: &atomic.Pointer[func(error)]{}}
}

// onFatal sets how the process ends when etcd cannot continue.
func (l etcdLog) onFatal(end func(error)) { l.fatal.Store(&end) }

// logger is the logger for etcd.
func (l etcdLog) logger() *zap.Logger { return zap.New(l).Named("etcd") }

// With adds fields to every entry.
func (l etcdLog) With(fields []zapcore.Field) zapcore.Core {
	l.fields = append(slices.Clip(l.fields), fields...)
	return l
}

// Check accepts an entry if its level is high enough.
func (l etcdLog) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if l.Enabled(entry.Level) {
		return checked.AddCore(entry, l)
	}
	return checked
}

// Write passes an entry on to our log.
func (l etcdLog) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(slices.Clip(l.fields), fields...) {
		f.AddTo(values)
	}
	if entry.Level >= zapcore.PanicLevel {
		reason := fmt.Sprintf("%s: %v", entry.Message, values.Fields)
		if end := l.fatal.Load(); end != nil {
			(*end)(fmt.Errorf("the embedded etcd cannot continue: %s", reason))
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

// Sync does nothing: our log flushes itself.
func (etcdLog) Sync() error { return nil }
