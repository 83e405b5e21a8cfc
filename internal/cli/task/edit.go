package task

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// addLabelFlag adds the flag that names labels, which may be repeated.
func addLabelFlag(c *cobra.Command, labels *[]string, usage string) {
	app.AddListFlag(c, labels, "label", usage)
}

// addPriorityFlag adds the flag for a priority.
func addPriorityFlag(c *cobra.Command, priority *string, usage string) {
	c.Flags().StringVar(priority, "priority", "", usage)
}

// labelText names the labels of a task in a list.
func labelText(labels []string) stick.Words {
	if len(labels) == 1 {
		return "label " + stick.Names(labels, 1)
	}
	return "labels " + stick.Names(labels, 5)
}

func workerEditCmd(a *app.Run) *cobra.Command {
	var description, spec, priority string
	var labels []string
	c := &cobra.Command{
		Use: "edit <task>", Short: "Change what a task is about, until it is approved",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
		Long: "Change the description, the spec, the labels or the priority of a task that isn't approved. Its worker gets\n" +
			"a message, and finds the new text in tt task prompt. --label replaces all labels; --label '' removes them.",
	}

	c.Flags().StringVar(&description, "description", "", "what to do")
	c.Flags().StringVar(&spec, "spec", "", "a file with the details, or - for standard input")
	addLabelFlag(c, &labels, "all labels that it is to have, separated by commas")
	addPriorityFlag(c, &priority, "high, normal or low: which task comes first")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		p := task.WorkerEditParams{TaskID: args[0], Where: path.Where()}
		given := c.Flags().Changed
		if given("description") {
			p.Description = &description
		}
		if given("label") {
			p.Labels = &labels
		}
		if given("priority") {
			p.Priority = &priority
		}
		if given("spec") {
			if spec, err = specOf(a, spec); err != nil {
				return err
			}
			p.Spec = &spec
		}

		if p.Description == nil && p.Labels == nil && p.Priority == nil && p.Spec == nil {
			return stick.Errorf(stick.CodeUsage, "say what to change of %s", stick.Clip(p.TaskID, 64)).
				With("field", "description").With("task_id", stick.Clip(p.TaskID, 64)).
				Hintf("%s; to see it: %s", stick.Cmd("tt task edit <task_id> --description …", p.TaskID),
					stick.Cmd("tt task show <task_id>", p.TaskID))
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerEditResult, error) {
			p.Caller = by
			return e.WorkerEdit(c.Context(), p)
		}, showEdited)
	}

	return c
}

// showEdited shows a task as it is after it was changed.
func showEdited(p *term.Page, res task.WorkerEditResult) {
	t := res.Task
	if res.Already {
		p.Linef("%s is like that already", t.TaskID)
	} else {
		p.Linef("%s is changed", t.TaskID)
	}

	if t.Description != "" {
		p.Linef("  %-12s %s", "what", stick.Quote(t.Description, 160))
	}
	showFact(p, "labels", stick.Names(t.Labels, len(t.Labels)))
	showFact(p, "priority", stick.Words(t.Priority.String()))

	if res.Delivery != "" && res.Note == "" {
		p.Linef("%s gets a message", t.Worker)
	}
	if res.Note != "" {
		p.Linef("note: %s", res.Note)
	}
}
