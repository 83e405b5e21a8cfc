package workspace

import (
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/stick"
)

func TestJudge(t *testing.T) {
	tests := []struct {
		name    string
		magic   uint32
		mounted string
		kind    string
		safe    bool
	}{
		{"ext4", 0xef53, "", "", true},
		{"btrfs", 0x9123683e, "", "", true},
		{"xfs", 0x58465342, "", "", true},
		{"zfs", 0x2fc12fc1, "", "", true},
		{"tmpfs", 0x01021994, "", "", true},
		{"overlay", 0x794c7630, "", "", true},
		{"nfs", 0x6969, "", "nfs", false},
		{"smb", 0x517b, "", "smb", false},
		{"cifs", 0xff534d42, "", "cifs", false},
		{"smb2", 0xfe534d42, "", "smb2", false},
		{"9p", 0x01021997, "", "9p", false},
		{"ceph", 0x00c36400, "", "ceph", false},
		{"lustre", 0x0bd00bd0, "", "lustre", false},
		{"virtiofs", fuseMagic, "virtiofs", "virtiofs", false},
		{"sshfs", fuseMagic, "fuse.sshfs", "fuse.sshfs", false},
		{"s3fs", fuseMagic, "fuse.s3fs", "fuse.s3fs", false},
		{"glusterfs", fuseMagic, "fuse.glusterfs", "fuse.glusterfs", false},
		{"a shared folder", fuseMagic, "fuse.grpcfuse", "fuse.grpcfuse", false},
		{"fuse of no known kind", fuseMagic, "", "fuse", false},
		{"ntfs", fuseMagic, "fuseblk", "fuseblk", true},
		{"rootless container", fuseMagic, "fuse.fuse-overlayfs", "fuse.fuse-overlayfs", true},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if kind, safe := classifyMagic(tt.magic, tt.mounted); kind != tt.kind || safe != tt.safe {
				t.Errorf("got %q, %v, want %q, %v", kind, safe, tt.kind, tt.safe)
			}
		})
	}
}

func TestJudgeName(t *testing.T) {
	for name, local := range map[string]bool{
		"apfs": true, "hfs": true, "smbfs": false, "nfs": false, "someday": false,
	} {
		if _, safe := classifyName(name, local); safe != local {
			t.Errorf("%s: got %v, want %v", name, safe, local)
		}
	}

	if _, safe := classifyName("macfuse", true); safe {
		t.Error("macfuse calls itself local and was believed")
	}
}

func TestTypeOfDevice(t *testing.T) {
	const table = `22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw
28 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
90 28 0:45 / /home/a/re\040mote rw,nosuid shared:50 master:3 - fuse.sshfs host:/srv rw,user_id=1000
91 28 0:46 /sub /mnt rw - virtiofs share rw
a line of another kind
`

	for device, want := range map[[2]uint32]string{
		{0, 45}: "fuse.sshfs", {0, 46}: "virtiofs", {259, 2}: "ext4", {0, 4}: "", {7, 7}: "",
	} {
		if got := typeOfDevice([]byte(table), device[0], device[1]); got != want {
			t.Errorf("%v: got %q, want %q", device, got, want)
		}
	}
}

func TestLocal(t *testing.T) {
	dir := t.TempDir()
	if err := CheckLocal(dir); err != nil {
		e := stick.AsError(err)
		if e.Code != stick.CodeFileSystem || !strings.Contains(e.Hint.String(), "TALKING_STICK_DATA_DIR") {
			t.Errorf("got %v", err)
		}
		t.Skipf("the temporary directory isn't on a local disk: %v", err)
	}

	if err := CheckLocal(filepath.Join(dir, "not/there/yet")); err != nil {
		t.Errorf("a directory that doesn't exist yet: %v", err)
	}
}
