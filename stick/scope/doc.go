// Package scope holds the rules of reservations: who may reserve which paths, where two reservations meet, and when
// one is stale.
package scope
