// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"statefulset.dev/store/embedded"
)

// members are the members of a cluster: names that end with ordinals from 0 on, each with a host.
type members struct {
	prefix string // of each name, before the ordinal
	count  int
	host   string // of each member, with placeholders
	listen string
	// ports
	client, peer int
}

func (m members) name(ordinal int) string { return m.prefix + "-" + strconv.Itoa(ordinal) }

// names are the names of all members.
func (m members) names() (all []string) {
	for ordinal := range m.count {
		all = append(all, m.name(ordinal))
	}
	return all
}

// hostOf is the name or address of a member.
func (m members) hostOf(ordinal int) string {
	return strings.NewReplacer("{name}", m.name(ordinal), "{ordinal}", strconv.Itoa(ordinal)).Replace(m.host)
}

// memberConfig describes one member for etcd.
func (m members) memberConfig(ordinal int) *embedded.MemberConfig {
	return &embedded.MemberConfig{Name: m.name(ordinal), Host: m.hostOf(ordinal), Listen: m.listen, ClientPort: m.client, PeerPort: m.peer}
}

func (m members) clientURL(ordinal int) string {
	url := m.memberConfig(ordinal).ClientURL()
	return url.String()
}

func (m members) peerURL(ordinal int) string {
	url := m.memberConfig(ordinal).PeerURL()
	return url.String()
}

// nameOf is the name of the member with a peer URL, "" if there is none.
func (m members) nameOf(peerURL string) string {
	for ordinal := range m.count {
		if m.peerURL(ordinal) == peerURL {
			return m.name(ordinal)
		}
	}
	return ""
}

// split splits a name into prefix and ordinal.
func split(name string) (prefix string, ordinal int, err error) {
	cut := strings.LastIndexByte(name, '-')
	if cut > 0 {
		ordinal, err = strconv.Atoi(name[cut+1:])
	}
	if cut <= 0 || err != nil || ordinal < 0 || strconv.Itoa(ordinal) != name[cut+1:] {
		return "", 0, fmt.Errorf("%q does not end with - and an ordinal, like statefulset-apiserver-etcd-0", name)
	}
	return name[:cut], ordinal, nil
}

// hosts are the DNS names, or the address, in a member's certificate.
func (m members) hosts(ordinal int) (names []string, addresses []net.IP) {
	host := m.hostOf(ordinal)
	if ip := net.ParseIP(host); ip != nil {
		return nil, []net.IP{ip}
	}
	return []string{host}, nil
}
