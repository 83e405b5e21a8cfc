package postgres

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// The types of PostgreSQL that the store uses, by their numbers in its protocol. Times and truth values are
// 64 bit integers.
const (
	pgInt8  = 20
	pgText  = 25
	pgBytea = 17
)

// pgArgs are the arguments of a statement as they are sent: as text, but for bytes. Their types are given, so
// that no statement has to be prepared before it runs, which poolers would break.
type pgArgs struct {
	values  [][]byte
	types   []uint32
	formats []int16
}

// pgArgsOf converts arguments.
func pgArgsOf(args []any) (pgArgs, error) {
	a := pgArgs{make([][]byte, len(args)), make([]uint32, len(args)), make([]int16, len(args))}
	for i, arg := range args {
		if b, ok := arg.([]byte); ok {
			// The copy is never nil: no bytes aren't NULL.
			a.values[i], a.types[i], a.formats[i] = append([]byte{}, b...), pgBytea, 1
			continue
		}

		a.types[i] = pgInt8
		switch v := reflect.ValueOf(arg); v.Kind() {
		case reflect.String:
			a.values[i], a.types[i] = []byte(v.String()), pgText
			if strings.ContainsRune(v.String(), 0) {
				return a, errNotText
			}
		case reflect.Bool:
			a.values[i] = []byte("0")
			if v.Bool() {
				a.values[i] = []byte("1")
			}
		case reflect.Int, reflect.Int64, reflect.Int32:
			a.values[i] = strconv.AppendInt(nil, v.Int(), 10)
		case reflect.Uint32:
			a.values[i] = strconv.AppendUint(nil, v.Uint(), 10)
		default:
			return a, fmt.Errorf("the store can't pass a %T to PostgreSQL", arg)
		}
	}

	return a, nil
}

// pgScan reads a row, whose values are text, into variables.
func pgScan(row [][]byte, into []any) error {
	if len(row) != len(into) {
		return fmt.Errorf("a row has %d columns, and %d are read", len(row), len(into))
	}

	for i, to := range into {
		if err := pgScanValue(row[i], to); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}

	return nil
}

func pgScanValue(text []byte, to any) (err error) {
	// These are the kinds that rooms and events are made of. Reflection takes longer.
	switch to := to.(type) {
	case *string:
		*to = string(text)
		return nil
	case *int64:
		*to, err = strconv.ParseInt(string(text), 10, 64)
		return err
	case *stick.Time:
		n, err := strconv.ParseInt(string(text), 10, 64)
		*to = stick.Time(n)
		return err
	case *[]byte:
		*to, err = hex.DecodeString(strings.TrimPrefix(string(text), `\x`))
		return err
	}

	v := reflect.ValueOf(to)
	if v.Kind() != reflect.Pointer {
		return fmt.Errorf("the store can't read into a %T", to)
	}

	v = v.Elem()
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(text))
	case reflect.Bool:
		switch string(text) {
		case "1", "t":
			v.SetBool(true)
		case "0", "f":
			v.SetBool(false)
		default:
			return fmt.Errorf("%q is no truth value", text)
		}
	case reflect.Int, reflect.Int64, reflect.Int32:
		n, err := strconv.ParseInt(string(text), 10, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetInt(n)
	case reflect.Uint32:
		n, err := strconv.ParseUint(string(text), 10, 32)
		if err != nil {
			return err
		}
		v.SetUint(n)
	default:
		return fmt.Errorf("the store can't read into a %T", to)
	}
	return nil
}
