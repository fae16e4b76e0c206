-- The whole of one Assay file. Text columns hold clean UTF-8; where the text
-- that came was not (a NUL, a lone surrogate, a broken byte), the row's column
-- "exact" holds a JSON object with that column's exact text. Columns that hold
-- JSON keep the bytes that came. Times are UTC, ISO 8601; names ending in _no
-- are this file's own numbers, names ending in _id are the same in every file.

CREATE TABLE migrations (
  number     INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  applied_by TEXT NOT NULL  -- the version of assay that an older one is told to get
);

CREATE TABLE scorers (
  scorer_no   INTEGER PRIMARY KEY,
  scorer      TEXT NOT NULL UNIQUE,  -- kind:name@hash
  kind        TEXT NOT NULL,
  name        TEXT NOT NULL,
  model       TEXT NOT NULL DEFAULT '',
  rubric_hash TEXT NOT NULL DEFAULT '',
  settings    TEXT
);

CREATE TABLE runs (
  run_no          INTEGER PRIMARY KEY,
  run_id          TEXT NOT NULL UNIQUE,
  name            TEXT UNIQUE,
  role            TEXT NOT NULL,
  parent_run_id   TEXT,
  posed_by_run_id TEXT,
  recipe          TEXT NOT NULL DEFAULT '',
  recipe_hash     TEXT NOT NULL DEFAULT '',
  mode            TEXT NOT NULL,
  seed            INTEGER NOT NULL,
  repeats         INTEGER NOT NULL,
  eval_runs       INTEGER NOT NULL,
  pass_threshold  REAL NOT NULL,
  policy_version  TEXT NOT NULL DEFAULT '',
  system_prompt   TEXT,
  tools_shown     TEXT,  -- JSON; null where each task shows its own
  program         TEXT NOT NULL DEFAULT '',
  files_hash      TEXT NOT NULL DEFAULT '',
  scorer_no       INTEGER REFERENCES scorers (scorer_no),  -- whose judgments are the reward
  status          TEXT NOT NULL,
  stopped_because TEXT,
  error           TEXT,
  hollow          INTEGER NOT NULL DEFAULT 0,
  hidden          INTEGER NOT NULL DEFAULT 0,
  tasks           INTEGER NOT NULL DEFAULT 0,
  held_out        INTEGER NOT NULL DEFAULT 0,
  planned         INTEGER NOT NULL DEFAULT 0,
  done            INTEGER NOT NULL DEFAULT 0,
  graded          INTEGER NOT NULL DEFAULT 0,
  passed          INTEGER NOT NULL DEFAULT 0,
  tool_calls      INTEGER NOT NULL DEFAULT 0,
  excluded        INTEGER NOT NULL DEFAULT 0,
  dropped         INTEGER NOT NULL DEFAULT 0,
  lost            TEXT,  -- JSON: cause to count
  started_at      TEXT,
  finished_at     TEXT,
  warnings        TEXT,
  coverage        TEXT,
  overrides       TEXT,
  config          TEXT,
  exact           TEXT,
  recipe_dir      TEXT NOT NULL DEFAULT '',
  recipe_text     TEXT NOT NULL DEFAULT '',
  files           TEXT  -- JSON: name to text
);
CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

CREATE TABLE run_scorers (
  run_no    INTEGER NOT NULL REFERENCES runs (run_no) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  scorer_no INTEGER NOT NULL REFERENCES scorers (scorer_no),
  PRIMARY KEY (run_no, position)
) WITHOUT ROWID;

CREATE TABLE tool_sets (
  tools_hash TEXT PRIMARY KEY,
  tools      TEXT NOT NULL  -- JSON
);

CREATE TABLE tasks (
  task_id         TEXT PRIMARY KEY,
  situation_id    TEXT NOT NULL,
  origin          TEXT NOT NULL,
  parent_id       TEXT,  -- the situation that the ask was made from
  ask             TEXT NOT NULL,
  tool            TEXT,
  rule            TEXT,
  stance          TEXT,
  world_state     TEXT,
  tool_condition  TEXT,
  history         TEXT,
  axes            TEXT,  -- JSON: every coordinate, the six above among them
  fault_tool      TEXT,
  fault_condition TEXT,
  world           TEXT NOT NULL,
  user            TEXT NOT NULL,
  tools_hash      TEXT NOT NULL REFERENCES tool_sets (tools_hash),
  writer          TEXT NOT NULL DEFAULT '',
  reference       TEXT,  -- privileged
  exact           TEXT
);

CREATE TABLE run_tasks (
  run_no   INTEGER NOT NULL REFERENCES runs (run_no) ON DELETE CASCADE,
  task_id  TEXT NOT NULL REFERENCES tasks (task_id),
  arm      TEXT NOT NULL,
  batch    INTEGER NOT NULL,
  position INTEGER NOT NULL,
  held_out INTEGER NOT NULL,
  PRIMARY KEY (run_no, task_id)
) WITHOUT ROWID;
CREATE INDEX run_tasks_by_position ON run_tasks (run_no, position);
CREATE INDEX run_tasks_by_task ON run_tasks (task_id);

-- A rollout's numbers and words that lists and filters read; what was said is in
-- transcripts, so that a list over a million rollouts never walks through it.
CREATE TABLE rollouts (
  rollout_no       INTEGER PRIMARY KEY,  -- in the order of commit
  rollout_id       TEXT NOT NULL UNIQUE,
  run_no           INTEGER NOT NULL,
  eval_run         INTEGER NOT NULL,
  task_id          TEXT NOT NULL,
  k                INTEGER NOT NULL,
  status           TEXT NOT NULL,
  cause            TEXT,
  error            TEXT,
  finish_reason    TEXT,
  ended_by         TEXT,
  tool_calls       INTEGER NOT NULL,
  latency_us       INTEGER NOT NULL,
  attempts         INTEGER NOT NULL,
  input_tokens     INTEGER,
  output_tokens    INTEGER,
  cost             REAL,
  logprob          REAL,
  n_tokens         INTEGER,
  policy_version   TEXT,
  prompt_hash      TEXT,
  prompt_truncated INTEGER NOT NULL,
  writer_model     TEXT,
  user_model       TEXT,
  behavior         TEXT,
  started_at       TEXT,
  finished_at      TEXT,
  UNIQUE (run_no, eval_run, task_id, k),
  FOREIGN KEY (run_no, task_id) REFERENCES run_tasks (run_no, task_id)
);
CREATE INDEX rollouts_by_run ON rollouts (run_no);

CREATE TABLE transcripts (
  rollout_no INTEGER PRIMARY KEY REFERENCES rollouts (rollout_no) ON DELETE CASCADE,
  prompt     TEXT,           -- where it is not the task's ask
  steps      TEXT NOT NULL,  -- JSON
  final_text TEXT NOT NULL,
  sampling   TEXT,
  logprobs   TEXT,
  extra      TEXT,
  privileged TEXT,           -- never in a training export
  exact      TEXT
);

CREATE TABLE judgments (
  judgment_no   INTEGER PRIMARY KEY,
  rollout_no    INTEGER NOT NULL REFERENCES rollouts (rollout_no) ON DELETE CASCADE,
  scorer_no     INTEGER NOT NULL REFERENCES scorers (scorer_no),
  status        TEXT NOT NULL,
  reward        REAL,  -- null unless status is ok
  reason        TEXT,
  failure_class TEXT,
  criteria      TEXT,
  evidence      TEXT,
  raw           TEXT,
  meta          TEXT,
  cut           TEXT,
  latency_us    INTEGER NOT NULL,
  judged_at     TEXT,
  exact         TEXT
);
CREATE INDEX judgments_by_rollout ON judgments (rollout_no, scorer_no);

CREATE TABLE markers (
  marker_no  INTEGER PRIMARY KEY,
  rollout_no INTEGER NOT NULL REFERENCES rollouts (rollout_no) ON DELETE CASCADE,
  scorer_no  INTEGER NOT NULL REFERENCES scorers (scorer_no),
  name       TEXT NOT NULL,
  value      REAL,  -- 'NaN', 'Infinity', '-Infinity' where it is not finite
  status     TEXT NOT NULL,
  evidence   TEXT,
  note       TEXT,
  exact      TEXT
);
CREATE INDEX markers_by_rollout ON markers (rollout_no);

CREATE TABLE labels (
  label_no   INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number is never used twice
  rollout_no INTEGER NOT NULL REFERENCES rollouts (rollout_no),
  annotator  TEXT NOT NULL,
  verdict    TEXT NOT NULL CHECK (verdict IN ('pass', 'fail', 'unsure', 'skip', 'retracted')),
  purpose    TEXT NOT NULL CHECK (purpose IN ('first', 'recheck')),
  kind       TEXT NOT NULL CHECK (kind IN ('human', 'program', 'model', 'unknown')),
  blind      INTEGER NOT NULL,
  note       TEXT,
  tags       TEXT,  -- JSON
  took_ms    INTEGER NOT NULL,
  labelled_at TEXT NOT NULL,
  exact      TEXT
);
CREATE INDEX labels_by_rollout ON labels (rollout_no);

CREATE TABLE queue_items (
  run_no      INTEGER NOT NULL REFERENCES runs (run_no) ON DELETE CASCADE,
  queue       TEXT NOT NULL,
  position    INTEGER NOT NULL,
  rollout_no  INTEGER NOT NULL REFERENCES rollouts (rollout_no) ON DELETE CASCADE,
  strategy    TEXT NOT NULL,
  stratum     TEXT NOT NULL DEFAULT '',
  probability REAL,  -- of inclusion; null where the item was picked, not drawn
  revealed    TEXT,  -- JSON: what had been shown before the label
  queued_at   TEXT NOT NULL,
  PRIMARY KEY (run_no, queue, position)
) WITHOUT ROWID;
CREATE INDEX queue_items_by_rollout ON queue_items (rollout_no);

CREATE TABLE preferences (
  preference_no INTEGER PRIMARY KEY AUTOINCREMENT,
  first_no      INTEGER NOT NULL REFERENCES rollouts (rollout_no),  -- as shown
  second_no     INTEGER NOT NULL REFERENCES rollouts (rollout_no),
  choice        TEXT NOT NULL CHECK (choice IN ('first', 'second', 'tie', 'skip', 'retracted')),
  annotator     TEXT NOT NULL,
  chosen_at     TEXT NOT NULL
);
CREATE INDEX preferences_by_first ON preferences (first_no);
CREATE INDEX preferences_by_second ON preferences (second_no);

CREATE TABLE rubrics (
  rubric_hash TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  parent_hash TEXT REFERENCES rubrics (rubric_hash),
  text        TEXT NOT NULL,
  other_looks INTEGER NOT NULL DEFAULT 0,  -- how often the other half of gold was looked at
  created_at  TEXT NOT NULL
);

CREATE TABLE causes (
  cause_no   INTEGER PRIMARY KEY AUTOINCREMENT,
  rollout_no INTEGER NOT NULL REFERENCES rollouts (rollout_no) ON DELETE CASCADE,
  cause      TEXT NOT NULL,
  annotator  TEXT NOT NULL,
  why        TEXT,
  set_at     TEXT NOT NULL
);
CREATE INDEX causes_by_rollout ON causes (rollout_no);

CREATE TABLE tags (
  tag        TEXT PRIMARY KEY,
  meaning    TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL
);

CREATE TABLE views (
  name     TEXT PRIMARY KEY,
  filter   TEXT NOT NULL,
  saved_at TEXT NOT NULL
);

CREATE TABLE ui_state (
  place    TEXT PRIMARY KEY,
  state    TEXT NOT NULL,  -- JSON
  saved_at TEXT NOT NULL
);

CREATE TABLE drafts (
  rollout_no INTEGER NOT NULL REFERENCES rollouts (rollout_no) ON DELETE CASCADE,
  annotator  TEXT NOT NULL,
  note       TEXT NOT NULL,
  saved_at   TEXT NOT NULL,
  PRIMARY KEY (rollout_no, annotator)
) WITHOUT ROWID;

CREATE TABLE reports (
  report_no     INTEGER PRIMARY KEY AUTOINCREMENT,
  kind          TEXT NOT NULL,
  run_no        INTEGER NOT NULL REFERENCES runs (run_no) ON DELETE CASCADE,
  before_run_id TEXT,
  after_run_id  TEXT,
  report        TEXT NOT NULL,
  saved_at      TEXT NOT NULL
);
CREATE INDEX reports_by_run ON reports (run_no, kind);

CREATE TABLE search_state (
  run_no   INTEGER NOT NULL REFERENCES runs (run_no) ON DELETE CASCADE,
  batch    INTEGER NOT NULL,
  state    TEXT NOT NULL,
  saved_at TEXT NOT NULL,
  PRIMARY KEY (run_no, batch)
) WITHOUT ROWID;

CREATE TABLE journal (
  entry_no INTEGER PRIMARY KEY AUTOINCREMENT,
  run_no   INTEGER NOT NULL REFERENCES runs (run_no) ON DELETE CASCADE,
  at       TEXT NOT NULL,
  kind     TEXT NOT NULL,
  detail   TEXT
);
CREATE INDEX journal_by_run ON journal (run_no);

-- A task that went into a training file is never measured on again, whatever
-- becomes of its run: so a file's run is named, not referenced.
CREATE TABLE export_files (
  export_no   INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id      TEXT NOT NULL,
  made_for    TEXT NOT NULL,  -- sft, dpo, grpo, rm
  format      TEXT NOT NULL,
  file        TEXT NOT NULL,
  file_rows   INTEGER NOT NULL,
  begun_at    TEXT NOT NULL,
  exported_at TEXT  -- null until the file is there under its name
);
CREATE INDEX export_files_by_run ON export_files (run_id);

CREATE TABLE exports (
  task_id   TEXT NOT NULL,
  export_no INTEGER NOT NULL REFERENCES export_files (export_no) ON DELETE CASCADE,
  PRIMARY KEY (task_id, export_no)
) WITHOUT ROWID;
CREATE INDEX exports_by_file ON exports (export_no);

CREATE TABLE cache (
  request_hash TEXT PRIMARY KEY,
  reply        TEXT NOT NULL,
  cached_at    TEXT NOT NULL
);

CREATE TABLE locks (
  run_no    INTEGER PRIMARY KEY REFERENCES runs (run_no) ON DELETE CASCADE,
  holder    TEXT NOT NULL,  -- random, one for each open store
  pid       INTEGER NOT NULL,
  host      TEXT NOT NULL,
  since     TEXT NOT NULL,
  heartbeat TEXT NOT NULL
);

-- Words of every transcript, by rollout_no. The text itself is in transcripts.
CREATE VIRTUAL TABLE transcript_words USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TABLE words_state (
  only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
  indexed_to  INTEGER NOT NULL  -- every rollout_no up to this one is in transcript_words
);
INSERT INTO words_state VALUES (1, 0);

-- The word of the run's own scorer version on each rollout: its last one.
CREATE VIEW verdicts AS
SELECT u.run_no, u.run_id, r.rollout_no, r.rollout_id, r.eval_run, r.task_id, r.k,
       r.status AS rollout_status, j.judgment_no, j.status AS judge_status, j.reward,
       j.status = 'ok' AND j.reward >= u.pass_threshold AS passed,
       j.reason, j.failure_class
FROM rollouts r
JOIN runs u ON u.run_no = r.run_no
JOIN judgments j ON j.judgment_no = (
  SELECT max(judgment_no) FROM judgments WHERE rollout_no = r.rollout_no AND scorer_no = u.scorer_no);

CREATE VIEW failures AS
SELECT v.run_id, v.rollout_id, v.task_id, v.eval_run, v.k, v.reward, v.failure_class, v.reason,
       t.tool, t.rule, t.stance, t.world_state, t.tool_condition, t.history, t.ask, x.final_text
FROM verdicts v
JOIN tasks t ON t.task_id = v.task_id
JOIN transcripts x ON x.rollout_no = v.rollout_no
WHERE v.rollout_status = 'done' AND v.judge_status = 'ok' AND NOT v.passed;

-- Each annotator's last first-look verdict; only pass and fail vote; the majority
-- decides, a tie is no gold; the kind is that of the weakest vote.
CREATE VIEW gold AS
WITH last AS (
  SELECT l.*, row_number() OVER (PARTITION BY l.rollout_no, l.annotator ORDER BY l.label_no DESC) AS nth
  FROM labels l WHERE l.purpose = 'first'
)
SELECT u.run_id, r.rollout_id, r.rollout_no, r.task_id, r.eval_run, r.k,
       CASE sign(sum(CASE l.verdict WHEN 'pass' THEN 1 ELSE -1 END)) WHEN 1 THEN 1.0 WHEN -1 THEN 0.0 END AS gold,
       CASE max(CASE l.kind WHEN 'human' THEN 0 WHEN 'program' THEN 1 WHEN 'model' THEN 2 ELSE 3 END)
         WHEN 0 THEN 'human' WHEN 1 THEN 'program' WHEN 2 THEN 'model' ELSE 'unknown' END AS gold_kind,
       count(*) AS voters
FROM last l
JOIN rollouts r ON r.rollout_no = l.rollout_no
JOIN runs u ON u.run_no = r.run_no
WHERE l.nth = 1 AND l.verdict IN ('pass', 'fail')
GROUP BY l.rollout_no;

CREATE VIEW disagreements AS
SELECT g.run_id, g.rollout_id, g.task_id, g.eval_run, g.k, g.gold, g.gold_kind, g.voters,
       v.reward, v.passed, v.reason, v.failure_class
FROM gold g
JOIN verdicts v ON v.rollout_no = g.rollout_no
WHERE v.judge_status = 'ok' AND g.gold IS NOT NULL AND g.gold <> v.passed;

CREATE VIEW task_rates AS
SELECT u.run_id, r.eval_run, r.task_id, t.situation_id, p.held_out,
       sum(r.status = 'done') AS done,
       sum(r.status = 'done' AND ifnull(v.judge_status = 'ok', 0)) AS graded,
       sum(r.status = 'done' AND ifnull(v.passed, 0)) AS passed,
       sum(r.status = 'done' AND ifnull(v.judge_status = 'ok' AND v.reward > 0 AND v.reward < 1, 0)) AS partial,
       sum(r.status = 'lost') AS lost
FROM rollouts r
JOIN runs u ON u.run_no = r.run_no
JOIN run_tasks p ON p.run_no = r.run_no AND p.task_id = r.task_id
JOIN tasks t ON t.task_id = r.task_id
LEFT JOIN verdicts v ON v.rollout_no = r.rollout_no
GROUP BY r.run_no, r.eval_run, r.task_id;
