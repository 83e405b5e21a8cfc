package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file of a package, or a whole output.
type file struct {
	name string // with /, relative
	mode fs.FileMode
	data []byte
}

// sortFiles sorts files by their names.
func sortFiles(files []file) []file {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files
}

// makeArchive makes what people unpack by hand: one folder with the programs, their completions, its manual
// pages and its texts.
func (r *release) makeArchive(p program, pages, texts []file) (file, error) {
	name := fmt.Sprintf("tt_%s_%s_%s", r.commit.version, p.os, p.arch)
	in := slices.Concat(p.filesIn(""), pages, texts)

	for i := range in {
		if rest, ok := strings.CutPrefix(in[i].name, "man/"); ok {
			in[i].name = "man/man1/" + rest
		}
		in[i].name = name + "/" + in[i].name
	}

	// Windows opens zip archives by itself.
	pack, ending := packTarGz, ".tar.gz"
	if p.os == "windows" {
		pack, ending = packZip, ".zip"
	}

	b, err := pack(in, r.commit.date, "")
	return file{name + ending, 0o644, b}, err
}

// packTarGz packs files into a compressed tar archive. All of it has one time and belongs to root. A root
// that isn't empty is the name of a folder that all names are below, such as ".", which Debian wants.
func packTarGz(files []file, when time.Time, root string) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)

	made := map[string]bool{}

	// Folders come before what lies in them, each once.
	var add func(dir string) error
	add = func(dir string) error {
		if made[dir] || dir == "." && root == "" {
			return nil
		}

		made[dir] = true
		if dir != "." {
			if err := add(path.Dir(dir)); err != nil {
				return err
			}
		}
		return t.WriteHeader(tarHeader(tar.TypeDir, joinRoot(root, dir)+"/", 0o755, 0, when))
	}

	// Sorted by name, two builds of one commit have the same bytes.
	for _, f := range sortFiles(slices.Clone(files)) {
		if err := add(path.Dir(f.name)); err != nil {
			return nil, err
		}
		h := tarHeader(tar.TypeReg, joinRoot(root, f.name), f.mode, len(f.data), when)
		if err := t.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}

	if err := t.Close(); err != nil {
		return nil, err
	}

	err := z.Close()
	return b.Bytes(), err
}

// tarHeader describes a file or a folder of an archive.
func tarHeader(kind byte, name string, mode fs.FileMode, size int, when time.Time) *tar.Header {
	return &tar.Header{
		Typeflag: kind, Name: name, Mode: int64(mode), Size: int64(size), ModTime: when,
		Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
	}
}

func joinRoot(root, name string) string {
	if root == "" || name == "." {
		return cmp.Or(root, name)
	}
	return root + "/" + name
}

// packZip packs files into a zip archive, all with one time.
func packZip(files []file, when time.Time, _ string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range sortFiles(slices.Clone(files)) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)

		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}

	err := z.Close()
	return b.Bytes(), err
}

// compressFile compresses a file, without its name and time.
func compressFile(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}

	if _, err := z.Write(data); err != nil {
		return nil, err
	}

	err = z.Close()
	return b.Bytes(), err
}
