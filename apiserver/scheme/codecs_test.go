// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	v1 "statefulset.dev/api/apps/v1"
)

// writes keeps what was written, and how much at most at a time.
type writes struct {
	bytes.Buffer
	longest int
}

func (w *writes) Write(p []byte) (int, error) {
	w.longest = max(w.longest, len(p))
	return w.Buffer.Write(p)
}

func TestAListIsSentObjectByObject(t *testing.T) {
	const each = 10 << 10
	list := &v1.StatefulSetList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for n := range 20 {
		set := v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", n), Annotations: map[string]string{"note": strings.Repeat("x", each)}}}
		list.Items = append(list.Items, set)
	}
	known := New()
	for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		encode := func(codecs serializer.CodecFactory) *writes {
			var sent writes
			info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), encoding)
			if err := TextOnly(codecs).EncoderForVersion(info.Serializer, v1.SchemeGroupVersion).Encode(list, &sent); err != nil {
				t.Fatalf("%s: %v", encoding, err)
			}
			return &sent
		}
		sent, whole := encode(Codecs(known)), encode(serializer.NewCodecFactory(known))
		if sent.longest > 2*each {
			t.Errorf("%s: %d of %d bytes were sent at a time, want at most one set of %d", encoding, sent.longest, sent.Len(), each)
		}
		if !bytes.Equal(sent.Bytes(), whole.Bytes()) {
			t.Errorf("%s: got\n%.200q\nwant what is sent as a whole\n%.200q", encoding, sent, whole)
		}
	}
}
