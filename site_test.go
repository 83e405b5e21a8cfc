package talkingstick_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// siteConfig says what the site of `make docs` shows, and in which order.
const siteConfig = "docs/site/.vitepress/config.mjs"

// TestSite_Menu checks that a reader of the site finds each page: its menu is the list of pages in the README of a folder, and
// what siteConfig adds.
func TestSite_Menu(t *testing.T) {
	for _, dir := range []string{"docs/guide", "docs/reference"} {
		list, err := os.ReadFile(path.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}

		pages, err := fs.Glob(os.DirFS(dir), "*.md")
		if err != nil {
			t.Fatal(err)
		}

		for _, page := range pages {
			if page != "README.md" && !strings.Contains(string(list), "]("+page+")") {
				t.Errorf("%s/README.md doesn't list %s", dir, page)
			}
		}
	}
}

var sitePage = regexp.MustCompile(`page\('[^']+', '/([^']*)'\)`)

// TestSite_Pages checks that each page that siteConfig names is there.
func TestSite_Pages(t *testing.T) {
	config, err := os.ReadFile(siteConfig)
	if err != nil {
		t.Fatal(err)
	}

	links := sitePage.FindAllStringSubmatch(string(config), -1)
	if len(links) < 10 {
		t.Fatalf("%s names %d pages: has its form changed?", siteConfig, len(links))
	}

	for _, link := range links {
		file := link[1] + ".md"
		if link[1] == "" || strings.HasSuffix(link[1], "/") {
			file = link[1] + "README.md"
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: /%s leads nowhere: %v", siteConfig, link[1], err)
		}
	}
}
