package stick

// NoSlot is the [Task.Slot] of a task that has none.
const NoSlot = -1

// slotOf returns the slot that an event gives to its task.
func slotOf(f *int) int {
	if f == nil {
		return NoSlot
	}
	return *f
}

// afterTasks names the tasks that another one waits for, at the end of a sentence.
func afterTasks(after []string) Words {
	if len(after) == 0 {
		return ""
	}
	return " after " + Names(after, len(after))
}
