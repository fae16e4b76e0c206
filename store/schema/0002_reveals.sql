-- What somebody had been shown of a rollout before they labelled it: a label given
-- after its verdict was seen is no independent word on the judge.
CREATE TABLE reveals (
  rollout_no INTEGER NOT NULL REFERENCES rollouts (rollout_no) ON DELETE CASCADE,
  annotator  TEXT NOT NULL,
  what       TEXT NOT NULL CHECK (what IN ('verdict', 'label')),
  shown_at   TEXT NOT NULL,
  PRIMARY KEY (rollout_no, annotator, what)
) WITHOUT ROWID;

-- A rubric is known by the hash of its exact text.
ALTER TABLE rubrics ADD COLUMN exact TEXT;
