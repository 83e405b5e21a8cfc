package web

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"
)

// described begins the part of a picture that says what the page in it says: text in UTF-8, after its name,
// and without a language (iTXt).
const described = "Description\x00\x00\x00\x00\x00"

// shrink makes a picture smaller, by using the 256 most frequent of its colours, and puts a text into it.
func shrink(b []byte, says string) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	size := from.Bounds()
	count := map[color.RGBA]int{}

	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(from.At(x, y)).(color.RGBA) }
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			count[at(x, y)]++
		}
	}

	var colors []color.RGBA
	for c := range count {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G),
			cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colors[:min(256, len(colors))] {
		palette = append(palette, c)
	}
	to := image.NewPaletted(size, palette)

	index := map[color.RGBA]uint8{}
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			c := at(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			to.SetColorIndex(x, y, i)
		}
	}

	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to); err != nil {
		return nil, err
	}
	const head = 8 + 25 // the signature, and the part with the size
	return slices.Concat(out.Bytes()[:head], chunk("iTXt"+described+says), out.Bytes()[head:]), nil
}

// chunk is a part of a picture, with its length before its name and its sum at its end.
func chunk(text string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(text)-4))
	return binary.BigEndian.AppendUint32(append(b, text...), crc32.ChecksumIEEE([]byte(text)))
}

// saidBy is the text that [shrink] has put into a picture.
func saidBy(b []byte) string {
	i := bytes.Index(b, []byte("iTXt"+described))
	if i < 4 {
		return ""
	}

	n := int(binary.BigEndian.Uint32(b[i-4:]))
	if text := b[i+4:]; n <= len(text) {
		return string(text[len(described):n])
	}

	return ""
}

// A picture with few colours stays as it is, and says what it was told to.
func TestShrink(t *testing.T) {
	from := image.NewRGBA(image.Rect(0, 0, 30, 20))
	for x := range 30 {
		for y := range 20 {
			from.Set(x, y, color.RGBA{uint8(8 * x), uint8(12 * y), 0, 255})
		}
	}

	var b bytes.Buffer
	if err := png.Encode(&b, from); err != nil {
		t.Fatal(err)
	}
	small, err := shrink(b.Bytes(), "what the page says: ✓")
	if err != nil {
		t.Fatal(err)
	}
	if text := saidBy(small); text != "what the page says: ✓" || saidBy(b.Bytes()) != "" {
		t.Errorf("it says %q", text)
	}

	to, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := to.(*image.Paletted)
	if !ok || len(p.Palette) != 256 || p.Bounds() != from.Bounds() {
		t.Errorf("it is a %T of %v", to, to.Bounds())
	}

	for i := range 20 { // each of 600 colours becomes one that is near
		is, was := color.RGBAModel.Convert(to.At(i, i)).(color.RGBA), from.RGBAAt(i, i)
		if off := max(is.R, was.R) - min(is.R, was.R); off > 128 {
			t.Errorf("%v became %v", was, is)
		}
	}
}
