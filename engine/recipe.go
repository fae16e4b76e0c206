package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"assay/engine/record"
)

// RecipeFile is the name of a recipe's own file in its folder.
const RecipeFile = "recipe.yaml"

// Recipe is what a recipe.yaml says, and the files it names. Fields that were
// not written are nil or zero; [Defaults] says what they then mean.
type Recipe struct {
	Name         string     `yaml:"name"`
	Agent        AgentSpec  `yaml:"agent"`
	SystemPrompt string     `yaml:"system_prompt"` // text, or the name of a file
	Tools        *ToolsSpec `yaml:"tools"`
	Simulate     Simulate   `yaml:"simulate"`
	Grade        Grade      `yaml:"grade"`
	Cut          []CutSpec  `yaml:"cut"`
	After        *After     `yaml:"after"`
	Delta        *DeltaSpec `yaml:"delta"`

	// Dir is the folder's path, where commands run.
	Dir string `yaml:"-"`
	// Files holds the text of each file that was read, by its name in the folder.
	Files map[string]string `yaml:"-"`

	// evalRuns is --runs where there is no changed arm.
	evalRuns int
}

// AgentSpec names an agent: exactly one of Builtin, Command, HTTP, Model and
// Function.
type AgentSpec struct {
	Builtin  string   `yaml:"builtin" json:"builtin,omitempty"`
	Command  []string `yaml:"command" json:"command,omitempty"`
	HTTP     string   `yaml:"http" json:"http,omitempty"`
	Model    string   `yaml:"model" json:"model,omitempty"`
	Function string   `yaml:"function" json:"function,omitempty"` // a name in Engine.Functions

	ToolsBy string `yaml:"tools_by" json:"tools_by,omitempty"`
	// MCP serves each rollout's world over MCP: true, :PORT or HOST:PORT.
	MCP          Listen    `yaml:"mcp" json:"mcp,omitempty"`
	Version      string    `yaml:"version" json:"version,omitempty"`
	Env          []string  `yaml:"env" json:"env,omitempty"`
	Checkpoint   string    `yaml:"checkpoint" json:"checkpoint,omitempty"`
	TrainingSeed *int64    `yaml:"training_seed" json:"training_seed,omitempty"`
	Timeout      *Duration `yaml:"timeout" json:"timeout,omitempty"` // of one reply
	MaxTurns     *int      `yaml:"max_turns" json:"max_turns,omitempty"`
	// Of the options an endpoint takes the headers and a builtin its extra; the rest are
	// a model's.
	ModelOptions `yaml:",inline"`
}

// ToolsSpec is a file of tool schemas, an MCP server that lists them, or the
// schemas themselves.
type ToolsSpec struct {
	File string
	MCP  *ToolServerSpec
	// Inline is the schemas: as written, the file's, or what the server listed once
	// it was asked (see [Recipe.AskTools]).
	Inline json.RawMessage
}

// Simulate holds the knobs of steps 01 to 05.
type Simulate struct {
	Mode        record.Mode         `yaml:"mode"`
	Situations  *int                `yaml:"situations"`
	Phrasings   *int                `yaml:"phrasings"`
	Repeats     *int                `yaml:"repeats"`
	Seed        int64               `yaml:"seed"`
	FaultRate   *float64            `yaml:"fault_rate"`
	Strength    *int                `yaml:"strength"`
	Dimensions  map[string][]string `yaml:"dimensions"`
	Exclude     []string            `yaml:"exclude"`
	Seeds       []SeedAsk           `yaml:"seeds"`
	Holdout     *float64            `yaml:"holdout"`
	Writer      Speaker             `yaml:"writer"`
	User        Speaker             `yaml:"user"`
	LogProbs    bool                `yaml:"logprobs"`
	Concurrency *int                `yaml:"concurrency"`
	Budget      *int                `yaml:"budget"`
	MaxTokens   *int64              `yaml:"max_tokens"`
	MaxCost     *float64            `yaml:"max_cost"`
	Batch       *int                `yaml:"batch"`
	ArmWeights  map[string]float64  `yaml:"arm_weights"`
	HardShare   *float64            `yaml:"hard_share"`
	Array       string              `yaml:"array"` // stable or smallest
	// Aim names a run, or an imported log: what it has not asked comes first, and what
	// lies near its failures before the rest.
	Aim string `yaml:"aim"`
}

// SeedAsk is an ask of the user's own: text, or {ask, user, reference}.
type SeedAsk struct {
	Ask       string
	User      *record.User
	Reference json.RawMessage
}

// Grade holds the knobs of step 06.
type Grade struct {
	Conduct       string            `yaml:"conduct"`
	Markers       map[string]string `yaml:"markers"`
	Reward        *RewardSpec       `yaml:"reward"`
	PassThreshold *float64          `yaml:"pass_threshold"`
	TrustAt       *int              `yaml:"trust_at"`
}

// RewardSpec is what the reward comes from: one of the three.
type RewardSpec struct {
	Marker string     `yaml:"marker" json:"marker,omitempty"`
	Verify *FreeForm  `yaml:"verify" json:"verify,omitempty"`
	Judge  *JudgeSpec `yaml:"judge" json:"judge,omitempty"`
}

// FreeForm is a value that its reader checks: a verifier, a rating scale.
type FreeForm struct{ JSON json.RawMessage }

// JudgeSpec names a judge: one of Model, Command, HTTP and Builtin.
type JudgeSpec struct {
	Model   string    `yaml:"model" json:"model,omitempty"`
	Command []string  `yaml:"command" json:"command,omitempty"`
	HTTP    string    `yaml:"http" json:"http,omitempty"`
	Builtin string    `yaml:"builtin" json:"builtin,omitempty"`
	Rubric  string    `yaml:"rubric" json:"rubric,omitempty"` // text, or the name of a file
	Env     []string  `yaml:"env" json:"env,omitempty"`
	Timeout *Duration `yaml:"timeout" json:"timeout,omitempty"`
	// Scale maps a judge's ratings to rewards: [1, 5], or a reward for each rating.
	Scale *FreeForm `yaml:"scale" json:"scale,omitempty"`
	// Of the options an endpoint takes the headers; the rest are a model's.
	ModelOptions `yaml:",inline"`
}

// CutSpec is one training file: a target, or {for, format}.
type CutSpec struct {
	For    string `yaml:"for"`
	Format string `yaml:"format"`
}

// After is the changed arm.
type After struct {
	Agent        *AgentSpec `yaml:"agent"`
	SystemPrompt *string    `yaml:"system_prompt"`
	Tools        *ToolsSpec `yaml:"tools"`
}

// DeltaSpec holds the knobs of step 08.
type DeltaSpec struct {
	Runs           *int     `yaml:"runs"`
	Target         string   `yaml:"target"`
	MustNotRegress []string `yaml:"must_not_regress"`
	LowerIsBetter  []string `yaml:"lower_is_better"`
	Proxy          string   `yaml:"proxy"`
	By             string   `yaml:"by"`
}

// ReadFile gives the bytes of one file of a recipe's folder, by its slash-separated
// name within it.
type ReadFile func(name string) ([]byte, error)

// LoadRecipe reads the recipe in a folder. dir is the folder's path on this
// machine, where its commands run; read reads the folder. Errors name file, line
// and column, and for a misspelt key the nearest known one.
func LoadRecipe(read ReadFile, dir string) (*Recipe, error) {
	text, err := read(RecipeFile)
	if err != nil {
		message := fmt.Sprintf("there is no %s", RecipeFile)
		if !errors.Is(err, fs.ErrNotExist) {
			message = fmt.Sprintf("%s cannot be read: %s", RecipeFile, reason(err))
		}
		return nil, &record.Problem{Code: "no_recipe", Message: message, Where: dir,
			Fix: "name a folder that holds one, or an embedded recipe (assay run --help lists them)", Err: err}
	}
	r, err := ParseRecipe(text)
	if err != nil {
		return nil, err
	}
	r.Dir = dir
	r.Files = map[string]string{RecipeFile: string(text)}
	return r, r.readFiles(read)
}

// ParseRecipe reads the text of a recipe.yaml without the files it names.
func ParseRecipe(text []byte) (*Recipe, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // some editors put the mark before UTF-8
	if at := invalidUTF8(text); at > 0 {
		return nil, &record.Problem{Code: "bad_recipe", Message: "the line is not UTF-8", Where: fmt.Sprintf("%s:%d", RecipeFile, at), Fix: "save the file as UTF-8"}
	}
	if err := boundRecipe(text); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, recipeProblem(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, atNode(doc.Body, "a recipe is one YAML document, and here a second one begins", "delete the --- and what follows")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, &record.Problem{Code: "bad_recipe", Message: "the file is empty", Where: RecipeFile, Fix: "write at least an agent: and tools:"}
	}
	if err := refuseAnchors(body); err != nil {
		return nil, err
	}
	r := &Recipe{}
	if err := checkKeys(body, r, ""); err != nil {
		return nil, err
	}
	if err := yaml.NodeToValue(body, r, yaml.Strict()); err != nil {
		return nil, recipeProblem(err)
	}
	return r, r.check(body)
}

// invalidUTF8 is the number of the first line that is not UTF-8, 0 where all are.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if !utf8.Valid(line) {
			break
		}
	}
	return number
}

// recipeProblem turns the YAML library's error into one with a place.
func recipeProblem(err error) error {
	var p *record.Problem
	if errors.As(err, &p) {
		return p
	}
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		pos := y.GetToken().Position
		return &record.Problem{Code: "bad_recipe", Message: strings.TrimSpace(y.GetMessage()),
			Where: fmt.Sprintf("%s:%d:%d", RecipeFile, pos.Line, pos.Column), Fix: "mend the line", Err: err}
	}
	return &record.Problem{Code: "bad_recipe", Message: err.Error(), Where: RecipeFile, Fix: "mend the file", Err: err}
}

// readFiles reads what the recipe names: a value is a file where it looks like a
// name of one, and then it must be there.
func (r *Recipe) readFiles(read ReadFile) error {
	texts := []struct {
		key   string
		value *string
	}{{"system_prompt", &r.SystemPrompt}}
	if r.After != nil && r.After.SystemPrompt != nil {
		texts = append(texts, struct {
			key   string
			value *string
		}{"after.system_prompt", r.After.SystemPrompt})
	}
	if r.Grade.Reward != nil && r.Grade.Reward.Judge != nil {
		texts = append(texts, struct {
			key   string
			value *string
		}{"grade.reward.judge.rubric", &r.Grade.Reward.Judge.Rubric})
	}
	for _, t := range texts {
		if !looksLikeFile(*t.value) {
			continue
		}
		text, err := r.readFile(read, t.key, *t.value)
		if err != nil {
			return err
		}
		*t.value = text
	}
	for _, k := range r.toolSpecs() {
		if k.spec == nil || k.spec.File == "" {
			continue
		}
		text, err := r.readFile(read, k.key, k.spec.File)
		if err != nil {
			return err
		}
		k.spec.Inline = json.RawMessage(text)
	}
	return nil
}

// looksLikeFile tells the name of a file from a text: one line, no spaces, with
// an ending of its own.
func looksLikeFile(s string) bool {
	if s == "" || len(s) > 255 || strings.ContainsAny(s, " \n\t") {
		return false
	}
	switch path.Ext(s) {
	case ".md", ".txt", ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// reason is why a file could not be read, without its whole path, which the sentence
// has by its name already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func (r *Recipe) readFile(read ReadFile, key, name string) (string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(clean) {
		return "", &record.Problem{Code: "bad_recipe", Message: fmt.Sprintf("%s: %s lies outside the recipe's folder", key, name),
			Where: RecipeFile, Fix: "put the file into the folder"}
	}
	text, err := read(clean)
	if err != nil {
		return "", &record.Problem{Code: "bad_recipe", Message: fmt.Sprintf("%s names the file %s, and it cannot be read: %s", key, name, reason(err)),
			Where: RecipeFile, Fix: "put the file beside recipe.yaml, or write the text itself", Err: err}
	}
	r.Files[clean] = string(text)
	return string(text), nil
}
