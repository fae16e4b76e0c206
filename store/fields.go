package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"assay/engine/record"
)

// Kind is what a field's values are.
type Kind int

// Kinds of a field.
const (
	KindWord Kind = iota
	KindNumber
	KindYesNo
)

// Field is something that rollouts can be kept, sorted and grouped by.
type Field struct {
	Name  string
	Kind  Kind
	About string
}

// Fields lists the fields in the order in which they are offered.
func Fields() []Field {
	var out []Field
	for _, f := range fields() {
		out = append(out, Field{f.name, f.kind, f.about})
	}
	return out
}

// joins are the tables beside rollouts that an expression reads.
type joins uint8

const (
	joinTask joins = 1 << iota
	joinPosed
	joinJudgment
	joinTranscript
)

// field is a field with its SQL over the aliases r (rollouts), t (tasks), p
// (run_tasks), j (the verdict of the run's scorer) and x (transcripts). In it @run
// stands for the number of the run.
type field struct {
	name  string
	kind  Kind
	about string
	sql   string
	args  []any
	needs joins
}

const (
	passThreshold = "(SELECT pass_threshold FROM runs WHERE run_no = @run)"
	rewardSQL     = "CASE WHEN j.status = 'ok' AND typeof(j.reward) = 'real' THEN j.reward END"
	// goldSQL is what the view gold says, for one rollout.
	goldSQL = `(SELECT CASE sign(sum(CASE verdict WHEN 'pass' THEN 1 ELSE -1 END)) WHEN 1 THEN 1.0 WHEN -1 THEN 0.0 END FROM labels
		WHERE label_no IN (SELECT max(label_no) FROM labels WHERE rollout_no = r.rollout_no AND purpose = 'first' GROUP BY annotator) AND verdict IN ('pass', 'fail'))`
	markerValue = `(SELECT CASE WHEN m.status = 'ok' AND typeof(m.value) = 'real' THEN m.value END FROM markers m WHERE m.rollout_no = r.rollout_no AND m.name = ?
		AND m.scorer_no IN (SELECT scorer_no FROM run_scorers WHERE run_no = @run) ORDER BY m.marker_no DESC LIMIT 1)`
	// kSplit is true of rollouts whose task has both a pass and a fail.
	kSplit = `(r.eval_run, r.task_id) IN (SELECT v.eval_run, v.task_id FROM verdicts v WHERE v.run_no = @run AND v.rollout_status = 'done' AND v.judge_status = 'ok'
		GROUP BY v.eval_run, v.task_id HAVING min(v.passed) <> max(v.passed))`
	verdictSQL = `CASE WHEN r.status <> 'done' THEN r.status WHEN j.judgment_no IS NULL THEN 'done' WHEN j.status <> 'ok' OR typeof(j.reward) <> 'real' THEN 'unjudged'
		WHEN j.reward >= ` + passThreshold + ` THEN 'pass' WHEN j.reward > 0 THEN 'partial' ELSE 'fail' END`
	judgeSQL = `CASE WHEN ` + goldSQL + ` IS NULL OR j.status <> 'ok' OR typeof(j.reward) <> 'real' THEN NULL
		WHEN ` + goldSQL + ` = (j.reward >= ` + passThreshold + `) THEN 'gold' ELSE 'against gold' END`
	// causeSQL is the cause that somebody put by hand, else the one that was derived.
	causeSQL = "ifnull((SELECT nullif(cause, '') FROM causes WHERE rollout_no = r.rollout_no ORDER BY cause_no DESC LIMIT 1), r.cause)"
)

// fields lists what is known of a rollout, the main ones first.
func fields() []field {
	out := []field{
		{name: "reward", kind: KindNumber, about: "the reward, 0 to 1", sql: "(" + rewardSQL + ")", needs: joinJudgment},
		{name: "verdict", about: "pass, partial, fail, unjudged, done, lost", sql: "(" + verdictSQL + ")", needs: joinJudgment},
		{name: "failure_class", about: "the judge's word for the failure", sql: "j.failure_class", needs: joinJudgment},
		{name: "fault", about: "the condition that was injected", sql: "t.fault_condition", needs: joinTask},
		{name: "cause", about: "what a loss or a failure is put down to", sql: causeSQL},
	}
	for _, axis := range record.AxisNames() {
		out = append(out, field{name: axis, about: "the axis " + axis, sql: "t." + axis, needs: joinTask})
	}
	return append(out,
		field{name: "judge", about: "judge=gold, judge!=gold", sql: "(" + judgeSQL + ")", needs: joinJudgment},
		field{name: "steps", kind: KindNumber, about: "how many steps", sql: "json_array_length(x.steps)", needs: joinTranscript},
		field{name: "calls", kind: KindNumber, about: "how many tool calls", sql: "r.tool_calls"},
		field{name: "k", kind: KindNumber, about: "which attempt, counted from 0", sql: "r.k"},
		field{name: "held_out", kind: KindYesNo, about: "whether the task is held out", sql: "p.held_out", needs: joinPosed},
		field{name: "gold", kind: KindNumber, about: "what people said, 1 or 0", sql: goldSQL},
		field{name: "status", about: "done, lost, aborted", sql: "r.status"},
		field{name: "behavior", about: "what the agent did, as a signature", sql: "r.behavior"},
		field{name: "arm", about: "the arm of the search", sql: "p.arm", needs: joinPosed},
		field{name: "seconds", kind: KindNumber, about: "how long it took", sql: "(r.latency_us / 1e6)"},
		field{name: "tokens", kind: KindNumber, about: "tokens in and out", sql: "(r.input_tokens + r.output_tokens)"},
		field{name: "cost", kind: KindNumber, about: "what it cost", sql: "r.cost"},
		field{name: "attempts", kind: KindNumber, about: "how often it was tried", sql: "r.attempts"},
		field{name: "eval_run", kind: KindNumber, about: "which eval run, counted from 0", sql: "r.eval_run"},
		field{name: "ended_by", about: "who ended the conversation", sql: "r.ended_by"},
		field{name: "finish_reason", about: "why the last reply ended", sql: "r.finish_reason"},
		field{name: "judge_status", about: "ok, error, timeout, ...", sql: "j.status", needs: joinJudgment},
		field{name: "task_id", about: "the task", sql: "r.task_id"},
		field{name: "situation_id", about: "the situation", sql: "t.situation_id", needs: joinTask},
		field{name: "rollout_id", about: "the rollout", sql: "r.rollout_id"},
	)
}

func fieldNamed(name string) (field, bool) {
	all := fields()
	i := slices.IndexFunc(all, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return all[i], true
}

// Typing is what stands at the end of a filter line that is being typed.
type Typing struct {
	// Field is whose value is being typed, "tool:" and "marker:" among them; "" where
	// it is the beginning of a term.
	Field string
	// Part is as much of the name or value as is there, without quotes.
	Part string
	// Raw is how many characters at the end of the line it takes.
	Raw int
}

// TypingAt says what is being typed at the end of a line.
func TypingAt(line string) Typing {
	term := ""
	for rest := line; rest != ""; {
		term, rest = cutTerm(rest)
		if rest == "" {
			break
		}
		term, rest = "", rest[1:]
	}
	body := strings.TrimPrefix(term, "-")
	for _, prefix := range []string{"tool:", "marker:"} {
		if value, ok := strings.CutPrefix(body, prefix); ok {
			return typingValue(prefix, value)
		}
	}
	if at := strings.IndexAny(body, "!=<>"); at > 0 && !strings.HasPrefix(body, `"`) {
		return typingValue(body[:at], strings.TrimLeft(body[at:], "!=<>"))
	}
	return Typing{Part: body, Raw: len([]rune(body))}
}

func typingValue(name, value string) Typing {
	if !strings.HasPrefix(value, `"`) {
		value = value[strings.LastIndexByte(value, ',')+1:]
	}
	part, _ := unquote(value)
	return Typing{Field: name, Part: part, Raw: len([]rune(value))}
}

// Value is one value of a field with how many rollouts have it.
type Value struct {
	Value string
	N     int
}

// maxValues is how many values of a field are offered. Convention: as many as a
// person reads.
const maxValues = 40

// sampledForValues is how many rollouts are read for the names of tools and
// markers: a name that none of them holds is rare enough to be typed. Convention,
// untested.
const sampledForValues = 500

// FieldValues lists the values that a field has in a run, the most frequent
// first, at most 40; of numbers none. "tool:" is the tools that were called,
// "marker:" the markers there are, both as seen in the run's first rollouts.
func (db *DB) FieldValues(ctx context.Context, runID, name string) ([]Value, error) {
	scope, err := db.scope(ctx, runID)
	if err != nil {
		return nil, err
	}
	const first = "(SELECT rollout_no FROM rollouts WHERE run_no = @run ORDER BY rollout_no LIMIT @sampled)"
	query := ""
	switch name {
	case "tool:":
		query = `SELECT s.value ->> '$.tool' AS v, count(DISTINCT x.rollout_no) FROM transcripts x, json_each(x.steps) s
			WHERE x.rollout_no IN ` + first + ` AND v IS NOT NULL`
	case "marker:":
		query = "SELECT m.name AS v, count(DISTINCT m.rollout_no) FROM markers m WHERE m.rollout_no IN " + first
	default:
		f, ok := fieldNamed(name)
		switch {
		case !ok || f.kind == KindNumber:
			return nil, nil
		case f.kind == KindYesNo:
			return []Value{{Value: "true"}, {Value: "false"}}, nil
		}
		query = "SELECT " + f.sql + " AS v, count(*) " + scope.from(f.needs) + " WHERE r.run_no = @run AND v IS NOT NULL"
	}
	query += " GROUP BY v ORDER BY 2 DESC, 1 LIMIT @values"
	query = strings.NewReplacer("@sampled", strconv.Itoa(sampledForValues), "@values", strconv.Itoa(maxValues)).Replace(query)
	var out []Value
	err = db.each(ctx, func(row scanner) error {
		var v Value
		err := row.Scan(&v.Value, &v.N)
		out = append(out, v)
		return err
	}, scope.of(query))
	return out, err
}
