-- min_reader: 7. An older program knows one boot for all hosts, so it would end leases that stand, or keep some that don't.
-- Under which boots which hosts have written. Evidence: a boot that isn't here, of a host that is, has just begun.

CREATE TABLE boots (
    machine TEXT NOT NULL, -- the host's id; also empty, where hosts have none or the boot is older than this table
    boot    TEXT NOT NULL,
    PRIMARY KEY (boot, machine)
);

INSERT INTO boots (machine, boot) SELECT '', value FROM meta WHERE key = 'boot' AND value <> '';

DELETE FROM meta WHERE key = 'boot';
