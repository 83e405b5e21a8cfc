-- min_reader: 9. An older program denies all edits in a room with enforce=warn, because it doesn't know the word.
-- A room from before the policy enforce goes on to enforce nothing, though new rooms warn.

UPDATE rooms SET policy = '{"enforce":"off",' || substr(policy, 2) WHERE policy LIKE '{"%' AND policy NOT LIKE '%"enforce":%';
