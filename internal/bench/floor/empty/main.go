// Command empty does nothing: what a process of Go costs at least.
package main

func main() {}
