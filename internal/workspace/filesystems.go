package workspace

import (
	"strconv"
	"strings"
)

// fuseMagic is Linux's number for every file system that a program serves, and for virtiofs.
const fuseMagic = 0x65735546

// unsafeMagic names the file systems of Linux with another machine at the other end. Their locks or their
// shared memory don't work across machines, or only with some versions and options.
var unsafeMagic = map[uint32]string{
	0x00006969: "nfs",
	0x0000517b: "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x0000564c: "ncpfs",
	0x01021997: "9p",
	0x5346414f: "afs",
	0x6b414653: "kafs",
	0x73757245: "coda",
	0x00c36400: "ceph",
	0x0bd00bd0: "lustre",
	0x47504653: "gpfs",
	0x19830326: "beegfs",
	0x20030528: "orangefs",
	0xaad7aaea: "panfs",
	0x61636673: "acfs",
	0x01161970: "gfs2",
	0x7461636f: "ocfs2",
	0xbeefdead: "snfs",
	0x013111a8: "ibrix",
	0x18031977: "wekafs",
	0x786f4256: "vboxsf",
	0xbacbacbc: "vmhgfs",
	0x7c7c6670: "prl_fs",
}

// safeFUSE lists the FUSE file systems that use a local disk. All others are refused: most of them use a
// network, and a wrong yes costs the database.
var safeFUSE = map[string]bool{
	"fuseblk":             true, // NTFS, exFAT
	"fuse.fuse-overlayfs": true, // the root of a rootless container
	"fuse.gocryptfs":      true,
	"fuse.encfs":          true,
	"fuse.cryfs":          true,
	"fuse.securefs":       true,
	"fuse.bindfs":         true,
	"fuse.ntfs-3g":        true,
	"fuse.ntfs":           true,
	"fuse.exfat":          true,
	"fuse.fuse2fs":        true,
	"fuse.ext4":           true,
	"fuse.zfs":            true,
	"fuse.zfs-fuse":       true,
}

// classifyMagic decides about a Linux file system by its magic number and, for FUSE, by its type in the mount
// table. The kind is empty for a safe one that needs no name.
func classifyMagic(magic uint32, mounted string) (kind string, safe bool) {
	// FUSE has one number for all of its file systems.
	if magic == fuseMagic {
		if mounted == "" {
			mounted = "fuse"
		}
		return mounted, safeFUSE[mounted]
	}

	if name, ok := unsafeMagic[magic]; ok {
		return name, false
	}

	return "", true
}

// classifyName decides about a macOS file system by its name, and by whether macOS calls it local.
func classifyName(name string, local bool) (kind string, safe bool) {
	switch name {
	case "nfs", "smbfs", "afpfs", "webdav", "ftp", "cifs", "AppleVirtIOFS", "macfuse", "osxfuse":
		return name, false
	}
	return name, local
}

// typeOfDevice finds the type of the file system on a device in /proc/self/mountinfo. A line of it is: id,
// parent, major:minor, root, mount point, options, optional fields, a hyphen, type, source, options.
func typeOfDevice(mountinfo []byte, major, minor uint32) string {
	device := strconv.FormatUint(uint64(major), 10) + ":" + strconv.FormatUint(uint64(minor), 10)
	for line := range strings.Lines(string(mountinfo)) {
		place, kind, ok := strings.Cut(line, " - ")
		if !ok {
			continue
		}

		fields := strings.Fields(place)
		types := strings.Fields(kind)
		if len(fields) >= 3 && fields[2] == device && len(types) > 0 {
			return types[0]
		}
	}

	return ""
}
