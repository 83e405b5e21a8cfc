PRAGMA application_id=0x54547374;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO meta VALUES('schema','6');
INSERT INTO meta VALUES('min_reader','5');
INSERT INTO meta VALUES('generation','2');
INSERT INTO meta VALUES('boot','5e1f0c2b-0000-4000-8000-000000000002');
INSERT INTO meta VALUES('world','reboot');
CREATE TABLE rooms (
    room_id         TEXT PRIMARY KEY,
    canonical_path  TEXT NOT NULL UNIQUE,
    created_at      INTEGER NOT NULL,
    -- derived
    updated_at      INTEGER NOT NULL, -- when the last event was made
    closed          INTEGER NOT NULL,
    policy          TEXT NOT NULL,
    generation      INTEGER NOT NULL,
    last_event_seq  INTEGER NOT NULL,
    last_sum        TEXT NOT NULL,
    turn_id         INTEGER NOT NULL,
    state           TEXT NOT NULL,
    owner           TEXT NOT NULL,
    lease_id        TEXT NOT NULL,
    reserved_for    TEXT NOT NULL,
    reserved_by     TEXT NOT NULL,
    prior_owner     TEXT NOT NULL,
    handoff_event_seq INTEGER NOT NULL,
    handoff_pending INTEGER NOT NULL,
    handoff_direct  INTEGER NOT NULL,
    next_action     TEXT NOT NULL,
    -- evidence: what deadlines and offers are counted from, and the place in the order of members
    sequence_index  INTEGER NOT NULL,
    granted_at      INTEGER NOT NULL,
    reserved_at     INTEGER NOT NULL,
    free_since      INTEGER NOT NULL,
    acked           INTEGER NOT NULL,
    renewed_at      INTEGER NOT NULL,
    guardian_pid    INTEGER NOT NULL,
    idle_notice_at  INTEGER NOT NULL,
    idle_since      INTEGER NOT NULL,
    opened_at       INTEGER NOT NULL,
    round           INTEGER NOT NULL,
    round_at        INTEGER NOT NULL,
    offered_at      INTEGER NOT NULL
, messages INTEGER NOT NULL DEFAULT 0, session_ended_at INTEGER NOT NULL DEFAULT 0);
INSERT INTO rooms VALUES('room-52e486710501f297','/home/ann/app',1795319227800,1795319236834,0,'{"claim_ttl_ms":1200000,"enforce":"off","heartbeat_interval_ms":300000,"order":"fair","owner_idle_ttl_ms":2700000,"owner_lease_ttl_ms":2700000,"presence_ttl_ms":14400000,"require_contracts":false,"wait_for_events_max_wait_ms":110000,"wait_for_turn_max_wait_ms":110000,"waiter_grace_ms":5000}',2,1048781,'499bc852260a4268826537b6472b283d21e45b87a6eb6b2b2a0bd88059e62983',4113,'owned','codex','e29a494491fea22a582812ea8e1d8b4a','','','',52,0,0,'b',2,1795319236834,0,0,0,0,0,0,0,0,19,0,0,0,1795319230032);
INSERT INTO rooms VALUES('room-939f40eed7d96988','/home/ann/lib',1795319233160,1795319234787,0,'{"claim_ttl_ms":1200000,"enforce":"off","heartbeat_interval_ms":300000,"order":"fair","owner_idle_ttl_ms":2700000,"owner_lease_ttl_ms":2700000,"presence_ttl_ms":14400000,"require_contracts":false,"wait_for_events_max_wait_ms":110000,"wait_for_turn_max_wait_ms":110000,"waiter_grace_ms":10000}',1,184,'ca11017c6d2f495c15aab0f56df1deda88d4cb13eec7898d2c37816753f6d65a',0,'idle','','','','','',0,0,0,'',0,0,0,1795319233160,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO rooms VALUES('room-4c34ff39e28fa7d8','/home/ann/web',1795319235379,1795319235715,0,'{"claim_ttl_ms":1200000,"enforce":"off","heartbeat_interval_ms":300000,"order":"fair","owner_idle_ttl_ms":2700000,"owner_lease_ttl_ms":2700000,"presence_ttl_ms":14400000,"require_contracts":false,"wait_for_events_max_wait_ms":110000,"wait_for_turn_max_wait_ms":110000,"waiter_grace_ms":10000}',1,193,'4509136a84c48117cc915c9502b955dab1169c42bf50d1c619270f2691090a1e',0,'idle','','','','','',0,0,0,'',0,0,0,1795319235379,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO rooms VALUES('room-97dc79fd21a75eec','/home/ann/doc',1795319236417,1795319236844,0,'{"claim_ttl_ms":1200000,"enforce":"off","heartbeat_interval_ms":300000,"order":"fair","owner_idle_ttl_ms":2700000,"owner_lease_ttl_ms":2700000,"presence_ttl_ms":14400000,"require_contracts":false,"wait_for_events_max_wait_ms":110000,"wait_for_turn_max_wait_ms":110000,"waiter_grace_ms":10000}',2,1048782,'b312a35f2153262e4401e3d80b2955f5507ef7b52b59d1d65b9e65e18bfb211c',4097,'idle','','','','','',0,0,0,'',2,0,0,1795319236844,0,0,0,0,0,0,1,0,0,0,0);
CREATE TABLE members (
    room_id      TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id     TEXT NOT NULL,
    -- derived
    ordinal      INTEGER NOT NULL,
    state        TEXT NOT NULL,
    join_seq     INTEGER NOT NULL,
    held_seq     INTEGER NOT NULL,
    -- evidence
    joined_at    INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    told         INTEGER NOT NULL,
    passed_over  INTEGER NOT NULL,
    returned_at  INTEGER NOT NULL, role TEXT NOT NULL DEFAULT '', context TEXT NOT NULL DEFAULT '', in_session INTEGER NOT NULL DEFAULT 0, session_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (room_id, agent_id)
);
INSERT INTO members VALUES('room-52e486710501f297','human:ann',4,'joined',1,12,1795319227800,1795319231721,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','codex',2,'joined',48,1048780,1795319229591,1795319236834,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','claude',1,'joined',16,15,1795319227928,1795319233104,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','gemini',3,'joined',19,35,1795319227953,1795319229949,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','opus',5,'kicked',5,0,1795319227841,1795319227841,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','codex:1b041d78',6,'joined',29,32,1795319228026,1795319228074,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','claude:07d66e3a',7,'joined',31,0,1795319228039,1795319228039,0,1,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','claude:3cc4d8d6',8,'joined',36,54,1795319228113,1795319229653,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','codex:91ce0a6a',9,'joined',43,45,1795319229559,1795319229559,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','claude:f52fe50f',10,'joined',56,0,1795319229665,1795319229676,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','opencode',11,'joined',123,0,1795319230803,1795319231267,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','codex:d7626c8a',12,'joined',86,0,1795319229922,1795319229933,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-52e486710501f297','claude:cffb7f90',13,'joined',93,0,1795319229990,1795319229990,0,0,0,'primary','',0,1795319229990);
INSERT INTO members VALUES('room-52e486710501f297','codex:09237a8a',14,'joined',95,0,1795319230009,1795319230040,0,0,0,'primary','',1,1795319230040);
INSERT INTO members VALUES('room-52e486710501f297','claude:58e7ba47',15,'left',97,0,1795319230024,1795319230024,0,0,0,'primary','',0,1795319230024);
INSERT INTO members VALUES('room-52e486710501f297','claude:09f94dfd',16,'joined',103,0,1795319230054,1795319230054,0,0,0,'helper','helper-328c',1,1795319230054);
INSERT INTO members VALUES('room-52e486710501f297','codex:89751d47',17,'left',105,0,1795319230070,1795319230070,0,0,0,'helper','helper-5c8a',0,1795319230070);
INSERT INTO members VALUES('room-939f40eed7d96988','human:ann',1,'joined',156,0,1795319233160,1795319233160,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-939f40eed7d96988','claude',2,'joined',157,0,1795319233168,1795319234787,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-939f40eed7d96988','codex',3,'joined',158,0,1795319233180,1795319234666,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-4c34ff39e28fa7d8','human:ann',1,'joined',185,0,1795319235379,1795319235379,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-4c34ff39e28fa7d8','claude',2,'joined',186,0,1795319235386,1795319235836,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-4c34ff39e28fa7d8','codex',3,'joined',187,0,1795319235393,1795319235551,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-97dc79fd21a75eec','human:ann',1,'joined',194,0,1795319236417,1795319236417,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-97dc79fd21a75eec','claude',2,'joined',195,1048782,1795319236426,1795319236844,0,0,0,'','',0,0);
INSERT INTO members VALUES('room-97dc79fd21a75eec','codex',3,'joined',196,0,1795319236436,1795319236623,0,0,0,'','',0,0);
CREATE TABLE sessions (
    session_key TEXT PRIMARY KEY,
    agent_id    TEXT NOT NULL,
    harness     TEXT NOT NULL,
    session_id  TEXT NOT NULL, -- the harness's own id, or empty
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    hooks_at    INTEGER NOT NULL, -- the harness's hooks were last seen firing
    busy_since  INTEGER NOT NULL  -- a tool call in progress began then
, idle_at INTEGER NOT NULL DEFAULT 0);
INSERT INTO sessions VALUES('human:ann','human:ann','human','',1795319227800,0,0,0,0);
INSERT INTO sessions VALUES('codex session kim','codex:1b041d78','codex','kim',1795319228026,0,0,0,0);
INSERT INTO sessions VALUES('claude session pat','claude:07d66e3a','claude','pat',1795319228039,0,0,0,0);
INSERT INTO sessions VALUES('claude session sam','claude:3cc4d8d6','claude','sam',1795319228113,0,1795319229653,0,0);
INSERT INTO sessions VALUES('codex session dan','codex:91ce0a6a','codex','dan',1795319229559,0,0,0,0);
INSERT INTO sessions VALUES('claude session new','claude:f52fe50f','claude','new',1795319229665,0,1795319229676,0,0);
INSERT INTO sessions VALUES('codex session rob','codex:d7626c8a','codex','rob',1795319229922,0,0,0,0);
INSERT INTO sessions VALUES('claude session one','claude:cffb7f90','claude','one',1795319229990,0,0,0,0);
INSERT INTO sessions VALUES('codex session two','codex:09237a8a','codex','two',1795319230009,0,0,0,0);
INSERT INTO sessions VALUES('claude session three','claude:58e7ba47','claude','three',1795319230024,1795319230032,0,0,0);
INSERT INTO sessions VALUES('claude session four','claude:09f94dfd','claude','four',1795319230054,0,0,0,0);
INSERT INTO sessions VALUES('codex session five','codex:89751d47','codex','five',1795319230070,1795319230080,0,0,0);
CREATE TABLE processes (
    agent_id    TEXT NOT NULL,
    process_key TEXT NOT NULL,
    session_key TEXT NOT NULL, -- empty where the agent's name was assumed
    machine     TEXT NOT NULL,
    boot        TEXT NOT NULL,
    pid_ns      TEXT NOT NULL,
    pid         INTEGER NOT NULL,
    start_time  INTEGER NOT NULL,
    proof       TEXT NOT NULL,
    seen_at     INTEGER NOT NULL,
    PRIMARY KEY (agent_id, process_key)
);
INSERT INTO processes VALUES('codex:1b041d78','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/254/165875','codex session kim','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',254,165875,'session',1795319228026);
INSERT INTO processes VALUES('claude:07d66e3a','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/256/165876','claude session pat','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',256,165876,'session',1795319228039);
INSERT INTO processes VALUES('claude:3cc4d8d6','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/305/165883','claude session sam','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',305,165883,'session',1795319228113);
INSERT INTO processes VALUES('codex:91ce0a6a','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/358/166028','codex session dan','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',358,166028,'session',1795319229559);
INSERT INTO processes VALUES('claude:f52fe50f','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/467/166040','claude session new','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',467,166040,'session',1795319229665);
INSERT INTO processes VALUES('codex:d7626c8a','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/718/166065','codex session rob','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',718,166065,'session',1795319229922);
INSERT INTO processes VALUES('claude:cffb7f90','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/771/166071','claude session one','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',771,166071,'session',1795319229990);
INSERT INTO processes VALUES('codex:09237a8a','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/782/166074','codex session two','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',782,166074,'session',1795319230009);
INSERT INTO processes VALUES('claude:58e7ba47','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/793/166075','claude session three','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',793,166075,'session',1795319230024);
INSERT INTO processes VALUES('claude:09f94dfd','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/823/166078','claude session four','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',823,166078,'session',1795319230054);
INSERT INTO processes VALUES('codex:89751d47','0123456789abcdef0123456789abcdef/5e1f0c2b-0000-4000-8000-000000000001/4026532180/834/166080','codex session five','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',834,166080,'session',1795319230070);
CREATE TABLE listeners (
    listener_id TEXT PRIMARY KEY,
    room_id     TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id    TEXT NOT NULL,
    intent      TEXT NOT NULL,
    machine     TEXT NOT NULL,
    boot        TEXT NOT NULL,
    pid_ns      TEXT NOT NULL,
    pid         INTEGER NOT NULL,
    start_time  INTEGER NOT NULL,
    started_at  INTEGER NOT NULL
, deaf INTEGER NOT NULL DEFAULT 0);
CREATE TABLE cursors (
    room_id   TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id  TEXT NOT NULL,
    stream    TEXT NOT NULL,
    event_seq INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id, stream)
);
INSERT INTO cursors VALUES('room-52e486710501f297','gemini','wait',72);
INSERT INTO cursors VALUES('room-52e486710501f297','codex','wait',148);
INSERT INTO cursors VALUES('room-52e486710501f297','claude:3cc4d8d6','wait',40);
INSERT INTO cursors VALUES('room-52e486710501f297','claude:3cc4d8d6','hook',55);
INSERT INTO cursors VALUES('room-52e486710501f297','claude:f52fe50f','hook',57);
INSERT INTO cursors VALUES('room-97dc79fd21a75eec','claude','wait',199);
CREATE TABLE events (
    event_seq     INTEGER PRIMARY KEY,
    event_id      TEXT NOT NULL UNIQUE,
    room_id       TEXT NOT NULL REFERENCES rooms (room_id),
    turn_id       INTEGER NOT NULL,
    event_type    TEXT NOT NULL,
    from_agent_id TEXT NOT NULL,
    to_agent_id   TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    handoff       TEXT NOT NULL,
    reason        TEXT NOT NULL,
    payload       TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    sum           TEXT NOT NULL
);
INSERT INTO events VALUES(1,'d487d649a62cb7efa67fc14a91105fe2','room-52e486710501f297',0,'join','human:ann','','','','','','{"ordinal":1}',1795319227800,'0d6df2596bc90b86b1b134c226376767aa52f38406dc0fec98da6e5334759b15');
INSERT INTO events VALUES(2,'6a5a859faa03031eb58582611c6d7b6e','room-52e486710501f297',0,'join','codex','','','','','','{"ordinal":2,"override":"TT_HARNESS_AGENT_ID"}',1795319227816,'76dbfe6ade9e84bec6c8b88fdee82a9c2902cabd056f08b7f8c825f4b48b6c86');
INSERT INTO events VALUES(3,'8689892a9ce93b94ac0aad4b2f7d97c2','room-52e486710501f297',0,'join','claude','','','','','','{"ordinal":3,"override":"TT_HARNESS_AGENT_ID"}',1795319227825,'4d20219804e2a03a0f45c3393775190931278f0ced53ccfcf17428dba399a63f');
INSERT INTO events VALUES(4,'f05020ffb09b97428de12fa52073c2a8','room-52e486710501f297',0,'join','gemini','','','','','','{"ordinal":4,"override":"TT_HARNESS_AGENT_ID"}',1795319227832,'207d111b9e79a79838e814883db224837501f3ebb790e92df3dfa8b426f1d547');
INSERT INTO events VALUES(5,'187516b2387b453fcdd6cb6973b24152','room-52e486710501f297',0,'join','opus','','','','','','{"ordinal":5,"override":"TT_HARNESS_AGENT_ID"}',1795319227841,'f650b2a1db1f40ed879f549a05fa276df68945ee2dce022f1d19e10500214868');
INSERT INTO events VALUES(6,'545e9310fea84ac4d08220334ef95c21','room-52e486710501f297',1,'claim','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"6aa656cd45c84149"}',1795319227848,'aff858cd94bbbbe6d90d9caa30598a99048c323b7f68c89a21d1c1dfb445b021');
INSERT INTO events VALUES(7,'1b553d748da89f3adb46799fd44a3f60','room-52e486710501f297',1,'release','codex','','','','{"status":"wrote the parser","next_action":"review it","artifacts":[{"path":"src/parse.go","lines":[1,1],"role":"review","note":"look","room_path":"src/parse.go"}],"open_questions":["is it fast?"],"do_not":["rename Lex"],"workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"override":"TT_HARNESS_AGENT_ID","lease":"6aa656cd45c84149","nobody":"nobody else waits for the turn"}',1795319227858,'252cb5302348908bc105eb8a0ca4fae21765dabf873295049ad42e1ff987bd34');
INSERT INTO events VALUES(8,'5d2ce582e0c891f05680d7cd46ba790e','room-52e486710501f297',2,'claim','claude','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"ae647c86a2aba359","handoff_seq":7}',1795319227863,'9333777998b4292f494effd724557a1e8bda95ce90f05072477c736bfaaf434f');
INSERT INTO events VALUES(9,'08e0fda63ede17cd8e547d407cdd6c97','room-52e486710501f297',2,'pass','claude','gemini','','','{"status":"reviewed","next_action":"fix the lexer","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"override":"TT_HARNESS_AGENT_ID","lease":"ae647c86a2aba359","reachable":false,"claim_expires_at":"2026-11-22T04:07:07.872Z"}',1795319227872,'ec40e012cd41b97cbbcc9eaf621503bf851bc24f925c98e7b68332089b7c9f10');
INSERT INTO events VALUES(10,'bc396b8bac3b941962b5396d907bee0d','room-52e486710501f297',3,'claim','gemini','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"direct_pass","lease":"d4b0e4de481dc72a","handoff_seq":9}',1795319227877,'7f54bfac26924d6e71eccdeb5521b4afe0ae31b4281912a59022cc22db8445c9');
INSERT INTO events VALUES(11,'db1c7c39d32dfbcd1523d16ef2c88697','room-52e486710501f297',4,'takeover','human:ann','gemini','','','','gemini hangs','{"lease":"f047b3c5fbff4f51","cause":"operator_requested","prior":"gemini","verdict":"unknown","ends_turn":true}',1795319227885,'d41390311a28395d143c0e4718c4c7c4b5286602cb5f8fe3a9ee06b9f4b42c88');
INSERT INTO events VALUES(12,'d9c2114bfbd1a44667b60db425cf3fac','room-52e486710501f297',4,'release','human:ann','','','','{"status":"took it back","next_action":"go on","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"lease":"f047b3c5fbff4f51","nobody":"nobody else waits for the turn"}',1795319227895,'69912cb9a0a715a752fd4b58fcd90110997d994eb5d61bf2bc4869125f5d747e');
INSERT INTO events VALUES(13,'572c927ddfc5d720b962dfe87b204886','room-52e486710501f297',5,'claim','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"d2415e6b429098c5","handoff_seq":12}',1795319227905,'3b54da1b8c1e409a7d69203131b033c00a2c6d436c208d096eeca439a9735739');
INSERT INTO events VALUES(14,'7c1244447847e7e0463d0a4c5fb94799','room-52e486710501f297',6,'takeover','claude','codex','','','','ann says so','{"override":"TT_HARNESS_AGENT_ID","lease":"9548f7e9b1ce43e8","cause":"operator_requested","prior":"codex","verdict":"unknown","ends_turn":true}',1795319227912,'909a5eccd05bde4a4b8913c5e91658c6401a5577f4ecdc35aca37847df1b87af');
INSERT INTO events VALUES(15,'849342a05d9353d155e027cec921de1c','room-52e486710501f297',6,'leave','claude','','','','','had to go','{"override":"TT_HARNESS_AGENT_ID","lease":"9548f7e9b1ce43e8","ends_turn":true}',1795319227920,'4f40309e63212eb5ebdff17b1498ad8efb23fbb8c3fb3c5595b8f0502d4db902');
INSERT INTO events VALUES(16,'7be1a8390901f9b5af2f2c257cba4cbf','room-52e486710501f297',6,'join','claude','','','','','','{"ordinal":3,"override":"TT_HARNESS_AGENT_ID"}',1795319227928,'b3ddea81c93492505a495a73599bdbec989123e6b3fb34d6c5e340286bbec73e');
INSERT INTO events VALUES(17,'ee91f4368c54c898a6818455e4f459ec','room-52e486710501f297',6,'kick','human:ann','opus','','','','not needed','{"verdict":"unknown","forced":true}',1795319227936,'96b119b22b575932d2b292edb6f7dc3d1f67a80bd976e9fb768ef648ee5812fc');
INSERT INTO events VALUES(18,'231b777d7e5e2b72f6debfda7435e260','room-52e486710501f297',6,'kick','codex','gemini','','','','ann says so','{"override":"TT_HARNESS_AGENT_ID","verdict":"unknown","forced":true}',1795319227945,'7f87198ec8c2e205c211832812999c5f509ddd78aecb86b69870f18cf794f834');
INSERT INTO events VALUES(19,'fdcf52728994540c1cbe8aed100d7175','room-52e486710501f297',6,'join','gemini','','','','','','{"ordinal":4,"override":"TT_HARNESS_AGENT_ID"}',1795319227953,'5e172f62c15405d631121f91267ce01280aa814e89142d8fde05d0984a963263');
INSERT INTO events VALUES(20,'15bd4dc75a9814b5e61980c9b6ae98a9','room-52e486710501f297',6,'policy_changed','human:ann','','','','','','{"order":["claude","codex","gemini","human:ann","opus"]}',1795319227959,'508ceb581624b118fc909d34e2e6d3add8a944bdae45a27be7c581cc51cdffda');
INSERT INTO events VALUES(21,'c7eef9930acd61c13ff8bb6ec229190f','room-52e486710501f297',6,'policy_changed','human:ann','','','','','','{"policy":{"order":{"from":"fair","to":"sequence"}}}',1795319227965,'1e209747dfef95a9a4e29996463e133a84bb4e8bcc6bf97b2f6e221d97afd665');
INSERT INTO events VALUES(22,'b278517d681118643b4185bbd7b6b31c','room-52e486710501f297',6,'policy_changed','human:ann','','','','','','{"policy":{"order":{"from":"sequence","to":"fair"}}}',1795319227971,'fdf1ba8f37c0ffada399a536c40016947961aafeb02bf1adcafdcd08045efb1c');
INSERT INTO events VALUES(23,'407e35eef34a6d13128e266623c9e0ca','room-52e486710501f297',7,'claim','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"6b7e999bcac8c2e6"}',1795319227976,'f348bce1555717e0a802ba187bfa0cf783af8c1a8961f7aaeaec1039db49753b');
INSERT INTO events VALUES(24,'8b2fd99d8114cbbd374145db5e9120cc','room-52e486710501f297',7,'release','codex','','','','{"status":"all done","next_action":"nothing","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"override":"TT_HARNESS_AGENT_ID","lease":"6b7e999bcac8c2e6","nobody":"the room closes"}',1795319227985,'fb79a5bcb420eb3d3151b8c601b0b8dbbd0fb2082077fc2011fa841b80e74ec9');
INSERT INTO events VALUES(25,'0c607a0b38be10b47c4da3b8efbc5c19','room-52e486710501f297',7,'close','codex','','','','','over','{"override":"TT_HARNESS_AGENT_ID"}',1795319227985,'4a7f2a6f40e1a2b11ccde02c2f304acb04c5a1aec53757719ee3bd0531498afd');
INSERT INTO events VALUES(26,'822dc805b23836f6869afd060325ee1d','room-52e486710501f297',7,'reopen','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID"}',1795319227992,'c5734482ab881903815f62ffa1599bf3a0d349ecde3d1c544c46f7c89a97979e');
INSERT INTO events VALUES(27,'f30d17c9c5687b2c895ae953c304cc41','room-52e486710501f297',7,'close','human:ann','','','','','holiday','',1795319228000,'5a6b795b1f7aad10e80f8fae85e027438d154b731c43d5107fa67da64451d308');
INSERT INTO events VALUES(28,'64c14377c8ae0a6df6da5f7e85a4ca13','room-52e486710501f297',7,'reopen','claude','','','','','','{"override":"TT_HARNESS_AGENT_ID"}',1795319228006,'e240e0040e251d032b54eee1d7d34b98b2ef4b85b6d05f48b17767be70242b73');
INSERT INTO events VALUES(29,'ac061ff2f3f9591c646ccc34e3ce7403','room-52e486710501f297',7,'join','codex:1b041d78','','kim','','','','{"ordinal":6}',1795319228026,'817e39cc255188436bae42f0517f07eba9ecfa7b8d2a4d3730f4b5340aa245c4');
INSERT INTO events VALUES(30,'fcbe995b5662899559b1103e519b1102','room-52e486710501f297',8,'claim','codex:1b041d78','','kim','','','','{"claim":"open_claim","lease":"085873c1837bb1a9","handoff_seq":24}',1795319228026,'3cb0b5bc5fd0438445ad8bedb1313f101e49ae1192c8f47f01c7a560a362983e');
INSERT INTO events VALUES(31,'1ffb61d1a3ecd6a66f55da3e0f883ab1','room-52e486710501f297',8,'join','claude:07d66e3a','','pat','','','','{"ordinal":7}',1795319228039,'4f73f5c63a2ffd43abf0fdbd7a50d2467b366c28c8bc51089eed702d63b5b8ac');
INSERT INTO events VALUES(32,'14c5d5f0ff2ed20965235a09319f714a','room-52e486710501f297',8,'pass','codex:1b041d78','claude:07d66e3a','kim','','{"status":"found a race","next_action":"fix it","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"lease":"085873c1837bb1a9","reachable":false,"claim_expires_at":"2026-11-22T04:07:08.074Z"}',1795319228074,'ef64d3f16acbffaf07abaf1af2d9b8ddd667090ac486d048c0f18a2ef83bb9d3');
INSERT INTO events VALUES(33,'0ec5be89dc7ab9409141b996ba19d8f6','room-52e486710501f297',8,'rerouted','','','','','','','{"prior":"claude:07d66e3a","verdict":"gone","nobody":"nobody else waits for the turn"}',1795319228085,'aaa521ceb3d9fe96ef8d9ff4a3b9feba5335706fcee107455d48630bad9b2eb1');
INSERT INTO events VALUES(34,'492918897e13f572d4dd6c7eab68cde8','room-52e486710501f297',9,'claim','gemini','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"d5849eb5c875e519","handoff_seq":32}',1795319228085,'49e07fec07cae83f04104539f0c498c8e99475d061f8407c8444f219f13dc7a0');
INSERT INTO events VALUES(35,'145cf81e99d35d7550a5ad57ce0f349d','room-52e486710501f297',9,'release','gemini','','','','{"status":"fixed","next_action":"go on","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"override":"TT_HARNESS_AGENT_ID","lease":"d5849eb5c875e519","nobody":"nobody else waits for the turn"}',1795319228101,'2715fc7c7f6b087c6554f21ea707be3ba89635f8da478654ed8429b3d0eb25a9');
INSERT INTO events VALUES(36,'a8eee6f8440bc24b6b16172b8e4404fe','room-52e486710501f297',9,'join','claude:3cc4d8d6','','sam','','','','{"ordinal":8}',1795319228113,'b7fa1a4ee98e94e50d57f4b1d102c0acccfeddfb371a37ad9fe4ed5091d63e8e');
INSERT INTO events VALUES(37,'854c1bff59e857606624ecfe30cb5bdc','room-52e486710501f297',10,'claim','claude:3cc4d8d6','','sam','','','','{"claim":"open_claim","lease":"8464312bd6aa4a1e","handoff_seq":35}',1795319228113,'376a69b8531d1fe5a4894c3203675aae4111a9df9a816b07f68df08b48a6b41b');
INSERT INTO events VALUES(38,'00e636525e05072833e6b845820bb2e2','room-52e486710501f297',10,'policy_changed','human:ann','claude:3cc4d8d6','','','','','{"policy":{"owner_idle_ttl":{"from":"45m","to":"300ms"},"waiter_grace":{"from":"10s","to":"100ms"}}}',1795319228124,'d3f78cd967990a67f3e91b57fb4821a6c2fc81f1218ce1da82a56d485204c7a3');
INSERT INTO events VALUES(39,'a38427bf568fbac4799f6e3976b3e950','room-52e486710501f297',10,'owner_idle','','claude:3cc4d8d6','','','','','{"idle_since":"2026-11-22T03:47:08.113Z"}',1795319228415,'37cb1905873f8d840f81ae184a7c11e52a05918c861bbf3cd5788bb8b47b124d');
INSERT INTO events VALUES(40,'8667e484966ce0ba4cfa10dae7bb46d3','room-52e486710501f297',11,'takeover','codex','claude:3cc4d8d6','','','','sam sleeps','{"override":"TT_HARNESS_AGENT_ID","lease":"96ea229926dcfcf8","cause":"owner_idle","prior":"claude:3cc4d8d6","verdict":"alive","ends_turn":true}',1795319229526,'7ef81d37f56bcca6ca95f0e62f60a30326a269bd2241d0b57fa778498704f37a');
INSERT INTO events VALUES(41,'15a8ab527e02cccb5196a9d567c43073','room-52e486710501f297',11,'policy_changed','human:ann','codex','','','','','{"policy":{"owner_idle_ttl":{"from":"300ms","to":"45m"},"waiter_grace":{"from":"100ms","to":"5s"}}}',1795319229536,'9ca75c14748e203656f7375927c65828effd2e9cbdaf57feb0a2b0ad0de7a4fe');
INSERT INTO events VALUES(42,'6e3b468cb2a61c26c4e68a0078dbf9b3','room-52e486710501f297',11,'release','codex','','','','{"status":"woke it","next_action":"go on","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"override":"TT_HARNESS_AGENT_ID","lease":"96ea229926dcfcf8","nobody":"nobody else waits for the turn"}',1795319229552,'122faec5e9d15cb6f4e074298be397f3f37da505a4a605d0d58092a3b8840a76');
INSERT INTO events VALUES(43,'06baef4a3d732540c258d6e4dede57bb','room-52e486710501f297',11,'join','codex:91ce0a6a','','dan','','','','{"ordinal":9}',1795319229559,'4674a0b30b6de45fb1116aeda1fddda34cee3752f2f5b43653bade586ddd1482');
INSERT INTO events VALUES(44,'d6ec98c7892ca65a5de61640c724e678','room-52e486710501f297',12,'claim','codex:91ce0a6a','','dan','','','','{"claim":"open_claim","lease":"1b7f1e45e3abbee1","handoff_seq":42}',1795319229559,'971bb550a3fd20f8f91c4c76aa5db158d4ad7ea3457ab7433cd620c1cbdeae40');
INSERT INTO events VALUES(45,'1075b09d035b611cda00dc936a3d6840','room-52e486710501f297',13,'takeover','codex','codex:91ce0a6a','','','','dan has ended','{"override":"TT_HARNESS_AGENT_ID","lease":"12b6ffd8d29f8218","cause":"owner_gone","prior":"codex:91ce0a6a","verdict":"gone","ends_turn":true}',1795319229570,'887cb1cfc507fd8547efaa4d3619b805ad73fae81f65393af077c1b2b09cc8f6');
INSERT INTO events VALUES(46,'9cf0f032493054c1584af419ef29c7fe','room-52e486710501f297',13,'release','codex','','','','{"status":"so far","next_action":"the rest","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"override":"TT_HARNESS_AGENT_ID","lease":"12b6ffd8d29f8218","nobody":"nobody else waits for the turn"}',1795319229581,'841e117141b3570f03f6856562eef4646ff1acf62432bc4f13a74d4b26bbb9b2');
INSERT INTO events VALUES(47,'1a33d41b520a4a50e3095838eda8185a','room-52e486710501f297',13,'leave','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID"}',1795319229581,'5330412e70d797ab65f18a38c05982e0a75e2b47281e47582db93c0c39ce0b07');
INSERT INTO events VALUES(48,'d5619be4a5c0878e7d4c32efa192172e','room-52e486710501f297',13,'join','codex','','','','','','{"ordinal":2,"override":"TT_HARNESS_AGENT_ID"}',1795319229591,'c5839d12ac828ba936512b03b7d4d47e48aaf5d9a2ed7caac732b6992d2d8baa');
INSERT INTO events VALUES(49,'93ff9007361113bb7ef543090ae78417','room-52e486710501f297',14,'claim','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"c85039f1090c3aa5","handoff_seq":46}',1795319229591,'4c727fb784d0c983cbd7f4dc681cb472a4b68bb9bd5210de0aeee84dd7a6aafc');
INSERT INTO events VALUES(50,'2fc0c9599d4d7e1d9a855dc8364bcd8a','room-52e486710501f297',14,'policy_changed','human:ann','codex','','','','','{"policy":{"enforce":{"from":"off","to":"stick"}}}',1795319229598,'64907a9b2127ae9eb0392ce3e37d058b49febd171ddab4704e0dd7e0df18697b');
INSERT INTO events VALUES(51,'af570aad3a84b1c0c2c4e3f4125aff28','room-52e486710501f297',14,'stick_denied','claude:3cc4d8d6','','sam','','','','{"paths":["src/parse.go"]}',1795319229604,'04b201cfbff7007b4876949ec61589e3d09241bb400329fec26673dfdb328873');
INSERT INTO events VALUES(52,'306aa282021f6234698c5c93b1f8da0a','room-52e486710501f297',14,'release','codex','','','','{"status":"a","next_action":"b","workspace":{"head":"9103d810a45c9eaca1354b442e7668b760b3e181","branch":"main","dirty":[],"dirty_count":0}}','','{"override":"TT_HARNESS_AGENT_ID","lease":"c85039f1090c3aa5","nobody":"nobody else waits for the turn"}',1795319229616,'d4d576ed0e4589fd99c13b009ad12a3f31656e59be3910c3f12ada4f42529dbb');
INSERT INTO events VALUES(53,'f61245b2ef04261431ae3cd65d7c779f','room-52e486710501f297',15,'claim','claude:3cc4d8d6','','sam','','','','{"claim":"open_claim","lease":"f5775ca0bb931f6a","handoff_seq":52}',1795319229625,'20c26f331a38802c3f123580b0e1decadb2bd544cfabaac47e66120b11e0a858');
INSERT INTO events VALUES(54,'802ecf6603c67ff1ccfbad28dc9004cd','room-52e486710501f297',16,'takeover','codex','claude:3cc4d8d6','','','','it hangs','{"override":"TT_HARNESS_AGENT_ID","lease":"44817624345c7eb4","cause":"operator_requested","prior":"claude:3cc4d8d6","verdict":"alive","ends_turn":true}',1795319229645,'6afa8410749f7d28019021a4fc4cde1280f94a8bedcaaac41cc700c437a47b3e');
INSERT INTO events VALUES(55,'6bb39347461ea95f0939a3f9f68d4300','room-52e486710501f297',16,'late_edit','claude:3cc4d8d6','codex','sam','','','','{"paths":["src/parse.go"],"tool":"Edit"}',1795319229652,'5f9f73d197b69231e536dc616752423a5512ca402d17057b47e8fc8ed72d5b8b');
INSERT INTO events VALUES(56,'9da422b74de91a033ef321f997d98bee','room-52e486710501f297',16,'join','claude:f52fe50f','','new','','','','{"ordinal":10}',1795319229665,'3bd232d962e0f365ecd2df853e92497b44ddc43f6d7b742107b4fe3d52a6b6ce');
INSERT INTO events VALUES(57,'3ec144a6dadf9bc8198994a6ae91438a','room-52e486710501f297',16,'late_edit','claude:f52fe50f','codex','new','','','','{"paths":["src/parse.go"],"tool":"Edit","never_held":true}',1795319229674,'c73a7ed67a2efd24c5d0b4614263b964158af97d5d412b4c4ea5c5c5b3a6bfcd');
INSERT INTO events VALUES(58,'cd915e23b8e2825622f7410c2357215b','room-52e486710501f297',16,'policy_changed','human:ann','codex','','','','','{"policy":{"enforce":{"from":"stick","to":"off"}}}',1795319229688,'9b8ddd14a2c5278faa08ddd2a2a70d9532cc52451f3ae815e77b77c7db3bfe98');
INSERT INTO events VALUES(59,'8c5058497425404952f9ca815e7063dd','room-52e486710501f297',16,'message_sent','codex','claude','','T-1','','','{"override":"TT_HARNESS_AGENT_ID","to":["claude"],"category":"INFO","subject":"state","body":"where is the state?","thread":"parser"}',1795319229694,'3f3d9f95074f0be204ebd51c9e9ec1aeb68732c2e63bf5d4a7520c0dc4cda8ab');
INSERT INTO events VALUES(60,'b5bc43c4c32233f679eb24b5411efc6d','room-52e486710501f297',16,'message_sent','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","to":["room"],"left_out":["claude:07d66e3a","codex:91ce0a6a"],"category":"INFO","body":"the build is green","delivery_hint":"interrupt"}',1795319229705,'1d6f6aca8fec0bacd2f598fbc44c14216d06493e7758f63055fd6ac46a0b26f6');
INSERT INTO events VALUES(61,'dfe09372e45c35477da2edf031dcb52a','room-52e486710501f297',16,'message_sent','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","to":["claude","gemini"],"category":"BLOCKED","body":"stuck","requires_ack":true,"blocker":"no disk","requested_action":"free some","urgency":"high"}',1795319229715,'552eeee997122e2b470ce194942b96971abe655bad4b1df4be24cd9ba768dd90');
INSERT INTO events VALUES(62,'253c584968b66fa10b3b5bf2bf3e80a3','room-52e486710501f297',16,'message_sent','codex','claude','','','','','{"override":"TT_HARNESS_AGENT_ID","to":["claude"],"category":"HANDOFF","body":"yours now","requires_ack":true,"done":"lexer","remaining":"parser","next_action":"write it"}',1795319229724,'30417eb8dd78fe1632e9204b3cf4da82dcf7d449fd0cb2b1e7b1aea6b59ff2a9');
INSERT INTO events VALUES(63,'3b32372e04f015a8d6ab1c5907f7955b','room-52e486710501f297',16,'message_sent','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","to":["system"],"category":"INFO","body":"for the log"}',1795319229731,'078c5865ccb7b4dbfb2899c51298f6f25c1b99ebeb63c4044424d170a503e6b1');
INSERT INTO events VALUES(64,'c5ac4441b1830f2ac672e28e355bd6b4','room-52e486710501f297',16,'message_read','claude','codex','','','','','{"override":"TT_HARNESS_AGENT_ID","message_id":59}',1795319229754,'a36932fc62db2341369394140cf7b8223944368129b3a587c8e21e989f067e32');
INSERT INTO events VALUES(65,'bbe3dfed87b64f446bdf4624ec2381aa','room-52e486710501f297',16,'message_acked','claude','codex','','','','','{"override":"TT_HARNESS_AGENT_ID","message_id":59}',1795319229762,'08ec424e87c408552fda696713460839fb4111c259efe284bfa5c36a80a15167');
INSERT INTO events VALUES(66,'f8aaec4e5643b21adecc538e5adb91fc','room-52e486710501f297',16,'message_acked','claude','codex','','','','','{"override":"TT_HARNESS_AGENT_ID","message_id":60}',1795319229762,'3138e8bf5a8101b5235905b630bddc3d3132ffe8f9f6603ee96ae18e84464e7b');
INSERT INTO events VALUES(67,'345afbc5a8bf115cf8a1a014d39dc921','room-52e486710501f297',16,'message_acked','claude','codex','','','','','{"override":"TT_HARNESS_AGENT_ID","message_id":61}',1795319229762,'0a4ada217ec0e6dcbb282ab5fd0e2aad3bd62cc0803aefcb7c0417dafc516056');
INSERT INTO events VALUES(68,'437caca4098872bc425c382f70d563cf','room-52e486710501f297',16,'message_acked','claude','codex','','','','','{"override":"TT_HARNESS_AGENT_ID","message_id":62}',1795319229762,'07edf2dcff7cf9eea781c89cd3c1482d2db3b179003b6f5cfa00de63925bba5a');
INSERT INTO events VALUES(69,'ac3a17662db627c3a12e81a0905962e7','room-52e486710501f297',16,'message_sent','claude','codex','','T-1','','','{"override":"TT_HARNESS_AGENT_ID","to":["codex"],"category":"INFO","body":"in the lexer","thread":"parser","reply_to":59}',1795319229768,'8a2f623a16c0905f69b515f40031c249f90fd2f4d990b6cf041d4a8f83f2aca7');
INSERT INTO events VALUES(70,'16a0b5cc3882edb8db93ce4a5977dee5','room-52e486710501f297',16,'message_sent','gemini','claude','','','','','{"override":"TT_HARNESS_AGENT_ID","to":["claude"],"category":"INFO","body":"two lines:\n  größer als “zwei” \u003c\u0026\u003e 漢字"}',1795319229775,'7d8eb9f48196bac5c560b7f128ea8e06622ec67e431afb5ef425de2a3f76280c');
INSERT INTO events VALUES(71,'f445ad3a0ffc2949150eddc083c2c271','room-52e486710501f297',16,'message_sent','codex','gemini','','','','','{"override":"TT_HARNESS_AGENT_ID","to":["gemini"],"category":"INFO","body":"oops","requires_ack":true}',1795319229793,'38ef683fbcb54ce871441ba382977a2e4c283f0c80e80c66ed21a1b110bd0989');
INSERT INTO events VALUES(72,'684a8b3b6a672ad2ccba1f4bcf4195c2','room-52e486710501f297',16,'message_withdrawn','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","message_id":71}',1795319229808,'bdc8f4207c9ae2649eec6bd2b516245248ca2e2c6eaacc1613f5007ab1a8e0bc');
INSERT INTO events VALUES(73,'3a574f3a70b75823307c2f6f51bac822','room-52e486710501f297',16,'join','opencode','','','','','','{"ordinal":11,"override":"TT_HARNESS_AGENT_ID"}',1795319229821,'4bc0dc1c2d90dec36025ddabb98cd1177cd8f645c0bd2a188f2199ab508473c8');
INSERT INTO events VALUES(74,'75c8e98e5c02ce670ce25a1251608514','room-52e486710501f297',16,'message_sent','codex','opencode','','','','','{"override":"TT_HARNESS_AGENT_ID","to":["opencode"],"category":"INFO","body":"will you?","requires_ack":true}',1795319229827,'f0e97ed0b9a292083a69606877ea088efa702d97e17c6c14eb422d0702172ee3');
INSERT INTO events VALUES(75,'e7d100b1678a88f41c4471cc34fa55dc','room-52e486710501f297',16,'leave','opencode','','','','','','{"override":"TT_HARNESS_AGENT_ID","owed":[74]}',1795319229835,'57bc05fb764f4e6360ecd64cf7c36a72505695176e53ca8ca0a63b9c99c44452');
INSERT INTO events VALUES(76,'8d7c031bf6a80760ac45199782eea9b7','room-52e486710501f297',16,'note_added','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","note":"the generated files are not in git"}',1795319229845,'3d0bd23ef4b9a8bebe6076193646040e9d4041475077228e0bd60325ab47a7cb');
INSERT INTO events VALUES(77,'efd7da6ccbb872d1dc11682ccf84331a','room-52e486710501f297',16,'note_added','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","note":"leave lex.go alone","note_turn":16}',1795319229853,'e72439cea98ca9cac827244e5d547d42590c470484fc9186a2bd3f3a2447a155');
INSERT INTO events VALUES(78,'2fe1abcd9f2bfc68cefe5a9d428a4de9','room-52e486710501f297',16,'note_resolved','claude','','','','','','{"override":"TT_HARNESS_AGENT_ID","note_id":76}',1795319229868,'bb8b15220772c334bf1be5fefadd66784b92dae9f6e4ff0071e1b9582df11744');
INSERT INTO events VALUES(79,'8f2fb462e1d3aff4d69a81ce5ffc792f','room-52e486710501f297',16,'reserved','claude','','','T-1','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"src","ttl_ms":7200000}',1795319229876,'24d162addb613c66d367d9c0c05c931b6ddf5851350474717ee53c5458cb7909');
INSERT INTO events VALUES(80,'c358c8ec8320517793f3bf23fbdf8fda','room-52e486710501f297',16,'reserved','claude','','','T-1','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"docs/*.md","ttl_ms":7200000}',1795319229876,'32791b78e9a8acddca1d14c1f551c254924280f4bc5b40c6f23c94b85e9eb526');
INSERT INTO events VALUES(81,'3603e178b4d6595ecb9a034fd4e44048','room-52e486710501f297',16,'reserved','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"src/*.go","ttl_ms":7200000}',1795319229882,'1bc9e5199fa7cd6f22e63ab2e2512317dfc67d21b5352d4f05b7767cac62d447');
INSERT INTO events VALUES(82,'d913cbff336b1d105d32b4149c83fdf7','room-52e486710501f297',16,'incursion','codex','claude','','','','','{"override":"TT_HARNESS_AGENT_ID","verdict":"unknown","to":["claude"],"category":"INCURSION","subject":"src/*.go and src overlap, as in src/a.go","overlap":"partial","owner":"claude","incoming":"codex","owner_liveness":"unknown","resolution_hint":"agree who changes src/a.go; then one of you narrows its scope (tt unreserve, tt reserve)","pattern":"src/*.go","reservation_id":79,"held":"src","example":"src/a.go"}',1795319229882,'8f258c2a51cb8466c0b89c3bc27ab436ab9ddec626192cb46151df7dcfd3cc1d');
INSERT INTO events VALUES(83,'56c1a0145bf3e67952440b0680791c09','room-52e486710501f297',16,'incursion','codex','claude','','','','','{"override":"TT_HARNESS_AGENT_ID","verdict":"unknown","to":["claude"],"category":"INCURSION","subject":"src and src overlap, as in src","overlap":"exact","owner":"claude","incoming":"codex","owner_liveness":"unknown","resolution_hint":"claude keeps the scope; agree who goes first, and tt unreserve when it is free","pattern":"src","reservation_id":79,"held":"src","example":"src"}',1795319229893,'cde0bb92ee4c8f4d52a21bb967d258a079d59bbb8e2c6fa0b899443d1a3ba3bf');
INSERT INTO events VALUES(84,'9b480f33b20a2d3d9335d1222771b248','room-52e486710501f297',16,'reserved','claude','','','','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"src","ttl_ms":300000,"replaces":79}',1795319229905,'f120817c968646a2c3479d694936906e5830c011e3faed3f67bd1072c23c8503');
INSERT INTO events VALUES(85,'c000b06017be3b9a780023de4cdf5ad7','room-52e486710501f297',16,'unreserved','claude','','','T-1','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"docs/*.md","reservation_id":80}',1795319229913,'c5a805f6dc95c928abe31c1040d9a4fb668c6ab6abe42a238439581876b80ab7');
INSERT INTO events VALUES(86,'8a634d3ecc3ef1d74ae7cef3601429d0','room-52e486710501f297',16,'join','codex:d7626c8a','','rob','','','','{"ordinal":12}',1795319229922,'3e2a074a307e2419fa91e3fcf629919bd403f9f663fcd00e072e5a411349e390');
INSERT INTO events VALUES(87,'ccda5fd4f085d02adfe62b523ea4a3ec','room-52e486710501f297',16,'reserved','codex:d7626c8a','','rob','','','','{"pattern":"web","ttl_ms":7200000}',1795319229933,'bd9006909505f5a6d973baade89c749c7189e6b25735d9ce7a4add437f03723c');
INSERT INTO events VALUES(88,'8cfa4682404fbd728670cddddb851fd5','room-52e486710501f297',16,'unreserved','gemini','codex:d7626c8a','','','','','{"override":"TT_HARNESS_AGENT_ID","verdict":"gone","pattern":"web","reservation_id":87,"stale":true}',1795319229942,'d3ca8f8c6d6e99ddb80cb03d67be224a9479d6a42b43d5564c160219bfc9c89a');
INSERT INTO events VALUES(89,'6856cd485ff594314a4e52fc547aacb0','room-52e486710501f297',16,'resume','gemini','codex:d7626c8a','','','','','{"override":"TT_HARNESS_AGENT_ID","verdict":"gone","to":["codex:d7626c8a"],"category":"RESUME","subject":"your reservation of web was taken over","reason":"the reservation was stale","prior_session":"codex:d7626c8a","adopted_identity":"gemini","evidence":"its owner is gone; process: gone","pattern":"web","reservation_id":87}',1795319229942,'589d2e5e39a63fe1d5144b07637589299fd26a3ea67d3d1c16c6dfbfd7ed29d7');
INSERT INTO events VALUES(90,'5f08995a14dfa63352cfe3fe1ca88402','room-52e486710501f297',16,'reserved','gemini','','','','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"web","ttl_ms":7200000}',1795319229942,'c2230354de0f915b543b726e7ffab6ddbdaf9fff671a93574b74499a44335a0c');
INSERT INTO events VALUES(91,'7999867f5e1290e68e6d7f7d16e691f4','room-52e486710501f297',16,'reserved','gemini','','','','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"tests","ttl_ms":7200000}',1795319229949,'770d9e3dd82d69e115529c6f1d20f6129f616c302eda2d44f52b1864d158c1c9');
INSERT INTO events VALUES(92,'7359d9b11a099fe86e57c85d424e6784','room-52e486710501f297',16,'unreserved','human:ann','codex','','','','','{"pattern":"src/*.go","reservation_id":81}',1795319229969,'f1cf14fc37505d62e05a3686c6509e0fd44f337656477db9b5ed9996930889a9');
INSERT INTO events VALUES(93,'a6eb6e4d57f833deb39475b84707ebe4','room-52e486710501f297',16,'join','claude:cffb7f90','','one','','','','{"ordinal":13}',1795319229990,'f70d6b9f9bc6b3ae15e4a592e6fe25fcb2c811a7ae725f39d5ec5c042e26e260');
INSERT INTO events VALUES(94,'710cc48d4244643fd798cb75e32c46e0','room-52e486710501f297',16,'session_started','claude:cffb7f90','','one','','','','{"role":"primary","start":"fresh"}',1795319229990,'d94c1a50f1f46c7daca22842fce067ad3f8000b2e813d31f12bb36795d25cfa9');
INSERT INTO events VALUES(95,'818ed1c0f71adc2828334e77f721e643','room-52e486710501f297',16,'join','codex:09237a8a','','two','','','','{"ordinal":14}',1795319230009,'357b3a760fe78b39396d162877ad88924e9ddcfc0b5361fdb5202eecf6e24152');
INSERT INTO events VALUES(96,'a1f866dcbf5d5bd8ebfb678c3bb2f64b','room-52e486710501f297',16,'session_started','codex:09237a8a','','two','','','','{"role":"helper","context":"helper-c31c","start":"helper"}',1795319230009,'e06d3a6f200a0444500babd814940c29d5667793c37102b87c9b65968981ff00');
INSERT INTO events VALUES(97,'66bb699a47b1b6ae2a30922df2288dd7','room-52e486710501f297',16,'join','claude:58e7ba47','','three','','','','{"ordinal":15}',1795319230024,'e56084c7e1aeb167be9d2e37379f84e41ef9e542a9fbfff8d6db1b3b32fb08ed');
INSERT INTO events VALUES(98,'153d2b58f6f5a2d8f7f9908d3ce47219','room-52e486710501f297',16,'session_started','claude:58e7ba47','','three','','','','{"prior":"claude:cffb7f90","verdict":"gone","role":"primary","start":"recover","written_at":"2026-11-22T03:47:09.988Z"}',1795319230024,'bb9c850afaf1b2bb64fc6f6f3b181a0cc3a68f659772ed21ba81f3651c8ea2d7');
INSERT INTO events VALUES(99,'c76b9f184353968ecff4051544b33624','room-52e486710501f297',16,'resume','claude:58e7ba47','claude:cffb7f90','three','','','','{"category":"RESUME","reason":"the primary session before this one didn''t end properly","prior_session":"claude:cffb7f90","adopted_identity":"claude:58e7ba47","evidence":"its process has ended and its session hasn''t; its context was written just now"}',1795319230024,'db6f7bd31f88cb02e99a4cdb9c6e7474cdbff00ebfe8233fccc73062390bc07f');
INSERT INTO events VALUES(100,'d52f6620b770df7be135a7f0e0600fe1','room-52e486710501f297',16,'session_ended','claude:58e7ba47','','three','','','','{"role":"primary"}',1795319230032,'ad12b5f628043d5bfbb74502a283e705f7e70280cfd769579ddbbbcdc6f167f5');
INSERT INTO events VALUES(101,'9f8ac9ab594acd6f144cb96b38c7cae1','room-52e486710501f297',16,'leave','claude:58e7ba47','','three','','','','',1795319230032,'7a2d3ae76a5af57acd55911b080277d70a40eaafaebb696445785e238dce88f9');
INSERT INTO events VALUES(102,'be18b84a3e5628c5df60666902b2efad','room-52e486710501f297',16,'session_started','codex:09237a8a','','two','','','','{"role":"primary","start":"promoted"}',1795319230040,'0f7cbc1e0eaddd951bf6c558f6cd8dc5ee2d464c2d9714ad7fff626caae08669');
INSERT INTO events VALUES(103,'20e6aba2467a0b8f72c65d51613c272f','room-52e486710501f297',16,'join','claude:09f94dfd','','four','','','','{"ordinal":16}',1795319230054,'20e59754b488af5039561c01f5afa11ff83f4dfba9e773e0fa6d6efba4aa9a2d');
INSERT INTO events VALUES(104,'51273a8cd8343e1f1d41dbf06f954675','room-52e486710501f297',16,'session_started','claude:09f94dfd','','four','','','','{"role":"helper","context":"helper-328c","start":"helper"}',1795319230054,'1690e518cc47c26e60c9b599fbcbede57516b3038d82c8e6229b0d0570722c9f');
INSERT INTO events VALUES(105,'36bbf8fd6af47175e6c35d3f65432e4a','room-52e486710501f297',16,'join','codex:89751d47','','five','','','','{"ordinal":17}',1795319230070,'5832fbdc0532b6689f47a786400fff45dc9c2d6b31ab585410b1210dbf2c2b34');
INSERT INTO events VALUES(106,'e8caa8d8057aca54b32b3dc011256c4b','room-52e486710501f297',16,'session_started','codex:89751d47','','five','','','','{"role":"helper","context":"helper-5c8a","start":"helper"}',1795319230070,'fbdfa881e8d805135a727ee56022187577f6c503b399313681c9055f4cd86a59');
INSERT INTO events VALUES(107,'f5ffcafa9a85d670ae3f86de3f89662d','room-52e486710501f297',16,'session_ended','codex:89751d47','','five','','','','{"role":"helper","context":"helper-5c8a"}',1795319230080,'26f0fd2e37173e8528129ff788ef1b2020e187957b885ea8573e51e4a1d75155');
INSERT INTO events VALUES(108,'e927ec056cf63296b35247e39139681e','room-52e486710501f297',16,'leave','codex:89751d47','','five','','','','',1795319230080,'e89dd3ad4df3b36b87d4c28c7e93ff1da5ef364fdadc0271530ce5de4ebf8948');
INSERT INTO events VALUES(109,'1188092cd1b336ca854247886b179018','room-52e486710501f297',16,'task_assigned','claude','','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"description":"Retry failed uploads","spec":"Try three times.","branch":"feat/UI-7","worktree":"worktrees/UI-7","integration":"integration","base":"9103d810a45c9eaca1354b442e7668b760b3e181"}}',1795319230157,'a371e86bfbb187e8cd01fa6d132bea3663029657a1563f857adb16ceec799761');
INSERT INTO events VALUES(110,'897954097762dd67ff5d5731dcdf02ce','room-52e486710501f297',16,'task_started','codex','','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319230229,'572f3e8bd70ab38e3478c9c4a6aa450abfecc4960c8f59caeeed5d8b62132099');
INSERT INTO events VALUES(111,'e5d7d584fc93be2e7c959b3893c1336f','room-52e486710501f297',16,'task_review_requested','codex','claude','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"9103d810a45c9eaca1354b442e7668b760b3e181","head":"dee2739bfbc2fd4c7ad4f65248674d6c4a4ad095","patch":"75af441d2e30f747b66a235e23614c3970cfe6f2e7b37b542b9ca3ebfb6e8cdd","evidence":[{"name":"tests","command":"echo all green","exit":0,"took_ms":0,"output":"1eef57a46547bb733838e27741c428a371e0c7d37124c9dec3e7fad74b03f01d","size":10}]}}',1795319230286,'baa0b72d97eccf17fb305755d2b00d8eb5bf4afa418d26f16b349a0fe1e8a000');
INSERT INTO events VALUES(112,'984625624ec5710c760f5f7d8b5d2148','room-52e486710501f297',16,'task_changes_requested','claude','codex','','UI-7','','only twice','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1,"head":"dee2739bfbc2fd4c7ad4f65248674d6c4a4ad095","cause":"review"}}',1795319230336,'20ac415da9e97adbb1a420d35b19671a30035e8f5ae31168705f9cff98174fd2');
INSERT INTO events VALUES(113,'9d41ffa541289e0ac86d307eb84b009a','room-52e486710501f297',16,'message_sent','claude','codex','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","to":["codex"],"category":"INFO","subject":"Changes requested: UI-7","body":"only twice","thread":"bead:UI-7"}',1795319230336,'18cbe2526916c9b91cfb99fbfca04e3318f2894fad9fa1ea3437c10815dc175b');
INSERT INTO events VALUES(114,'490f535ae96da950b01284e1c7307241','room-52e486710501f297',16,'task_review_requested','codex','claude','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"9103d810a45c9eaca1354b442e7668b760b3e181","head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","patch":"1727a70d9909cf70b931d90c3a3c04275cf9fccbdf869d36a38c0ba32e1bdcd3"}}',1795319230392,'75c2189039777cf21c9d92b0fe9fbc23709194bb5e8d7184435281e4e3d499e5');
INSERT INTO events VALUES(115,'3a7d5bd1d16bb9dfa4fb4fac18b38833','room-52e486710501f297',16,'task_approved','claude','codex','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff"}}',1795319230437,'e7ef21670d08ce9e803ba0f3b844d5d106b18d471d91e3bab4cb9677e84fd4a8');
INSERT INTO events VALUES(116,'6c12944e813bf972a71f9e266cf34205','room-52e486710501f297',16,'task_merge_started','claude','','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"9103d810a45c9eaca1354b442e7668b760b3e181","head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","result":"14e6225545440af3255a409858cf16d5c7c5b45b"}}',1795319230495,'e6e78fac6533b09205faf7fff4044eab322c394c9ec63b4907f57dd8c2fa1ff5');
INSERT INTO events VALUES(117,'40f0974431e6c5989d31995e80b2d5e9','room-52e486710501f297',16,'task_completed','claude','codex','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"COMPLETED","attempt":1,"head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","result":"14e6225545440af3255a409858cf16d5c7c5b45b"}}',1795319230520,'f3f047b8a3ddf84321d8b55471fe7a1161fdb72930220cf663e7ac2e2bbe0ca9');
INSERT INTO events VALUES(118,'c8b9478ab1347984d9419f8fc0d93449','room-52e486710501f297',16,'task_rolled_back','claude','codex','','UI-7','','it broke the build','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"FAILED","attempt":1,"result":"ed634094ada0e3c73d8a8615b65873aacb1633db","cause":"rolled_back"}}',1795319230631,'7f2f03a9daa7fc034ba53b8c31efaa4051e8e158a5b5f3b8c84b59f9595c22df');
INSERT INTO events VALUES(119,'76202969f46e1915b6e10586991b67d7','room-52e486710501f297',16,'task_retried','claude','codex','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":2,"base":"ed634094ada0e3c73d8a8615b65873aacb1633db"}}',1795319230673,'fd3a19c04479cbef814bdcd54419d646cafcc636f3a8f24efcea68823636391a');
INSERT INTO events VALUES(120,'66007769c0116663d0b2aacd7dd43783','room-52e486710501f297',16,'task_started','codex','','','UI-7','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":2}}',1795319230708,'bbe3f038dba0d37e587b39768f874fa5056253f733e49f72c9a26551b207d03f');
INSERT INTO events VALUES(121,'f136a7b27f9b4d9276f028c2aa253cf8','room-52e486710501f297',16,'task_failed','codex','claude','','UI-7','','too hard','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"FAILED","attempt":2,"cause":"given_up"}}',1795319230724,'aeb891dd042f03214fec8c0e5d9cd619d429444dc94fa4a8493344c7eba2b5a3');
INSERT INTO events VALUES(122,'e0139ec4a30671d0bd430b36d2a5b7a3','room-52e486710501f297',16,'task_assigned','claude','','','c2','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/c2","worktree":"worktrees/c2","integration":"integration","base":"ed634094ada0e3c73d8a8615b65873aacb1633db"}}',1795319230777,'22ffa6185c079a25db061a8b4682cbc008044a0a61538494f3a99667344b43e3');
INSERT INTO events VALUES(123,'63a94538b42909d563a5998a993517f4','room-52e486710501f297',16,'join','opencode','','','','','','{"ordinal":11,"override":"TT_HARNESS_AGENT_ID"}',1795319230803,'4b482f9c1f716ae8f729dcc4d40ddbbd2150df32d87e444124c5953686dcaec5');
INSERT INTO events VALUES(124,'fc5d7491198423a1152d332f60041f1f','room-52e486710501f297',16,'task_started','opencode','','','c2','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319230803,'59e69e088a9674bdd5fc87621bb9f7ce5f19e428227364c58fbc3068ce38c05b');
INSERT INTO events VALUES(125,'846080347fc3e4736398c4f31e285b80','room-52e486710501f297',16,'task_review_requested','opencode','claude','','c2','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"ed634094ada0e3c73d8a8615b65873aacb1633db","head":"2f3d7aacbcaf7be983cf2381538ab65450e9bc48","patch":"b385098f5a0daf5a44a57936c378bbee5cdd179dc8eb7d0312dbf44b787da351"}}',1795319230851,'2b0d367e0b26844e8970796ff22988955301ab13c055e9cfd1d3f49d7df74015');
INSERT INTO events VALUES(126,'3c04a81f8fe679c930ec526a4d780dac','room-52e486710501f297',16,'task_assigned','claude','','','c1','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/c1","worktree":"worktrees/c1","integration":"integration","base":"ed634094ada0e3c73d8a8615b65873aacb1633db"}}',1795319230913,'db80136743cc67d3d940417982d7e62d43331498fd3c103e16dfba27798cba9e');
INSERT INTO events VALUES(127,'97c3dcba2fdde132824c01fcb366dd86','room-52e486710501f297',16,'task_started','codex','','','c1','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319230940,'3d53a4a70bed211c3a7136087a9ed43584b6d22ce71d973c66476d8ab1d7d0f9');
INSERT INTO events VALUES(128,'5966f73e752c9b08a42d4461c2b978ab','room-52e486710501f297',16,'task_review_requested','codex','claude','','c1','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"ed634094ada0e3c73d8a8615b65873aacb1633db","head":"d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9","patch":"e43c8fe119afe08dbef368c5ef862913ff285c968705e0a08ddbaac58a6ad705"}}',1795319230992,'2d13c756312d665e1052c95aeb6f0fa5baacd99a0c06585e1d14b95c2b6c2d5f');
INSERT INTO events VALUES(129,'890bd11481d91a1e265a0b0ac2a61c8a','room-52e486710501f297',16,'task_approved','claude','codex','','c1','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9"}}',1795319231047,'9d38ec2dab475ba6d3943c7fb5e8f559a5ac009ca7dff167c6ebd20fe77e26e6');
INSERT INTO events VALUES(130,'b9cfb80bd7bc03b1c000a363458f222f','room-52e486710501f297',16,'task_approved','claude','opencode','','c2','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"2f3d7aacbcaf7be983cf2381538ab65450e9bc48"}}',1795319231095,'ba42463b9e6572e90f32052f36b7a3d08788781f250b41d2a764ce7c89c8c4df');
INSERT INTO events VALUES(131,'245d54cc4082ed8c457dbcf4ff27d69a','room-52e486710501f297',16,'task_merge_started','claude','','','c1','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"ed634094ada0e3c73d8a8615b65873aacb1633db","head":"d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9","result":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319231142,'8ad38adf7d7ffcdc375e90135279a9d76132569384bc82ef184b26ae0639229e');
INSERT INTO events VALUES(132,'1f981d3e9d62c08819a759c57e69a3e9','room-52e486710501f297',16,'task_completed','claude','codex','','c1','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"COMPLETED","attempt":1,"head":"d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9","result":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319231162,'8193a04e97919b15812d3960a1935a90b7b8d528d9033944db0de326b66758ad');
INSERT INTO events VALUES(133,'d355924feeabf3d8e00259a0ca8377ee','room-52e486710501f297',16,'task_changes_requested','claude','opencode','','c2','','It conflicts with integration in lexer. Rebase it: tt worker done starts the rebase.','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1,"head":"2f3d7aacbcaf7be983cf2381538ab65450e9bc48","files":["lexer"],"cause":"conflict"}}',1795319231233,'5837165128e3895ceb667579ec0e1ffee09134756315939d7ce2df71b0574821');
INSERT INTO events VALUES(134,'e5927bbdb33460f463de353706a9b919','room-52e486710501f297',16,'message_sent','claude','opencode','','c2','','','{"override":"TT_HARNESS_AGENT_ID","to":["opencode"],"category":"INFO","subject":"Not merged: c2","body":"It conflicts with integration in lexer. Rebase it: tt worker done starts the rebase.","thread":"bead:c2"}',1795319231233,'44d2924aa6e0e47b5357f3ede2c09ed7f07a4006c138067069a59952bc4dbba9');
INSERT INTO events VALUES(135,'6ce07525965ad5b34238a08354b0617b','room-52e486710501f297',16,'task_conflicted','opencode','','','c2','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"CONFLICTED","attempt":1,"base":"35fbbccde85c9cd97424d978273c42ceeca0038d","files":["lexer"]}}',1795319231288,'e9a3ef6d7cdf139a3d3c84c8239bd618b5c7e5a4be809e17020ac0da83b99e37');
INSERT INTO events VALUES(136,'8d2485b3d5d5cb411119c15c36e90da2','room-52e486710501f297',16,'task_failed','claude','opencode','','c2','','later','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"FAILED","attempt":1,"cause":"cancelled"}}',1795319231303,'935087d9b77f37c400eff03a68cd4daf6b23386bb56083bb8d5cf6b3780013e9');
INSERT INTO events VALUES(137,'45cbbbf9b9f868d59730273a99c3c601','room-52e486710501f297',16,'message_sent','claude','opencode','','c2','','','{"override":"TT_HARNESS_AGENT_ID","to":["opencode"],"category":"INFO","subject":"Called off: c2","body":"The task c2 was called off: later","thread":"bead:c2"}',1795319231303,'720ad77bd1d978086565953957bc0ac9740fac64b960f6429dd968fa0b03c40c');
INSERT INTO events VALUES(138,'d2160979daef582dbc627fece292d632','room-52e486710501f297',16,'task_assigned','claude','','','red','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/red","worktree":"worktrees/red","integration":"integration","base":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319231359,'c62067ac176354c25657c9b6fbfc36c825e7760d4124b17f64eb4ded30c331a2');
INSERT INTO events VALUES(139,'ffdfffd535244de9ed53b88856b52a6f','room-52e486710501f297',16,'task_started','codex','','','red','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319231387,'b58c366388920d6f9558348c2735eea241616f9d5ad4af9977822a0316dc89ae');
INSERT INTO events VALUES(140,'6145aaa226e5028de4440dc1cd7269e0','room-52e486710501f297',16,'task_review_requested','codex','claude','','red','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"35fbbccde85c9cd97424d978273c42ceeca0038d","head":"3faea6deb44dc2b9c52f88b24f6990e83aea4ca7","patch":"3227ef16298c27a2bde3a82e8ebe77ddc6f0a0b512697675d8cf65e39b4d1f8c"}}',1795319231443,'46a1a658d6a1fc458c5c7f6775197a50ca9dd685e39b6b3eef2bb625875fbce6');
INSERT INTO events VALUES(141,'89217d48ad036996ab50b8566b51e961','room-52e486710501f297',16,'task_approved','claude','codex','','red','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"3faea6deb44dc2b9c52f88b24f6990e83aea4ca7"}}',1795319231507,'aa2ecd3f1acfdeba0bbd15958a0dd4d61be955f09538a82dd2df2128523d86fd');
INSERT INTO events VALUES(142,'d0f9a26c7703fd0f7736181fb0895e23','room-52e486710501f297',16,'task_merge_started','claude','','','red','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"35fbbccde85c9cd97424d978273c42ceeca0038d","head":"3faea6deb44dc2b9c52f88b24f6990e83aea4ca7","result":"fe8b80760bd0f3400e25ddac74a813ebcb363dc2"}}',1795319231558,'3602afa679eb53817b9ad05da5ce1c6d3de2d2b52d04d94212f009e39b5ee4f7');
INSERT INTO events VALUES(143,'253cc73d0364550670c6d34c870d6cb3','room-52e486710501f297',16,'task_changes_requested','claude','codex','','red','',replace('The gate is red (exit status 1) on its merge with integration: `grep -q fine state` said:\n','\n',char(10)),'{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1,"head":"3faea6deb44dc2b9c52f88b24f6990e83aea4ca7","cause":"gate","report":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}',1795319231578,'08eca657ad020e6c9e8b19466b91b25a5ed97b0fd3c90724506e8219115743e4');
INSERT INTO events VALUES(144,'bb35e62b18c62edfb27899f32985e156','room-52e486710501f297',16,'message_sent','claude','codex','','red','','','{"override":"TT_HARNESS_AGENT_ID","to":["codex"],"category":"INFO","subject":"Not merged: red","body":"The gate is red (exit status 1) on its merge with integration: `grep -q fine state` said:\n","thread":"bead:red"}',1795319231578,'c837b5266f6d032671c98123a877dcd09a4de70ae864108b5bde7781ea8a0cb4');
INSERT INTO events VALUES(145,'d93854d4f520cd36a1cd8deb1c7a2225','room-52e486710501f297',16,'task_assigned','claude','','','queued','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/queued","worktree":"worktrees/queued","integration":"integration","base":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319231619,'5da30ff7a4e1d7749bfd49777747ac08f035630cf662c58111e2a620d795a7b9');
INSERT INTO events VALUES(146,'86a229582635474801b714850ff51164','room-52e486710501f297',16,'task_started','codex','','','queued','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319231644,'234ced1f0c38aa7c1ed369d1a0aeea3aa1ee6174dcf6a96ac3f2ef05740c6bc9');
INSERT INTO events VALUES(147,'53c540a9e1384e244ea4c9983fdf93e2','room-52e486710501f297',16,'task_review_requested','codex','claude','','queued','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"35fbbccde85c9cd97424d978273c42ceeca0038d","head":"42f27fbea2f04938e53635135adbed12df97197c","patch":"bd5f84855f5e5c95fc1d218acc52ac34b51ddb2ae18e9c0f2dbee176ae9f2721"}}',1795319231704,'82cd1dc6cf5d1458809c960495c071ac783fe0e0b4c49abd1d5f22d11ea580a9');
INSERT INTO events VALUES(148,'9f41e34056af06a241fffc92ed61ecad','room-52e486710501f297',16,'task_approved','human:ann','codex','','queued','','I looked','{"task":{"state":"APPROVED","attempt":1,"head":"42f27fbea2f04938e53635135adbed12df97197c","override":true}}',1795319231721,'b88e1dc4686f72709bcb1bef8497318f912ccb85106fe9ae7e1026c990ea2593');
INSERT INTO events VALUES(149,'c1b9405c933671cf6247878dd48458d8','room-52e486710501f297',16,'task_assigned','claude','','','begun','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/begun","worktree":"worktrees/begun","integration":"integration","base":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319231784,'781202ffdd5113d52ab13a81435e5ed073f3f3bf966a26054df89bbb8a2e06a9');
INSERT INTO events VALUES(150,'532a88cfa3c2332659141e071e88ab50','room-52e486710501f297',16,'task_assigned','claude','','','run','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/run","worktree":"worktrees/run","integration":"integration","base":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319231868,'afb4cc040930ef6ffb84973c3de0e744bf2376ee5bf7a06549ae0dfbc72f7f1a');
INSERT INTO events VALUES(151,'b7257a87eb4e35505120e3ffb58e4415','room-52e486710501f297',16,'task_assigned','claude','','','reviewing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/reviewing","worktree":"worktrees/reviewing","integration":"integration","base":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319232943,'fac20dbd67a0b46316e7e6bea916b69e9428afcd4de9dbb514203fef5a7464cb');
INSERT INTO events VALUES(152,'b28dc407f05f4c1e2cdea3b4f3de7d9c','room-52e486710501f297',16,'task_started','codex','','','reviewing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319232966,'f873f39082a8335a8f96aa2ddbc7af45e60b19d867fe78ff0dee9f004a6620f0');
INSERT INTO events VALUES(153,'2c0772fa1df69beabddf4a4603121e04','room-52e486710501f297',16,'task_review_requested','codex','claude','','reviewing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"35fbbccde85c9cd97424d978273c42ceeca0038d","head":"6d0f9c4e1fd56365e9204529258e0ea2d2c603f7","patch":"eeefb08fa84d24313936c7c84d5949e69e7b3f95d273a47248a548a648aa0240"}}',1795319233009,'b8fce2407e420740e1e0b91b468f4ab22b876f09e963b0818ae2f2ab3029f07b');
INSERT INTO events VALUES(154,'165b5b6401a1aa283296c30b507e2d75','room-52e486710501f297',16,'task_assigned','claude','','','dropped','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/dropped","worktree":"worktrees/dropped","integration":"integration","base":"35fbbccde85c9cd97424d978273c42ceeca0038d"}}',1795319233075,'958ac3c23f13dda1ff1fe63f047abb8c2dddbb1bec4d1668d70ee2b1339b310c');
INSERT INTO events VALUES(155,'2dd8beaf71a396933716d8345b11b8bb','room-52e486710501f297',16,'task_failed','claude','','','dropped','','not needed','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"FAILED","attempt":1,"cause":"cancelled"}}',1795319233104,'507d2f04f41e5bc3ed807133024f4ef871faf0e80271af84deb7631d62da3cef');
INSERT INTO events VALUES(156,'2915d77c311690c41c3b7caa8fd5be9d','room-939f40eed7d96988',0,'join','human:ann','','','','','','{"ordinal":1}',1795319233160,'793e24552dedcfef5b53d42b50957c9cc5a8bbf21b115b1b48f7bb56aeeb1895');
INSERT INTO events VALUES(157,'2226a022a0b62e0d9fd6698010e4c87d','room-939f40eed7d96988',0,'join','claude','','','','','','{"ordinal":2,"override":"TT_HARNESS_AGENT_ID"}',1795319233168,'68329cfa222b07f6e64dc066e2c36e4d4a4df4a50f1c921b5aeb5170bf8142d3');
INSERT INTO events VALUES(158,'203f8f557816aa418de3f0d52e8d8ff4','room-939f40eed7d96988',0,'join','codex','','','','','','{"ordinal":3,"override":"TT_HARNESS_AGENT_ID"}',1795319233180,'d5837bc90ecd228cc1c41497bb864cb99e58518022736eced9f75f069bfe0926');
INSERT INTO events VALUES(159,'5af3603e6bf3361147dc13d851da4228','room-939f40eed7d96988',0,'task_assigned','claude','','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/back","worktree":"worktrees/back","integration":"integration","base":"3475bafe888c7f9bec7aa3b8a01df2a30555ea1f"}}',1795319233283,'197587c0d07041d19e23401589beaa37d7394714c1c20e096d431c48a6f492e2');
INSERT INTO events VALUES(160,'88946954fdb717d7e1d386885f856e97','room-939f40eed7d96988',0,'task_started','codex','','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319233312,'7cde7733143f267e191eccfc84bc269f7b1b670dd30d8f71e10137d34c21e1fc');
INSERT INTO events VALUES(161,'1e27c3a768c66aa3b3eb122341fab2b6','room-939f40eed7d96988',0,'task_review_requested','codex','claude','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"3475bafe888c7f9bec7aa3b8a01df2a30555ea1f","head":"f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7","patch":"b2ab341518b70bae76b0b38add95191498d3b2d470ffe143aeafa96265d1874a"}}',1795319233360,'adbe617637ce0c4df4f2eb98e15a47a3e6955a75c3dc49e5ea79ba2b64d6e8cd');
INSERT INTO events VALUES(162,'1e8cdf5969f8470284745f53a81678bd','room-939f40eed7d96988',0,'task_approved','claude','codex','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7"}}',1795319233400,'4f34e7e08bd27048efd1cda43437519e2ef38d932e441ca7a5205a62f9056eea');
INSERT INTO events VALUES(163,'f4258d489d64b08b37f6100cf5c4a8fa','room-939f40eed7d96988',0,'task_merge_started','claude','','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"3475bafe888c7f9bec7aa3b8a01df2a30555ea1f","head":"f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7","result":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}}',1795319233442,'58a5457cd55289fddf76cc2d5ad845b4a40266d9dbdbe0c3b2485fb9858488f7');
INSERT INTO events VALUES(164,'d8e48bb2a25f25fbb251f2bdc3fe8a92','room-939f40eed7d96988',0,'task_completed','claude','codex','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"COMPLETED","attempt":1,"head":"f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7","result":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}}',1795319233461,'106e6207f8f2785c210627b31011c2f076cb50bcccb71f89334af4bf25cacb18');
INSERT INTO events VALUES(165,'aa6442cd2ec47d6419bc9a0652a79478','room-939f40eed7d96988',0,'task_assigned','claude','','','landing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/landing","worktree":"worktrees/landing","integration":"integration","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}}',1795319233548,'8c81fc5507a706b3b876c95ec80355116c33f1357c7f33d62e82b521575d27df');
INSERT INTO events VALUES(166,'fef1fa447abc1a99e980520fb06c1ab9','room-939f40eed7d96988',0,'task_started','codex','','','landing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319233570,'ac2c4a9f54af68541ed2e1d2f8391554a1368ccb3367ade5596eee22128ac139');
INSERT INTO events VALUES(167,'8a84a4d4b952612037d93d194a32084e','room-939f40eed7d96988',0,'task_review_requested','codex','claude','','landing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","head":"ebc8611bc1214cd73f73a8ddfae0d70494353509","patch":"8a80f6da7183c2b890191481a84e0e10325b0ec1da20f54fb9e4a24c092aed4c"}}',1795319233612,'9480fddc13819bf586c1a3f4f07f1c6f7a07febff8a789529c15c61fa276d426');
INSERT INTO events VALUES(168,'212074ddd3a5c8577a4edfcd44ce42a6','room-939f40eed7d96988',0,'task_approved','claude','codex','','landing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"ebc8611bc1214cd73f73a8ddfae0d70494353509"}}',1795319233664,'9b71bf851cbd1afc63dc17248d44c92241cd35a714c22739345fefd7a176e20c');
INSERT INTO events VALUES(169,'ab89dddce957e2af6fcb190c371cd481','room-939f40eed7d96988',0,'task_assigned','claude','','','waits','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/waits","worktree":"worktrees/waits","integration":"integration","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}}',1795319233725,'d275c215fe69f4f76ac111ff899a1e7c7e4887b6300f3bc0f9ca305df5544b1c');
INSERT INTO events VALUES(170,'65f7ae116b14c71f4cb50182c1a1b97d','room-939f40eed7d96988',0,'task_started','codex','','','waits','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319233764,'daeb4b394b763a3a0ba416717365e83807a74dc4aaa7b9d7b5e9a42ed2cc29b0');
INSERT INTO events VALUES(171,'36b9097c33994e1a7414e35ecde1fde1','room-939f40eed7d96988',0,'task_review_requested','codex','claude','','waits','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","head":"70e547a4dc7a46fe61ecab64145619a9cfeda2f0","patch":"010806905cd824eeee26cab44d39e9f20c8c16ec3ccdd695c77299a55c04907e"}}',1795319233831,'4a5297e886b12fcce7bb4cfec86e10e66274c0b2e424ae52ba809d50e48e4b46');
INSERT INTO events VALUES(172,'d6a3b657e723a2037c2b4c36c8797c0e','room-939f40eed7d96988',0,'task_approved','claude','codex','','waits','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"70e547a4dc7a46fe61ecab64145619a9cfeda2f0"}}',1795319233875,'99fcea33715f104dd7d38770d821e2c32c298bc874124f392c519d4d71bef1dd');
INSERT INTO events VALUES(173,'ad4b0a161b2ba92f5d91d32776035758','room-939f40eed7d96988',0,'task_assigned','claude','','','again','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/again","worktree":"worktrees/again","integration":"integration","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}}',1795319233913,'f8ddf6e15f92d3ab3cc94de42cdae44efe02ecad210196a5024f6e5e56d8c34f');
INSERT INTO events VALUES(174,'cb72ae72197dc11e50e9e3038f93c72d','room-939f40eed7d96988',0,'task_started','codex','','','again','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319233936,'0568f91b908200846b332ba8e5d02a1e0f8de4236523be70e19f12b70ed470b6');
INSERT INTO events VALUES(175,'0b6b148dd2493b852c46ad06df0680fa','room-939f40eed7d96988',0,'task_failed','codex','claude','','again','','no','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"FAILED","attempt":1,"cause":"given_up"}}',1795319233951,'4be73fefe54aafd7c533a7027db3e5b9dad978844d6dfda796fe2b91c8901281');
INSERT INTO events VALUES(176,'fd3b7c55e069ede0a19ce75a8ed8a7c8','room-939f40eed7d96988',0,'task_assigned','claude','','','finishing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/finishing","worktree":"worktrees/finishing","integration":"integration","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}}',1795319233993,'dab6294e85591edbe75777e2c3da256a1281edf6f8415698a963e10807ce16b8');
INSERT INTO events VALUES(177,'015c41776ca922fd8c3b7a7312222211','room-939f40eed7d96988',0,'task_started','codex','','','finishing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319234015,'a8920066e3ceef6629f2414a2a39a629033a5ecb31deaf5d3fc68b71821d1fae');
INSERT INTO events VALUES(178,'c85156594736efe4454b507334f89c24','room-939f40eed7d96988',0,'task_assigned','claude','','','tidied','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/tidied","worktree":"worktrees/tidied","integration":"integration","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}}',1795319234063,'638990a5b5348677c97b02e4923e79490d5c7ab654c80644ceb8210c28b4d943');
INSERT INTO events VALUES(179,'e2d5cd20675367cc11b83cb40e43ae99','room-939f40eed7d96988',0,'task_started','codex','','','tidied','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319234087,'438cc8fbe17e5bec9c52e88586d1ec283ed146b836438040659ae773d3a2939b');
INSERT INTO events VALUES(180,'baee68f0c0a8b000190e4b4d0b0f693f','room-939f40eed7d96988',0,'task_review_requested','codex','claude','','tidied','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","head":"9942d05e8faf1582e0da56e46a4523d39c61a8c4","patch":"9632ee714fbac02d073e0a264d4227e6536d7e701dddde8970b665771e45d89f"}}',1795319234147,'57bc1c1882590efcf642fe7d4b939d01296516d05b259e7b6f9a1b57ef498142');
INSERT INTO events VALUES(181,'d443a20cf73d5ceabb4326d610a00a80','room-939f40eed7d96988',0,'task_approved','claude','codex','','tidied','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"9942d05e8faf1582e0da56e46a4523d39c61a8c4"}}',1795319234199,'101b604d93b13d0c261a9c9292e42c23e41f8b80ccace459d786f0c8fb1b328e');
INSERT INTO events VALUES(182,'0b74dca96aa56c28b3fd0d24b28eefb3','room-939f40eed7d96988',0,'task_merge_started','claude','','','tidied','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","head":"9942d05e8faf1582e0da56e46a4523d39c61a8c4","result":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca"}}',1795319234259,'d948001f48f0a48d57bedf5ab8c03747d75a471fbcc94f1703c79baca0017417');
INSERT INTO events VALUES(183,'48588c56d735b5552d2421a05e2a93b4','room-939f40eed7d96988',0,'task_completed','claude','codex','','tidied','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"COMPLETED","attempt":1,"head":"9942d05e8faf1582e0da56e46a4523d39c61a8c4","result":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca"}}',1795319234291,'532649e93a5d387cb588844e0332e5baadf577fecb4a564bcaffbe57d144a238');
INSERT INTO events VALUES(184,'b9884e66af4ead3877459a10a66858d7','room-939f40eed7d96988',0,'task_merge_started','claude','','','landing','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca","head":"ebc8611bc1214cd73f73a8ddfae0d70494353509","result":"35959699be9adab8639f1afc8098987224fc3cbe"}}',1795319234787,'ca11017c6d2f495c15aab0f56df1deda88d4cb13eec7898d2c37816753f6d65a');
INSERT INTO events VALUES(185,'42761616b798684bdc971ee49a718f16','room-4c34ff39e28fa7d8',0,'join','human:ann','','','','','','{"ordinal":1}',1795319235379,'207ed5600011396f4064a8d2ab00728011fd119b7cc0ee4371a7bd4276567b1b');
INSERT INTO events VALUES(186,'8c2e81f6a7b736a1358017383f33ec2b','room-4c34ff39e28fa7d8',0,'join','claude','','','','','','{"ordinal":2,"override":"TT_HARNESS_AGENT_ID"}',1795319235386,'e06a41abfc8ee07dcfcc1b5890765ceb28ea1bb80270c029fe5978e648c13bae');
INSERT INTO events VALUES(187,'e68b6a3720518860624e1b000caccbe9','room-4c34ff39e28fa7d8',0,'join','codex','','','','','','{"ordinal":3,"override":"TT_HARNESS_AGENT_ID"}',1795319235393,'39ed88c09caa4a13a1c082007bffba11d6c7bf0d472a67a2ac1bab0e84ca4400');
INSERT INTO events VALUES(188,'4265289e7d45490fb6bca7368ac779a7','room-4c34ff39e28fa7d8',0,'task_assigned','claude','','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/back","worktree":"worktrees/back","integration":"integration","base":"8e4b80e367ab1f4342b4f93915eb515b31afcada"}}',1795319235470,'80f5db636b9a816d298aec12b1ea817ec6507e7bf0707a2dfd16827e44380821');
INSERT INTO events VALUES(189,'3148507e918d0c0fd4bdc8934a9f23e7','room-4c34ff39e28fa7d8',0,'task_started','codex','','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319235492,'92d386b72e563fc416218be9f406b8b1c081a3b19d94c8dc39a168c9f5e24807');
INSERT INTO events VALUES(190,'b68972d82564a6c452b639b8fef14b0b','room-4c34ff39e28fa7d8',0,'task_review_requested','codex','claude','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"8e4b80e367ab1f4342b4f93915eb515b31afcada","head":"04ed90ce286751b5da944c3d5b028a132f193ebd","patch":"b2ab341518b70bae76b0b38add95191498d3b2d470ffe143aeafa96265d1874a"}}',1795319235567,'bb52cef04a0139f2727b89129d4e0389f820d15b7544833d8e15a633853352a8');
INSERT INTO events VALUES(191,'b1624fad7297e3a195fc3521fc41fbd4','room-4c34ff39e28fa7d8',0,'task_approved','claude','codex','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"04ed90ce286751b5da944c3d5b028a132f193ebd"}}',1795319235635,'a984d81c31e5a0757ef23403cc6db89a082b7365a769714132a3651880cf5287');
INSERT INTO events VALUES(192,'e0ca2a4bbac80d5b60ba0f53a64a33d3','room-4c34ff39e28fa7d8',0,'task_merge_started','claude','','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"8e4b80e367ab1f4342b4f93915eb515b31afcada","head":"04ed90ce286751b5da944c3d5b028a132f193ebd","result":"f0a9259c03f388ea02e065dcffa446dd99aafec2"}}',1795319235689,'650a066c39aed890dfc179ccc67cc675264df3d1af5a9311e011285385345a0f');
INSERT INTO events VALUES(193,'39f3a182f5c4460da80f1eeb590e2e9e','room-4c34ff39e28fa7d8',0,'task_completed','claude','codex','','back','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"COMPLETED","attempt":1,"head":"04ed90ce286751b5da944c3d5b028a132f193ebd","result":"f0a9259c03f388ea02e065dcffa446dd99aafec2"}}',1795319235715,'4509136a84c48117cc915c9502b955dab1169c42bf50d1c619270f2691090a1e');
INSERT INTO events VALUES(194,'648055def1b9e284af0c78832c2cf41e','room-97dc79fd21a75eec',0,'join','human:ann','','','','','','{"ordinal":1}',1795319236417,'12335ca35d6b63e0ff29c83f309d49c655d309d76277de7c90bad13d7d18987c');
INSERT INTO events VALUES(195,'c49fa67c6af53f745653148c61df4404','room-97dc79fd21a75eec',0,'join','claude','','','','','','{"ordinal":2,"override":"TT_HARNESS_AGENT_ID"}',1795319236426,'2fcf9345cc788f6a7219737d25884a3f69b1e3e52b0857114e088ff2b8eb0e68');
INSERT INTO events VALUES(196,'8fe59e56c36be7ad4f84c5300c01bbe9','room-97dc79fd21a75eec',0,'join','codex','','','','','','{"ordinal":3,"override":"TT_HARNESS_AGENT_ID"}',1795319236436,'633952aa69f3100de453aeb33748a12d6c07dc5b69bb5a2e455d863996cd41a5');
INSERT INTO events VALUES(197,'fe903db910a39b306c4f120acbad346e','room-97dc79fd21a75eec',0,'task_assigned','claude','','','page','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"ASSIGNED","attempt":1,"branch":"feat/page","worktree":"worktrees/page","integration":"integration","base":"9db9dfe99a36763aabe3238c19146920f4f696d8"}}',1795319236533,'7be3a227af741c5733724d8d4211da4119b00683d935b56355ef3ffa41c570a3');
INSERT INTO events VALUES(198,'54a5bdf377a6d2469e5d2b7cdcf2fda4','room-97dc79fd21a75eec',0,'task_started','codex','','','page','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"WORKING","attempt":1}}',1795319236566,'adcef955bfb48b4f28235a65177b0096b891a5e90b75e767b00db36e3363e5f3');
INSERT INTO events VALUES(199,'d306c63559222edee4fe545f46dbc787','room-97dc79fd21a75eec',0,'task_review_requested','codex','claude','','page','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"IN_REVIEW","attempt":1,"base":"9db9dfe99a36763aabe3238c19146920f4f696d8","head":"909d708b8f76916386d2eb2df9204beeb3583330","patch":"3835a9d8640e5d8680deebd0e1d09e19dc28df52f45b6ded6eb4971ce305e4ae"}}',1795319236639,'13977ff9d2d8d5124cf798bc47d9fb4717f41f092cfab41c6321336148760007');
INSERT INTO events VALUES(200,'2d0a1ff3df63232ed842f4b29f947c2a','room-97dc79fd21a75eec',0,'task_approved','claude','codex','','page','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"head":"909d708b8f76916386d2eb2df9204beeb3583330"}}',1795319236700,'112065537982b9a753cff92b57981fe8e44f95da96003b95a449d210c3039ce1');
INSERT INTO events VALUES(201,'02924f4dd1e824126a05c950f5efccbb','room-97dc79fd21a75eec',0,'task_merge_started','claude','','','page','','','{"override":"TT_HARNESS_AGENT_ID","task":{"state":"APPROVED","attempt":1,"base":"7510037577e412f83501e87a68d42c220b8f2e59","head":"909d708b8f76916386d2eb2df9204beeb3583330","result":"f0f6ae6bd6a37b5c4b2217f6a199a0af2337984a"}}',1795319236770,'c208816a0392a386db9bef80bde7ba67c17780aac017b6d2ad8db61d38e87d68');
INSERT INTO events VALUES(202,'57735e68232ebfadd3e2b889a57b05be','room-97dc79fd21a75eec',1,'claim','claude','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"87dfa8b4a5e3ab42"}',1795319236802,'78a834f35e41f260097d1112e028c50ab1e90d603ebca890d87162866fccf121');
INSERT INTO events VALUES(203,'d68ea0da8767099c9fa5b6d8ddc5d82a','room-97dc79fd21a75eec',1,'reserved','claude','','','','','','{"override":"TT_HARNESS_AGENT_ID","pattern":"api","ttl_ms":7200000}',1795319236811,'04cc0d6da533a7ba8b77df91f28441ff7e3ffd76c91edf8eed00243c13bdeceb');
INSERT INTO events VALUES(1048780,'067035bb5bf6bccfc59a12f680f9aba0','room-52e486710501f297',4112,'restored','','codex','','','','','{"prior":"codex","ends_turn":true,"generation":2,"world":"reboot"}',1795319236834,'35badd8e5ca908cfff9e22c07309291dbb40b4d86abfbb605a7356615378eef4');
INSERT INTO events VALUES(1048781,'4fe10c3c7c566df6381e45c432255e2f','room-52e486710501f297',4113,'claim','codex','','','','','','{"override":"TT_HARNESS_AGENT_ID","claim":"open_claim","lease":"915dafd33fc5dcde"}',1795319236834,'499bc852260a4268826537b6472b283d21e45b87a6eb6b2b2a0bd88059e62983');
INSERT INTO events VALUES(1048782,'14192c969691672c5c4003908b55ba10','room-97dc79fd21a75eec',4097,'restored','','claude','','','','','{"prior":"claude","ends_turn":true,"generation":2,"world":"reboot"}',1795319236844,'b312a35f2153262e4401e3d80b2955f5507ef7b52b59d1d65b9e65e18bfb211c');
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
);
INSERT INTO counters VALUES('event_seq',1048782);
CREATE TABLE receipts (
    room_id   TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id  TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (event_seq),
    owes      INTEGER NOT NULL, -- 0 nothing, 1 reading, 2 an acknowledgement
    thread    TEXT NOT NULL,
    read_at   INTEGER NOT NULL,
    acked_at  INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL,
    is_open   INTEGER NOT NULL, -- something is still owed
    -- evidence
    shown_at  INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id, event_seq)
);
INSERT INTO receipts VALUES('room-52e486710501f297','gemini',9,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','gemini',11,0,'',0,0,0,0,1795319228086);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',14,0,'',0,0,0,0,1795319227977);
INSERT INTO receipts VALUES('room-52e486710501f297','opus',17,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','gemini',18,0,'',0,0,0,0,1795319228086);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:07d66e3a',32,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:3cc4d8d6',38,0,'',0,0,0,0,1795319229627);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:3cc4d8d6',39,0,'',0,0,0,0,1795319229627);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:3cc4d8d6',40,0,'',0,0,0,0,1795319229627);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',41,0,'',0,0,0,0,1795319229593);
INSERT INTO receipts VALUES('room-52e486710501f297','codex:91ce0a6a',45,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',50,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:3cc4d8d6',54,0,'',0,0,0,0,1795319229653);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:3cc4d8d6',55,1,'',0,0,0,1,1795319229653);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',55,1,'',0,0,0,1,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:f52fe50f',57,1,'',0,0,0,1,1795319229676);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',57,1,'',0,0,0,1,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',58,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',59,1,'parser',1795319229754,1795319229762,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',60,1,'',1795319229762,1795319229762,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','gemini',60,1,'',0,0,0,1,1795319229816);
INSERT INTO receipts VALUES('room-52e486710501f297','human:ann',60,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex:1b041d78',60,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:3cc4d8d6',60,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:f52fe50f',60,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',61,2,'',1795319229762,1795319229762,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','gemini',61,2,'',0,0,0,1,1795319229816);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',62,2,'',1795319229762,1795319229762,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',65,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',66,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',67,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',68,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',69,1,'parser',0,0,0,1,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',70,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','gemini',71,2,'',0,0,1,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','gemini',72,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','opencode',74,2,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',75,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',82,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',82,0,'',0,0,0,0,1795319229882);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',83,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',83,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex:d7626c8a',88,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex:d7626c8a',89,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',92,1,'',0,0,0,1,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude:cffb7f90',99,1,'',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',111,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',113,1,'bead:UI-7',0,0,0,1,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',114,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',115,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',117,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',118,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',119,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',121,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',125,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',128,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',129,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','opencode',130,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',132,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','opencode',134,1,'bead:c2',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','opencode',136,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','opencode',137,1,'bead:c2',0,0,0,1,0);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',140,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',141,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',144,1,'bead:red',0,0,0,1,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',147,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',148,0,'',0,0,0,0,1795319236820);
INSERT INTO receipts VALUES('room-52e486710501f297','claude',153,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','claude',161,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','codex',162,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','codex',164,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','claude',167,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','codex',168,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','claude',171,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','codex',172,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','claude',175,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','claude',180,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','codex',181,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-939f40eed7d96988','codex',183,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-4c34ff39e28fa7d8','claude',190,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-4c34ff39e28fa7d8','codex',191,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-4c34ff39e28fa7d8','codex',193,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-97dc79fd21a75eec','claude',199,0,'',0,0,0,0,1795319236804);
INSERT INTO receipts VALUES('room-97dc79fd21a75eec','codex',200,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-52e486710501f297','codex',1048780,0,'',0,0,0,0,0);
INSERT INTO receipts VALUES('room-97dc79fd21a75eec','claude',1048782,0,'',0,0,0,0,0);
CREATE TABLE notes (
    event_seq   INTEGER PRIMARY KEY REFERENCES events (event_seq), -- the event that added it
    room_id     TEXT NOT NULL REFERENCES rooms (room_id),
    author      TEXT NOT NULL,
    turn_id     INTEGER NOT NULL, -- the turn that it is about, 0 for the room
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    resolved_at INTEGER NOT NULL,
    resolved_by TEXT NOT NULL
);
INSERT INTO notes VALUES(76,'room-52e486710501f297','codex',0,'the generated files are not in git',1795319229845,1795319229868,'claude');
INSERT INTO notes VALUES(77,'room-52e486710501f297','codex',16,'leave lex.go alone',1795319229853,0,'');
CREATE TABLE reservations (
    event_seq INTEGER PRIMARY KEY REFERENCES events (event_seq), -- the event that made it
    room_id   TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id  TEXT NOT NULL,
    pattern   TEXT NOT NULL,
    prefix    TEXT NOT NULL, -- the first segments of the pattern that have no wildcard, with case folded
    task_id   TEXT NOT NULL,
    ttl_ms    INTEGER NOT NULL,
    made_at   INTEGER NOT NULL
);
CREATE TABLE tasks (
    room_id      TEXT NOT NULL REFERENCES rooms (room_id),
    task_key     TEXT NOT NULL, -- the name in small letters
    -- derived
    task_id      TEXT NOT NULL,
    state        TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    description  TEXT NOT NULL,
    spec         TEXT NOT NULL,
    branch       TEXT NOT NULL,
    worktree     TEXT NOT NULL,
    integration  TEXT NOT NULL,
    base         TEXT NOT NULL,
    head         TEXT NOT NULL,
    patch        TEXT NOT NULL,
    changes_gate INTEGER NOT NULL,
    worker       TEXT NOT NULL,
    earlier      TEXT NOT NULL, -- a JSON list of agents
    spawned_by   TEXT NOT NULL,
    approved     TEXT NOT NULL,
    approved_by  TEXT NOT NULL,
    approved_seq INTEGER NOT NULL, -- the place in the merge queue
    result       TEXT NOT NULL,
    cause        TEXT NOT NULL,
    reason       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    state_at     INTEGER NOT NULL,
    last_seq     INTEGER NOT NULL,
    -- evidence
    heartbeat_at INTEGER NOT NULL,
    PRIMARY KEY (room_id, task_key)
);
INSERT INTO tasks VALUES('room-52e486710501f297','ui-7','UI-7','FAILED',2,'Retry failed uploads','Try three times.','feat/UI-7','worktrees/UI-7','integration','ed634094ada0e3c73d8a8615b65873aacb1633db','','',0,'codex','["codex"]','claude','','',0,'','given_up','too hard',1795319230157,1795319230724,121,0);
INSERT INTO tasks VALUES('room-52e486710501f297','c2','c2','FAILED',1,'','','feat/c2','worktrees/c2','integration','35fbbccde85c9cd97424d978273c42ceeca0038d','2f3d7aacbcaf7be983cf2381538ab65450e9bc48','b385098f5a0daf5a44a57936c378bbee5cdd179dc8eb7d0312dbf44b787da351',0,'opencode','','claude','','',0,'','cancelled','later',1795319230777,1795319231303,136,0);
INSERT INTO tasks VALUES('room-52e486710501f297','c1','c1','COMPLETED',1,'','','feat/c1','worktrees/c1','integration','ed634094ada0e3c73d8a8615b65873aacb1633db','d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9','e43c8fe119afe08dbef368c5ef862913ff285c968705e0a08ddbaac58a6ad705',0,'codex','','claude','d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9','claude',129,'35fbbccde85c9cd97424d978273c42ceeca0038d','','',1795319230913,1795319231162,132,0);
INSERT INTO tasks VALUES('room-52e486710501f297','red','red','WORKING',1,'','','feat/red','worktrees/red','integration','35fbbccde85c9cd97424d978273c42ceeca0038d','3faea6deb44dc2b9c52f88b24f6990e83aea4ca7','3227ef16298c27a2bde3a82e8ebe77ddc6f0a0b512697675d8cf65e39b4d1f8c',0,'codex','','claude','','',0,'','gate',replace('The gate is red (exit status 1) on its merge with integration: `grep -q fine state` said:\n','\n',char(10)),1795319231359,1795319231578,143,0);
INSERT INTO tasks VALUES('room-52e486710501f297','queued','queued','APPROVED',1,'','','feat/queued','worktrees/queued','integration','35fbbccde85c9cd97424d978273c42ceeca0038d','42f27fbea2f04938e53635135adbed12df97197c','bd5f84855f5e5c95fc1d218acc52ac34b51ddb2ae18e9c0f2dbee176ae9f2721',0,'codex','','claude','42f27fbea2f04938e53635135adbed12df97197c','human:ann',148,'','','',1795319231619,1795319231721,148,1795319233024);
INSERT INTO tasks VALUES('room-52e486710501f297','begun','begun','ASSIGNED',1,'','','feat/begun','worktrees/begun','integration','35fbbccde85c9cd97424d978273c42ceeca0038d','','',0,'','','claude','','',0,'','','',1795319231784,1795319231784,149,0);
INSERT INTO tasks VALUES('room-52e486710501f297','run','run','ASSIGNED',1,'','','feat/run','worktrees/run','integration','35fbbccde85c9cd97424d978273c42ceeca0038d','','',0,'','','claude','','',0,'','','',1795319231868,1795319231868,150,0);
INSERT INTO tasks VALUES('room-52e486710501f297','reviewing','reviewing','IN_REVIEW',1,'','','feat/reviewing','worktrees/reviewing','integration','35fbbccde85c9cd97424d978273c42ceeca0038d','6d0f9c4e1fd56365e9204529258e0ea2d2c603f7','eeefb08fa84d24313936c7c84d5949e69e7b3f95d273a47248a548a648aa0240',0,'codex','','claude','','',0,'','','',1795319232943,1795319233009,153,0);
INSERT INTO tasks VALUES('room-52e486710501f297','dropped','dropped','FAILED',1,'','','feat/dropped','worktrees/dropped','integration','35fbbccde85c9cd97424d978273c42ceeca0038d','','',0,'','','claude','','',0,'','cancelled','not needed',1795319233075,1795319233104,155,0);
INSERT INTO tasks VALUES('room-939f40eed7d96988','back','back','COMPLETED',1,'','','feat/back','worktrees/back','integration','3475bafe888c7f9bec7aa3b8a01df2a30555ea1f','f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7','b2ab341518b70bae76b0b38add95191498d3b2d470ffe143aeafa96265d1874a',0,'codex','','claude','f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7','claude',162,'7f8e27cc4898219b816373e549f3a830eb9e9d5f','','',1795319233283,1795319233461,164,0);
INSERT INTO tasks VALUES('room-939f40eed7d96988','landing','landing','APPROVED',1,'','','feat/landing','worktrees/landing','integration','7f8e27cc4898219b816373e549f3a830eb9e9d5f','ebc8611bc1214cd73f73a8ddfae0d70494353509','8a80f6da7183c2b890191481a84e0e10325b0ec1da20f54fb9e4a24c092aed4c',0,'codex','','claude','ebc8611bc1214cd73f73a8ddfae0d70494353509','claude',168,'','','',1795319233548,1795319233664,184,0);
INSERT INTO tasks VALUES('room-939f40eed7d96988','waits','waits','APPROVED',1,'','','feat/waits','worktrees/waits','integration','7f8e27cc4898219b816373e549f3a830eb9e9d5f','70e547a4dc7a46fe61ecab64145619a9cfeda2f0','010806905cd824eeee26cab44d39e9f20c8c16ec3ccdd695c77299a55c04907e',0,'codex','','claude','70e547a4dc7a46fe61ecab64145619a9cfeda2f0','claude',172,'','','',1795319233725,1795319233875,172,0);
INSERT INTO tasks VALUES('room-939f40eed7d96988','again','again','FAILED',1,'','','feat/again','worktrees/again','integration','7f8e27cc4898219b816373e549f3a830eb9e9d5f','','',0,'codex','','claude','','',0,'','given_up','no',1795319233913,1795319233951,175,0);
INSERT INTO tasks VALUES('room-939f40eed7d96988','finishing','finishing','WORKING',1,'','','feat/finishing','worktrees/finishing','integration','7f8e27cc4898219b816373e549f3a830eb9e9d5f','','',0,'codex','','claude','','',0,'','','',1795319233993,1795319234015,177,0);
INSERT INTO tasks VALUES('room-939f40eed7d96988','tidied','tidied','COMPLETED',1,'','','feat/tidied','worktrees/tidied','integration','7f8e27cc4898219b816373e549f3a830eb9e9d5f','9942d05e8faf1582e0da56e46a4523d39c61a8c4','9632ee714fbac02d073e0a264d4227e6536d7e701dddde8970b665771e45d89f',0,'codex','','claude','9942d05e8faf1582e0da56e46a4523d39c61a8c4','claude',181,'838f72eb0cbb54da680fe4a7037ac6c37621c7ca','','',1795319234063,1795319234291,183,0);
INSERT INTO tasks VALUES('room-4c34ff39e28fa7d8','back','back','COMPLETED',1,'','','feat/back','worktrees/back','integration','8e4b80e367ab1f4342b4f93915eb515b31afcada','04ed90ce286751b5da944c3d5b028a132f193ebd','b2ab341518b70bae76b0b38add95191498d3b2d470ffe143aeafa96265d1874a',0,'codex','','claude','04ed90ce286751b5da944c3d5b028a132f193ebd','claude',191,'f0a9259c03f388ea02e065dcffa446dd99aafec2','','',1795319235470,1795319235715,193,0);
INSERT INTO tasks VALUES('room-97dc79fd21a75eec','page','page','APPROVED',1,'','','feat/page','worktrees/page','integration','9db9dfe99a36763aabe3238c19146920f4f696d8','909d708b8f76916386d2eb2df9204beeb3583330','3835a9d8640e5d8680deebd0e1d09e19dc28df52f45b6ded6eb4971ce305e4ae',0,'codex','','claude','909d708b8f76916386d2eb2df9204beeb3583330','claude',200,'','','',1795319236533,1795319236700,201,0);
CREATE TABLE task_attempts (
    room_id     TEXT NOT NULL,
    task_key    TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    worker      TEXT NOT NULL,
    assigned_at INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    outcome     TEXT NOT NULL,
    PRIMARY KEY (room_id, task_key, attempt),
    FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);
INSERT INTO task_attempts VALUES('room-52e486710501f297','ui-7',1,'codex',1795319230157,1795319230229,1795319230631,'FAILED');
INSERT INTO task_attempts VALUES('room-52e486710501f297','ui-7',2,'codex',1795319230673,1795319230708,1795319230724,'FAILED');
INSERT INTO task_attempts VALUES('room-52e486710501f297','c2',1,'opencode',1795319230777,1795319230803,1795319231303,'FAILED');
INSERT INTO task_attempts VALUES('room-52e486710501f297','c1',1,'codex',1795319230913,1795319230940,1795319231162,'COMPLETED');
INSERT INTO task_attempts VALUES('room-52e486710501f297','red',1,'codex',1795319231359,1795319231387,0,'');
INSERT INTO task_attempts VALUES('room-52e486710501f297','queued',1,'codex',1795319231619,1795319231644,0,'');
INSERT INTO task_attempts VALUES('room-52e486710501f297','begun',1,'',1795319231784,0,0,'');
INSERT INTO task_attempts VALUES('room-52e486710501f297','run',1,'',1795319231868,0,0,'');
INSERT INTO task_attempts VALUES('room-52e486710501f297','reviewing',1,'codex',1795319232943,1795319232966,0,'');
INSERT INTO task_attempts VALUES('room-52e486710501f297','dropped',1,'',1795319233075,0,1795319233104,'FAILED');
INSERT INTO task_attempts VALUES('room-939f40eed7d96988','back',1,'codex',1795319233283,1795319233312,1795319233461,'COMPLETED');
INSERT INTO task_attempts VALUES('room-939f40eed7d96988','landing',1,'codex',1795319233548,1795319233570,0,'');
INSERT INTO task_attempts VALUES('room-939f40eed7d96988','waits',1,'codex',1795319233725,1795319233764,0,'');
INSERT INTO task_attempts VALUES('room-939f40eed7d96988','again',1,'codex',1795319233913,1795319233936,1795319233951,'FAILED');
INSERT INTO task_attempts VALUES('room-939f40eed7d96988','finishing',1,'codex',1795319233993,1795319234015,0,'');
INSERT INTO task_attempts VALUES('room-939f40eed7d96988','tidied',1,'codex',1795319234063,1795319234087,1795319234291,'COMPLETED');
INSERT INTO task_attempts VALUES('room-4c34ff39e28fa7d8','back',1,'codex',1795319235470,1795319235492,1795319235715,'COMPLETED');
INSERT INTO task_attempts VALUES('room-97dc79fd21a75eec','page',1,'codex',1795319236533,1795319236566,0,'');
CREATE TABLE reviews (
    event_seq INTEGER PRIMARY KEY REFERENCES events (event_seq),
    room_id   TEXT NOT NULL,
    task_key  TEXT NOT NULL,
    attempt   INTEGER NOT NULL,
    reviewer  TEXT NOT NULL,
    verdict   TEXT NOT NULL,
    head      TEXT NOT NULL,
    body      TEXT NOT NULL,
    report    TEXT NOT NULL,
    at        INTEGER NOT NULL,
    FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);
INSERT INTO reviews VALUES(112,'room-52e486710501f297','ui-7',1,'claude','task_changes_requested','dee2739bfbc2fd4c7ad4f65248674d6c4a4ad095','only twice','',1795319230336);
INSERT INTO reviews VALUES(115,'room-52e486710501f297','ui-7',1,'claude','task_approved','2e83231f42ed5cdce3e44c7ce84eea4a98156bff','','',1795319230437);
INSERT INTO reviews VALUES(129,'room-52e486710501f297','c1',1,'claude','task_approved','d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9','','',1795319231047);
INSERT INTO reviews VALUES(130,'room-52e486710501f297','c2',1,'claude','task_approved','2f3d7aacbcaf7be983cf2381538ab65450e9bc48','','',1795319231095);
INSERT INTO reviews VALUES(133,'room-52e486710501f297','c2',1,'claude','task_changes_requested','2f3d7aacbcaf7be983cf2381538ab65450e9bc48','It conflicts with integration in lexer. Rebase it: tt worker done starts the rebase.','',1795319231233);
INSERT INTO reviews VALUES(141,'room-52e486710501f297','red',1,'claude','task_approved','3faea6deb44dc2b9c52f88b24f6990e83aea4ca7','','',1795319231507);
INSERT INTO reviews VALUES(143,'room-52e486710501f297','red',1,'claude','task_changes_requested','3faea6deb44dc2b9c52f88b24f6990e83aea4ca7',replace('The gate is red (exit status 1) on its merge with integration: `grep -q fine state` said:\n','\n',char(10)),'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',1795319231578);
INSERT INTO reviews VALUES(148,'room-52e486710501f297','queued',1,'human:ann','task_approved','42f27fbea2f04938e53635135adbed12df97197c','I looked','',1795319231721);
INSERT INTO reviews VALUES(162,'room-939f40eed7d96988','back',1,'claude','task_approved','f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7','','',1795319233400);
INSERT INTO reviews VALUES(168,'room-939f40eed7d96988','landing',1,'claude','task_approved','ebc8611bc1214cd73f73a8ddfae0d70494353509','','',1795319233664);
INSERT INTO reviews VALUES(172,'room-939f40eed7d96988','waits',1,'claude','task_approved','70e547a4dc7a46fe61ecab64145619a9cfeda2f0','','',1795319233875);
INSERT INTO reviews VALUES(181,'room-939f40eed7d96988','tidied',1,'claude','task_approved','9942d05e8faf1582e0da56e46a4523d39c61a8c4','','',1795319234199);
INSERT INTO reviews VALUES(191,'room-4c34ff39e28fa7d8','back',1,'claude','task_approved','04ed90ce286751b5da944c3d5b028a132f193ebd','','',1795319235635);
INSERT INTO reviews VALUES(200,'room-97dc79fd21a75eec','page',1,'claude','task_approved','909d708b8f76916386d2eb2df9204beeb3583330','','',1795319236700);
CREATE TABLE task_views (
    room_id  TEXT NOT NULL,
    task_key TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    head     TEXT NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (room_id, task_key, agent_id)
);
INSERT INTO task_views VALUES('room-52e486710501f297','ui-7','claude','2e83231f42ed5cdce3e44c7ce84eea4a98156bff',1795319230416);
INSERT INTO task_views VALUES('room-52e486710501f297','c1','claude','d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9',1795319231023);
INSERT INTO task_views VALUES('room-52e486710501f297','c2','claude','2f3d7aacbcaf7be983cf2381538ab65450e9bc48',1795319231072);
INSERT INTO task_views VALUES('room-52e486710501f297','red','claude','3faea6deb44dc2b9c52f88b24f6990e83aea4ca7',1795319231483);
INSERT INTO task_views VALUES('room-939f40eed7d96988','back','claude','f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7',1795319233382);
INSERT INTO task_views VALUES('room-939f40eed7d96988','landing','claude','ebc8611bc1214cd73f73a8ddfae0d70494353509',1795319233647);
INSERT INTO task_views VALUES('room-939f40eed7d96988','waits','claude','70e547a4dc7a46fe61ecab64145619a9cfeda2f0',1795319233858);
INSERT INTO task_views VALUES('room-939f40eed7d96988','tidied','claude','9942d05e8faf1582e0da56e46a4523d39c61a8c4',1795319234183);
INSERT INTO task_views VALUES('room-4c34ff39e28fa7d8','back','claude','04ed90ce286751b5da944c3d5b028a132f193ebd',1795319235607);
INSERT INTO task_views VALUES('room-97dc79fd21a75eec','page','claude','909d708b8f76916386d2eb2df9204beeb3583330',1795319236682);
CREATE TABLE task_runs (
    room_id    TEXT NOT NULL,
    task_key   TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    command    TEXT NOT NULL,
    machine    TEXT NOT NULL,
    boot       TEXT NOT NULL,
    pid_ns     TEXT NOT NULL,
    pid        INTEGER NOT NULL,
    start_time INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    exit       INTEGER NOT NULL,
    output     TEXT NOT NULL, -- the blob
    PRIMARY KEY (room_id, task_key, attempt)
);
INSERT INTO task_runs VALUES('room-52e486710501f297','run',1,'echo it broke; exit 3','0123456789abcdef0123456789abcdef','5e1f0c2b-0000-4000-8000-000000000001','4026532180',1622,166262,1795319231889,1795319231893,3,'19beb0948db1b747bfa56240e042dae0832a6bf6468e4b160605aed0c68d03da');
CREATE TABLE intents (
    intent_id  TEXT PRIMARY KEY,
    room_id    TEXT NOT NULL REFERENCES rooms (room_id),
    task_key   TEXT NOT NULL, -- empty for the merge queue itself
    attempt    INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    data       TEXT NOT NULL, -- JSON
    pid        INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    outcome    TEXT NOT NULL
);
INSERT INTO intents VALUES('27358af5fae394f1d56f10e347478f6b','room-52e486710501f297','ui-7',1,'spawn','claude','{"task":{"ID":"UI-7","State":"","Attempt":0,"Description":"Retry failed uploads","Spec":"Try three times.","Branch":"feat/UI-7","Worktree":"worktrees/UI-7","Integration":"integration","Base":"9103d810a45c9eaca1354b442e7668b760b3e181","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/UI-7","base":"9103d810a45c9eaca1354b442e7668b760b3e181","new_branch":true,"new_tree":true}',877,1795319230148,1795319230157,'done');
INSERT INTO intents VALUES('7c517b35790a1483a8d74248632f1507','room-52e486710501f297','ui-7',1,'done','codex','{"path":"/home/ann/app/worktrees/UI-7","head":"dee2739bfbc2fd4c7ad4f65248674d6c4a4ad095","onto":"9103d810a45c9eaca1354b442e7668b760b3e181"}',919,1795319230267,1795319230286,'done');
INSERT INTO intents VALUES('a43bd1f97b749b98f540bf1bc2f2bde1','room-52e486710501f297','ui-7',1,'done','codex','{"path":"/home/ann/app/worktrees/UI-7","head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","onto":"9103d810a45c9eaca1354b442e7668b760b3e181"}',971,1795319230380,1795319230392,'done');
INSERT INTO intents VALUES('6aa6212cf5bf64cc8108793869abbcea','room-52e486710501f297','ui-7',1,'land','claude','{"branch":"integration","base":"9103d810a45c9eaca1354b442e7668b760b3e181","head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","result":"14e6225545440af3255a409858cf16d5c7c5b45b","tree":"/home/ann/app/worktrees/.gate-14e622554544"}',1019,1795319230495,1795319230520,'landed');
INSERT INTO intents VALUES('a336679ce77e817bbeee0e683899d31a','room-52e486710501f297','ui-7',1,'cleanup','claude','{"branch":"feat/UI-7","path":"/home/ann/app/worktrees/UI-7","head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","target":"integration","attempt":1,"worker":"codex"}',1019,1795319230520,1795319230556,'done');
INSERT INTO intents VALUES('dc2d39649a7657216244b34371b2f0d7','room-52e486710501f297','ui-7',1,'rollback','claude','{"branch":"integration","base":"14e6225545440af3255a409858cf16d5c7c5b45b","head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","result":"ed634094ada0e3c73d8a8615b65873aacb1633db","tree":"/home/ann/app/worktrees/.gate-ed634094ada0","revert":"it broke the build"}',1060,1795319230610,1795319230631,'landed');
INSERT INTO intents VALUES('ad9a1dce756a59bee5903750348e6669','room-52e486710501f297','ui-7',2,'retry','claude','{"task":{"ID":"UI-7","State":"FAILED","Attempt":2,"Description":"Retry failed uploads","Spec":"Try three times.","Branch":"feat/UI-7","Worktree":"worktrees/UI-7","Integration":"integration","Base":"ed634094ada0e3c73d8a8615b65873aacb1633db","Head":"2e83231f42ed5cdce3e44c7ce84eea4a98156bff","Patch":"1727a70d9909cf70b931d90c3a3c04275cf9fccbdf869d36a38c0ba32e1bdcd3","ChangesGate":false,"Worker":"codex","Earlier":null,"SpawnedBy":"claude","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"ed634094ada0e3c73d8a8615b65873aacb1633db","Cause":"rolled_back","Reason":"it broke the build","CreatedAt":"2026-11-22T03:47:10.157Z","StateAt":"2026-11-22T03:47:10.631Z","Seq":118,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/UI-7","base":"ed634094ada0e3c73d8a8615b65873aacb1633db","new_branch":true,"new_tree":true}',1085,1795319230659,1795319230673,'done');
INSERT INTO intents VALUES('f2ffb58724b79b93e2b65d8f6d6162a5','room-52e486710501f297','c2',1,'spawn','claude','{"task":{"ID":"c2","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/c2","Worktree":"worktrees/c2","Integration":"integration","Base":"ed634094ada0e3c73d8a8615b65873aacb1633db","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/c2","base":"ed634094ada0e3c73d8a8615b65873aacb1633db","new_branch":true,"new_tree":true}',1132,1795319230759,1795319230777,'done');
INSERT INTO intents VALUES('d45c58758284587592659a493815b781','room-52e486710501f297','c2',1,'done','opencode','{"path":"/home/ann/app/worktrees/c2","head":"2f3d7aacbcaf7be983cf2381538ab65450e9bc48","onto":"ed634094ada0e3c73d8a8615b65873aacb1633db"}',1171,1795319230836,1795319230851,'done');
INSERT INTO intents VALUES('fa59848e1acbed32ed67aa02d0f32df4','room-52e486710501f297','c1',1,'spawn','claude','{"task":{"ID":"c1","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/c1","Worktree":"worktrees/c1","Integration":"integration","Base":"ed634094ada0e3c73d8a8615b65873aacb1633db","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/c1","base":"ed634094ada0e3c73d8a8615b65873aacb1633db","new_branch":true,"new_tree":true}',1191,1795319230891,1795319230913,'done');
INSERT INTO intents VALUES('12cced7d819a584ae8320043d23f87f5','room-52e486710501f297','c1',1,'done','codex','{"path":"/home/ann/app/worktrees/c1","head":"d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9","onto":"ed634094ada0e3c73d8a8615b65873aacb1633db"}',1230,1795319230979,1795319230992,'done');
INSERT INTO intents VALUES('f2a6e3fa0978a9161c620fc5054d825e','room-52e486710501f297','c1',1,'land','claude','{"branch":"integration","base":"ed634094ada0e3c73d8a8615b65873aacb1633db","head":"d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9","result":"35fbbccde85c9cd97424d978273c42ceeca0038d","tree":"/home/ann/app/worktrees/.gate-35fbbccde85c"}',1303,1795319231142,1795319231162,'landed');
INSERT INTO intents VALUES('255c5d27ce53dbe9c9969519b2898a3b','room-52e486710501f297','c1',1,'cleanup','claude','{"branch":"feat/c1","path":"/home/ann/app/worktrees/c1","head":"d854ec7ff2973227c7aa7aaa716990a2c7d5e3d9","target":"integration","attempt":1,"worker":"codex"}',1303,1795319231162,1795319231211,'done');
INSERT INTO intents VALUES('cbfe66d198d757da0feb4ce07553b5d1','room-52e486710501f297','c2',1,'done','opencode','{"path":"/home/ann/app/worktrees/c2","head":"2f3d7aacbcaf7be983cf2381538ab65450e9bc48","onto":"35fbbccde85c9cd97424d978273c42ceeca0038d"}',1349,1795319231267,1795319231288,'conflict');
INSERT INTO intents VALUES('4d7a0670ac7adc1d8a26594dac80eac8','room-52e486710501f297','red',1,'spawn','claude','{"task":{"ID":"red","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/red","Worktree":"worktrees/red","Integration":"integration","Base":"35fbbccde85c9cd97424d978273c42ceeca0038d","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/red","base":"35fbbccde85c9cd97424d978273c42ceeca0038d","new_branch":true,"new_tree":true}',1384,1795319231347,1795319231359,'done');
INSERT INTO intents VALUES('52e64bd1b740ad78b586b080acc96e44','room-52e486710501f297','red',1,'done','codex','{"path":"/home/ann/app/worktrees/red","head":"3faea6deb44dc2b9c52f88b24f6990e83aea4ca7","onto":"35fbbccde85c9cd97424d978273c42ceeca0038d"}',1423,1795319231429,1795319231443,'done');
INSERT INTO intents VALUES('52111d2f748254b12f44a537f9079698','room-52e486710501f297','red',1,'land','claude','{"branch":"integration","base":"35fbbccde85c9cd97424d978273c42ceeca0038d","head":"3faea6deb44dc2b9c52f88b24f6990e83aea4ca7","result":"fe8b80760bd0f3400e25ddac74a813ebcb363dc2","tree":"/home/ann/app/worktrees/.gate-fe8b80760bd0"}',1468,1795319231558,1795319231578,'returned');
INSERT INTO intents VALUES('5b546b03d1063a1748173180104a93e1','room-52e486710501f297','queued',1,'spawn','claude','{"task":{"ID":"queued","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/queued","Worktree":"worktrees/queued","Integration":"integration","Base":"35fbbccde85c9cd97424d978273c42ceeca0038d","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/queued","base":"35fbbccde85c9cd97424d978273c42ceeca0038d","new_branch":true,"new_tree":true}',1498,1795319231608,1795319231619,'done');
INSERT INTO intents VALUES('0f1a4c00198910b629c9883cfe48955f','room-52e486710501f297','queued',1,'done','codex','{"path":"/home/ann/app/worktrees/queued","head":"42f27fbea2f04938e53635135adbed12df97197c","onto":"35fbbccde85c9cd97424d978273c42ceeca0038d"}',1538,1795319231691,1795319231704,'done');
INSERT INTO intents VALUES('72e70521bf13207e43c1e1a0b4f3f2f1','room-52e486710501f297','begun',1,'spawn','claude','{"task":{"ID":"begun","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/begun","Worktree":"worktrees/begun","Integration":"integration","Base":"35fbbccde85c9cd97424d978273c42ceeca0038d","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/begun","base":"35fbbccde85c9cd97424d978273c42ceeca0038d","new_branch":true,"new_tree":true}',1573,1795319231774,1795319231784,'done');
INSERT INTO intents VALUES('14c7db5f135da81e8313a83bb4e20798','room-52e486710501f297','run',1,'spawn','claude','{"task":{"ID":"run","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/run","Worktree":"worktrees/run","Integration":"integration","Base":"35fbbccde85c9cd97424d978273c42ceeca0038d","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/run","base":"35fbbccde85c9cd97424d978273c42ceeca0038d","new_branch":true,"new_tree":true}',1598,1795319231846,1795319231868,'done');
INSERT INTO intents VALUES('bcd9549f8fe48028ffd4b222910905d6','room-52e486710501f297','reviewing',1,'spawn','claude','{"task":{"ID":"reviewing","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/reviewing","Worktree":"worktrees/reviewing","Integration":"integration","Base":"35fbbccde85c9cd97424d978273c42ceeca0038d","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/reviewing","base":"35fbbccde85c9cd97424d978273c42ceeca0038d","new_branch":true,"new_tree":true}',1642,1795319232934,1795319232943,'done');
INSERT INTO intents VALUES('43e506080458616ccbd3c40003bd0eab','room-52e486710501f297','reviewing',1,'done','codex','{"path":"/home/ann/app/worktrees/reviewing","head":"6d0f9c4e1fd56365e9204529258e0ea2d2c603f7","onto":"35fbbccde85c9cd97424d978273c42ceeca0038d"}',1682,1795319232998,1795319233009,'done');
INSERT INTO intents VALUES('d1d7fc1ce7b8237e74f9154c5020747a','room-52e486710501f297','dropped',1,'spawn','claude','{"task":{"ID":"dropped","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/dropped","Worktree":"worktrees/dropped","Integration":"integration","Base":"35fbbccde85c9cd97424d978273c42ceeca0038d","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/app/worktrees/dropped","base":"35fbbccde85c9cd97424d978273c42ceeca0038d","new_branch":true,"new_tree":true}',1712,1795319233065,1795319233075,'done');
INSERT INTO intents VALUES('8a17433761ad349f31611f2321be741a','room-939f40eed7d96988','back',1,'spawn','claude','{"task":{"ID":"back","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/back","Worktree":"worktrees/back","Integration":"integration","Base":"3475bafe888c7f9bec7aa3b8a01df2a30555ea1f","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/back","base":"3475bafe888c7f9bec7aa3b8a01df2a30555ea1f","new_branch":true,"new_tree":true}',1815,1795319233265,1795319233283,'done');
INSERT INTO intents VALUES('f6e977f62e3bb4079b0c48d5094b1d6e','room-939f40eed7d96988','back',1,'done','codex','{"path":"/home/ann/lib/worktrees/back","head":"f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7","onto":"3475bafe888c7f9bec7aa3b8a01df2a30555ea1f"}',1854,1795319233349,1795319233360,'done');
INSERT INTO intents VALUES('308c5ab604ecf2a5ccc267d11fa74dab','room-939f40eed7d96988','back',1,'land','claude','{"branch":"integration","base":"3475bafe888c7f9bec7aa3b8a01df2a30555ea1f","head":"f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7","result":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","tree":"/home/ann/lib/worktrees/.gate-7f8e27cc4898"}',1900,1795319233442,1795319233461,'landed');
INSERT INTO intents VALUES('aaa05cd61e200f321bcfc539c76e5e87','room-939f40eed7d96988','back',1,'cleanup','claude','{"branch":"feat/back","path":"/home/ann/lib/worktrees/back","head":"f1581c7dfbc72d1269994d3bb1c66a27a1e2aae7","target":"integration","attempt":1,"worker":"codex"}',1900,1795319233461,1795319233503,'done');
INSERT INTO intents VALUES('1187017e57d1ffde1fcfe3ce87017351','room-939f40eed7d96988','landing',1,'spawn','claude','{"task":{"ID":"landing","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/landing","Worktree":"worktrees/landing","Integration":"integration","Base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/landing","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","new_branch":true,"new_tree":true}',1942,1795319233540,1795319233548,'done');
INSERT INTO intents VALUES('f20cb516067d6986326639a335f919ce','room-939f40eed7d96988','landing',1,'done','codex','{"path":"/home/ann/lib/worktrees/landing","head":"ebc8611bc1214cd73f73a8ddfae0d70494353509","onto":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}',1982,1795319233602,1795319233612,'done');
INSERT INTO intents VALUES('923c4cd8811f7196939d6563aba2e813','room-939f40eed7d96988','waits',1,'spawn','claude','{"task":{"ID":"waits","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/waits","Worktree":"worktrees/waits","Integration":"integration","Base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/waits","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","new_branch":true,"new_tree":true}',2029,1795319233711,1795319233725,'done');
INSERT INTO intents VALUES('0b666c7090d8804fc165c4d3e2a78ad6','room-939f40eed7d96988','waits',1,'done','codex','{"path":"/home/ann/lib/worktrees/waits","head":"70e547a4dc7a46fe61ecab64145619a9cfeda2f0","onto":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}',2067,1795319233819,1795319233831,'done');
INSERT INTO intents VALUES('de551dce3f99a22e0c1f2f5983295059','room-939f40eed7d96988','again',1,'spawn','claude','{"task":{"ID":"again","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/again","Worktree":"worktrees/again","Integration":"integration","Base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/again","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","new_branch":true,"new_tree":true}',2113,1795319233905,1795319233913,'done');
INSERT INTO intents VALUES('591c97644f377f23733611f015247fb0','room-939f40eed7d96988','finishing',1,'spawn','claude','{"task":{"ID":"finishing","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/finishing","Worktree":"worktrees/finishing","Integration":"integration","Base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/finishing","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","new_branch":true,"new_tree":true}',2161,1795319233980,1795319233993,'done');
INSERT INTO intents VALUES('22441bb88699b73b442a215ef5cba509','room-939f40eed7d96988','tidied',1,'spawn','claude','{"task":{"ID":"tidied","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/tidied","Worktree":"worktrees/tidied","Integration":"integration","Base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/tidied","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","new_branch":true,"new_tree":true}',2199,1795319234051,1795319234063,'done');
INSERT INTO intents VALUES('550b24a73fe3eb241968ecb2e3bbea6c','room-939f40eed7d96988','tidied',1,'done','codex','{"path":"/home/ann/lib/worktrees/tidied","head":"9942d05e8faf1582e0da56e46a4523d39c61a8c4","onto":"7f8e27cc4898219b816373e549f3a830eb9e9d5f"}',2239,1795319234131,1795319234147,'done');
INSERT INTO intents VALUES('9c6ab2ae2f212af055ac2db03f791f45','room-939f40eed7d96988','tidied',1,'land','claude','{"branch":"integration","base":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","head":"9942d05e8faf1582e0da56e46a4523d39c61a8c4","result":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca","tree":"/home/ann/lib/worktrees/.gate-838f72eb0cbb"}',2288,1795319234259,1795319234291,'landed');
INSERT INTO intents VALUES('e07e57e7611b948655b6419f159ffd23','room-939f40eed7d96988','tidied',1,'cleanup','claude','{"branch":"feat/tidied","path":"/home/ann/lib/worktrees/tidied","head":"9942d05e8faf1582e0da56e46a4523d39c61a8c4","target":"integration","attempt":1,"worker":"codex"}',2288,1795319234291,0,'');
INSERT INTO intents VALUES('ade27e8047b79ff8b8921018ff1ff559','room-939f40eed7d96988','again',2,'retry','claude','{"task":{"ID":"again","State":"FAILED","Attempt":2,"Description":"","Spec":"","Branch":"feat/again","Worktree":"worktrees/again","Integration":"integration","Base":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca","Head":"","Patch":"","ChangesGate":false,"Worker":"codex","Earlier":null,"SpawnedBy":"claude","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"given_up","Reason":"no","CreatedAt":"2026-11-22T03:47:13.913Z","StateAt":"2026-11-22T03:47:13.951Z","Seq":175,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/again","base":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca","from":"7f8e27cc4898219b816373e549f3a830eb9e9d5f","new_branch":false,"new_tree":true}',2333,1795319234455,0,'');
INSERT INTO intents VALUES('77729d6c8c55a31646e40fc06e18c40e','room-939f40eed7d96988','opening',1,'spawn','claude','{"task":{"ID":"opening","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/opening","Worktree":"worktrees/opening","Integration":"integration","Base":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/lib/worktrees/opening","base":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca","new_branch":true,"new_tree":true}',2356,1795319234562,0,'');
INSERT INTO intents VALUES('8d5b591f2340d53aa233ad312d1f7c70','room-939f40eed7d96988','finishing',1,'done','codex','{"path":"/home/ann/lib/worktrees/finishing","head":"808c87320148068b0c75c5882f462d9e01b1373e","onto":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca"}',2378,1795319234666,0,'');
INSERT INTO intents VALUES('82520059bbe1f0c92c53ee1182da3082','room-939f40eed7d96988','landing',1,'land','claude','{"branch":"integration","base":"838f72eb0cbb54da680fe4a7037ac6c37621c7ca","head":"ebc8611bc1214cd73f73a8ddfae0d70494353509","result":"35959699be9adab8639f1afc8098987224fc3cbe","tree":"/home/ann/lib/worktrees/.gate-35959699be9a"}',2401,1795319234787,0,'');
INSERT INTO intents VALUES('560c3151f9df4820cfb3b8bb12cc1588','room-4c34ff39e28fa7d8','back',1,'spawn','claude','{"task":{"ID":"back","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/back","Worktree":"worktrees/back","Integration":"integration","Base":"8e4b80e367ab1f4342b4f93915eb515b31afcada","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/web/worktrees/back","base":"8e4b80e367ab1f4342b4f93915eb515b31afcada","new_branch":true,"new_tree":true}',2489,1795319235459,1795319235470,'done');
INSERT INTO intents VALUES('c9fee89d281b8827155e60829299d095','room-4c34ff39e28fa7d8','back',1,'done','codex','{"path":"/home/ann/web/worktrees/back","head":"04ed90ce286751b5da944c3d5b028a132f193ebd","onto":"8e4b80e367ab1f4342b4f93915eb515b31afcada"}',2527,1795319235551,1795319235567,'done');
INSERT INTO intents VALUES('b44650df58f21852fce8d964dc0d401d','room-4c34ff39e28fa7d8','back',1,'land','claude','{"branch":"integration","base":"8e4b80e367ab1f4342b4f93915eb515b31afcada","head":"04ed90ce286751b5da944c3d5b028a132f193ebd","result":"f0a9259c03f388ea02e065dcffa446dd99aafec2","tree":"/home/ann/web/worktrees/.gate-f0a9259c03f3"}',2574,1795319235689,1795319235715,'landed');
INSERT INTO intents VALUES('7758fd23f975d877a8ea3bebed04931b','room-4c34ff39e28fa7d8','back',1,'cleanup','claude','{"branch":"feat/back","path":"/home/ann/web/worktrees/back","head":"04ed90ce286751b5da944c3d5b028a132f193ebd","target":"integration","attempt":1,"worker":"codex"}',2574,1795319235715,1795319235771,'done');
INSERT INTO intents VALUES('649f15e80b90752ca7549ee290a714f3','room-4c34ff39e28fa7d8','back',1,'rollback','claude','{"branch":"integration","base":"f0a9259c03f388ea02e065dcffa446dd99aafec2","head":"04ed90ce286751b5da944c3d5b028a132f193ebd","result":"61634ee186047bbe7e429b2d4e3b71d69b5c17f4","tree":"/home/ann/web/worktrees/.gate-61634ee18604","revert":"it is slow"}',2617,1795319235836,0,'');
INSERT INTO intents VALUES('c8f7898d39e2d0b62715b034b6e1cbea','room-97dc79fd21a75eec','page',1,'spawn','claude','{"task":{"ID":"page","State":"","Attempt":0,"Description":"","Spec":"","Branch":"feat/page","Worktree":"worktrees/page","Integration":"integration","Base":"9db9dfe99a36763aabe3238c19146920f4f696d8","Head":"","Patch":"","ChangesGate":false,"Worker":"","Earlier":null,"SpawnedBy":"","Approved":"","ApprovedBy":"","ApprovedSeq":0,"Result":"","Cause":"","Reason":"","CreatedAt":null,"StateAt":null,"Seq":0,"HeartbeatAt":null},"path":"/home/ann/doc/worktrees/page","base":"9db9dfe99a36763aabe3238c19146920f4f696d8","new_branch":true,"new_tree":true}',2695,1795319236515,1795319236533,'done');
INSERT INTO intents VALUES('e4cf59a5774ddbc63e0c91d2caca908e','room-97dc79fd21a75eec','page',1,'done','codex','{"path":"/home/ann/doc/worktrees/page","head":"909d708b8f76916386d2eb2df9204beeb3583330","onto":"9db9dfe99a36763aabe3238c19146920f4f696d8"}',2733,1795319236623,1795319236639,'done');
INSERT INTO intents VALUES('a8c1b2be1e86f39b51ae614a4723095d','room-97dc79fd21a75eec','page',1,'land','claude','{"branch":"integration","base":"7510037577e412f83501e87a68d42c220b8f2e59","head":"909d708b8f76916386d2eb2df9204beeb3583330","result":"f0f6ae6bd6a37b5c4b2217f6a199a0af2337984a","tree":"/home/ann/doc/worktrees/.gate-f0f6ae6bd6a3"}',2783,1795319236770,1795319236794,'base red');
INSERT INTO intents VALUES('ba7dc80ded4c7bfcec17432c55db21c9','room-97dc79fd21a75eec','queue/eb92cc52a766c500',0,'pause','claude','{"branch":"integration","commit":"7510037577e412f83501e87a68d42c220b8f2e59","report":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}',2783,1795319236794,0,'');
CREATE TABLE blobs (
    sum        TEXT PRIMARY KEY,
    size       INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
INSERT INTO blobs VALUES('1eef57a46547bb733838e27741c428a371e0c7d37124c9dec3e7fad74b03f01d',10,1795319230286);
INSERT INTO blobs VALUES('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',0,1795319231578);
INSERT INTO blobs VALUES('19beb0948db1b747bfa56240e042dae0832a6bf6468e4b160605aed0c68d03da',9,1795319231893);
CREATE INDEX members_agent ON members (agent_id);
CREATE INDEX sessions_agent ON sessions (agent_id);
CREATE INDEX processes_key ON processes (process_key, seen_at);
CREATE INDEX listeners_room ON listeners (room_id, started_at);
CREATE INDEX events_room ON events (room_id, event_seq);
CREATE INDEX events_turn ON events (room_id, turn_id, event_seq);
CREATE INDEX receipts_event ON receipts (event_seq, agent_id);
CREATE INDEX receipts_open ON receipts (room_id, agent_id, event_seq) WHERE is_open = 1;
CREATE INDEX events_from ON events (room_id, from_agent_id, event_seq);
CREATE INDEX events_task ON events (room_id, task_id, event_seq) WHERE task_id <> '';
CREATE INDEX notes_room ON notes (room_id, event_seq);
CREATE INDEX notes_open ON notes (room_id, event_seq) WHERE resolved_at = 0;
CREATE INDEX reservations_prefix ON reservations (room_id, prefix, event_seq);
CREATE INDEX reservations_agent ON reservations (room_id, agent_id, event_seq);
CREATE INDEX tasks_queue ON tasks (room_id, approved_seq) WHERE state = 'APPROVED';
CREATE INDEX tasks_worker ON tasks (worker, room_id) WHERE worker <> '';
CREATE INDEX reviews_task ON reviews (room_id, task_key, event_seq);
CREATE UNIQUE INDEX intents_open ON intents (room_id, task_key) WHERE ended_at = 0;
COMMIT;
