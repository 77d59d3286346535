// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "runtime"

// zookeeper is the image with ZooKeeper of Debian, and the parts of Java that its server and its
// client need.
func zookeeper() imageSpec {
	const jvm = "/usr/lib/jvm/java-17-openjdk-" + runtime.GOARCH + "/lib/"
	return imageSpec{
		name: "zookeeper", reference: "localhost/zookeeper:dev", arch: []string{runtime.GOARCH}, user: nobody, optional: true,
		entrypoint: []string{"/bin/zkServer.sh"}, path: "/bin",
		files: together(busybox,
			file("test/images/zookeeper/zkServer.sh", "/bin/zkServer.sh"), file("test/images/zookeeper/zkCli.sh", "/bin/zkCli.sh"),
			file("test/images/zookeeper/log4j.properties", "/etc/zookeeper/log4j.properties"),
			debian([]string{"/usr/share/maven-repo/", "/usr/share/zookeeper/", "/etc/zookeeper/", "/usr/lib/x86_64-linux-gnu/gconv/",
				"/usr/share/gdb/", "/var/", jvm + "ct.sym", jvm + "server/classes_nocoops.jsa"},
				"zookeeper", "libzookeeper-java", "libslf4j-java", "liblog4j1.2-java", "libnetty-java", "libsnappy-java", "libdropwizard-metrics-java",
				"libcommons-cli-java",
				"openjdk-17-jre-headless", "libc6", "libgcc-s1", "libstdc++6", "zlib1g"),
		),
	}
}

// galera is the image with MariaDB of Debian, the Galera library, and the programs that its scripts
// run to copy the data of a member to another one.
func galera() imageSpec {
	return imageSpec{
		name: "galera", reference: "localhost/galera:dev", arch: []string{runtime.GOARCH}, user: nobody, optional: true,
		entrypoint: []string{"/usr/sbin/mariadbd"}, path: "/usr/sbin:/usr/bin:/sbin:/bin",
		files: together(
			// The links that the installation of the packages would create.
			link("dash", "/bin/sh"), link("mawk", "/usr/bin/awk"), link("which.debianutils", "/usr/bin/which"),
			debian([]string{"/etc/", "/usr/lib/x86_64-linux-gnu/gconv/", "/usr/share/gdb/", "/var/",
				"/usr/bin/aria", "/usr/bin/myisam", "/usr/bin/mariadb-check", "/usr/bin/mariadb-upgrade", "/usr/bin/innochecksum",
				"/usr/bin/mariadbd-safe"},
				"mariadb-server", "mariadb-server-core", "mariadb-client-core", "mariadb-common", "mariadb-backup", "galera-4", "socat",
				"libaio1", "libnuma1", "libpcre2-8-0", "libcrypt1", "libsystemd0", "libcap2", "libgcrypt20", "libgpg-error0", "liblz4-1", "liblzma5",
				"libzstd1",
				"liburing2", "libssl3", "libmariadb3", "libedit2", "libbsd0", "libmd0", "libncurses6", "libncursesw6", "libtinfo6", "libwrap0",
				"libnsl2", "libtirpc3",
				"libgssapi-krb5-2", "libkrb5-3", "libk5crypto3", "libkrb5support0", "libcom-err2", "libkeyutils1",
				"bash", "dash", "coreutils", "debianutils", "findutils", "grep", "hostname", "lsof", "mawk", "procps", "sed", "util-linux",
				"libacl1", "libattr1", "libgmp10", "libproc2-0", "libselinux1", "libc6", "libgcc-s1", "libstdc++6", "zlib1g"),
		),
	}
}
