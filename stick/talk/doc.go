// Package talk holds the rules of messages, notes and drafts of handoffs: who may send what to whom, what a recipient
// owes, and how soon a message may wake an agent.
package talk
