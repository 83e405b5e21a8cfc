package stick

// AgentNames names up to three agents, and counts the others.
func AgentNames(all []AgentID) Words {
	const most = 3
	names := make([]Words, min(len(all), most))
	for i := range names {
		names[i] = AgentName(all[i])
	}

	if more := len(all) - most; more > 0 {
		names = append(names, Wordsf("%d more", more))
	}

	if last := len(names) - 1; last > 0 {
		return JoinWords(names[:last], ", ") + " and " + names[last]
	}

	return names[0]
}
