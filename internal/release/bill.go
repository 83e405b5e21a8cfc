package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// The bill of materials is a document of CycloneDX 1.6. It says what the programs say of themselves, so
// nobody is asked for it.
type (
	bill struct {
		Schema     string       `json:"$schema"`
		Format     string       `json:"bomFormat"`
		Spec       string       `json:"specVersion"`
		Version    int          `json:"version"`
		Metadata   metadata     `json:"metadata"`
		Components []component  `json:"components"`
		Depends    []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Licences   []licensed `json:"licenses"`
		Purl       string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	licensed struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

func licensedAs(names []string) (all []licensed) {
	for _, name := range names {
		var l licensed
		l.License.ID = name
		all = append(all, l)
	}
	return all
}

// makeBill makes the bill of materials of all programs of the release. A component that some of them lack
// says which have it.
func (r *release) makeBill(modules []module) ([]byte, error) {
	self := component{
		Type: "application", Ref: "tt", Name: "tt", Version: r.commit.version, Licences: licensedAs([]string{"MIT"}),
		Properties: []property{{"talkingstick:commit", r.commit.hash}},
	}

	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{r.commit.date.Format(time.RFC3339), self},
	}

	on := dependency{Ref: self.Ref}
	for _, m := range modules {
		purl := "pkg:golang/" + m.path + "@" + m.version
		c := component{
			Type: "library", Ref: purl, Name: m.path, Version: m.version,
			Licences: licensedAs(m.licences), Purl: purl,
		}

		if m.sum != "" {
			c.Properties = append(c.Properties, property{"talkingstick:go.sum", m.sum})
		}

		// What all programs are linked from says nothing of systems.
		if len(m.systems) < len(r.systems) {
			c.Properties = append(c.Properties, property{"talkingstick:systems", strings.Join(m.systems, " ")})
		}

		b.Components, on.On = append(b.Components, c), append(on.On, purl)
	}

	b.Depends = []dependency{on}

	// Addresses may have characters that HTML would have escaped.
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(b)
	return out.Bytes(), err
}
