// Command empty does nothing. It shows the least that a Go process costs.
package main

func main() {}
