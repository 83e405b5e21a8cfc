// Package timeline draws the log of a room as lanes: who held the stick, who waited for it, and when.
package timeline
